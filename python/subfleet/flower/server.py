"""The ServerApp: Subfleet's rounds over Flower's grid."""

import time
from pathlib import Path

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from .. import _core
from .nodes import Nodes
from .replies import limit_object_pulls
from .transport import FlowerTransport

# The keys of the run config that are not settings of Subfleet's.
OWN_KEYS = {
    "out": "the run's folder on the server's machine; a run that is there already goes on",
    "config": "a file of settings on the server's machine, over which the others are set",
    "set": "more settings, as in 'code.keep=0.25; wire.up=rot1'",
    "clients": "how many clients the federation has; 0: as many as the server's data",
    "test": "whether the server reads the data of the settings data.* to test with",
    "wait-for": "how many clients have to be there before the first round; 0: those of one round",
    "threads": "of the server; 0: one per core",
}


def server_app() -> ServerApp:
    """A ServerApp that trains one model with all nodes, each of which gets a sub-model of its own.

    Its settings are those of `subfleet train`, by their dotted names in Flower's run config (`code.family = "gold"`),
    and OWN_KEYS. It writes the run folder that `subfleet train` writes. Started again with the same folder, after
    whatever ended it, it goes on from the last checkpoint.
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        serve(grid, dict(context.run_config))

    return app


def serve(grid: Grid, run_config: dict) -> None:
    """Trains to the last round. Raises subfleet.Error."""
    own, settings = _split(run_config)
    out = own.get("out")
    if not out:
        raise _core.RequestError("out: a folder for the run is missing; say it by -c 'out=\"FOLDER\"'")
    folder = Path(out).absolute()
    begun = (folder / "config.toml").exists()
    config = _core.Config.load(folder / "config.toml" if begun else own["config"]) if begun or own.get("config") else _core.Config()
    config.update(settings)
    config.validate()
    limit_object_pulls(config["round.deadline"] or 7200.0)

    model = _core.Model(config["model.file"] or config["model.name"])
    transport = _Later()
    fleet = _core.RemoteFleet(
        config, transport, clients=int(own.get("clients", 0)), test=bool(own.get("test", True)),
        threads=int(own.get("threads", 0)),
    )
    nodes = Nodes(grid, clients=fleet.clients, input=model.input, classes=model.classes, say=_say)
    transport.become(FlowerTransport(grid, nodes, deadline=config["round.deadline"], say=_say))
    try:
        run = _resumed(folder, settings, fleet) if begun else _core.Run(config, fleet=fleet, out=folder)
        _say(_description(run, fleet))
        if run.round < config["run.rounds"]:
            nodes.wait_for(int(own.get("wait-for", 0)) or config["round.clients"])
        bytes_before = 0 if not begun else _core_bytes(folder)
        lines = _core.ProgressLines(config["run.rounds"], run.round, bytes_before)
        run.train(callback=lambda run, record: _say(lines.after(run, record)))
        _say(f"{run.round} rounds are done; everything is in {folder}")
    finally:
        nodes.close()
