"""The ServerApp: Subfleet's rounds over Flower's grid."""

import math
import time
from pathlib import Path

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from .. import _core
from .nodes import Nodes
from .replies import limit_object_pulls
from .transport import FlowerTransport

_SHORT, _LONG = 20.0, 7200.0  # seconds
_PATIENCE = 30

# The keys of the run config that are not settings of Subfleet's: type, default and meaning.
OWN_KEYS = {
    "out": (str, "", "the run's folder on the server's machine; a run that is there already goes on"),
    "config": (str, "", "a file of settings on the server's machine, over which the others are set"),
    "set": (str, "", "more settings, as in 'code.keep=0.25; wire.up=rot1'"),
    "clients": (int, 0, "how many clients the federation has; 0: as many as the server's data"),
    "test": (bool, True, "whether the server has the data of the settings data.*, to test with"),
    "wait-for": (int, 0, "how many clients have to be there before a new run begins; 0: as many as take part in a round"),
    "device": (str, "cpu", "what does the server's arithmetic"),
    "threads": (int, 0, "of the server; 0: one per core"),
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
    folder = Path(own["out"]).absolute()
    begun = (folder / "config.toml").exists()
    file = folder / "config.toml" if begun else own["config"]
    config = _core.Config.load(file) if file else _core.Config()
    config.update(settings)
    config.validate()
    limit_object_pulls(config["round.deadline"] or _LONG)

    model = _core.Model(config["model.file"] or config["model.name"])
    transport = FlowerTransport(grid, deadline=config["round.deadline"], say=_say)
    fleet = _core.RemoteFleet(
        config, transport, clients=own["clients"], test=own["test"], device=own["device"], threads=own["threads"]
    )
    run = _resumed(folder, settings, fleet) if begun else _core.Run(config, fleet=fleet, out=folder)
    rounds = config["run.rounds"]
    _say(
        f"{model.name}, {config['code.family']} codes, {config['server.optimizer']}: {fleet.clients} clients, "
        f"{config['round.clients']} per round, {rounds} rounds, {run.round} of them done"
    )
    with Nodes(grid, clients=fleet.clients, input=model.input, classes=model.classes, say=_say) as nodes:
        transport.nodes = nodes
        if run.round < rounds:
            # A run that goes on does not wait for devices that may be gone for good.
            patience = max(config["round.deadline"], _SHORT) if begun else math.inf
            nodes.wait_for(own["wait-for"] or config["round.clients"], patience)
        lines = _core.ProgressLines(run)
        run.train(callback=lambda run, record: _say(lines.after(run, record)))
    _say(f"{run.round} rounds are done; everything is in {folder}")


def _split(run_config: dict) -> tuple:
    """Our own keys, with a value each, and Subfleet's settings."""
    own = {key: kind(run_config.get(key, kind(default))) for key, (kind, default, _) in OWN_KEYS.items()}
    if not own["out"]:
        raise _core.RequestError("out: the run's folder is missing; say it by -c 'out=\"FOLDER\"'")
    settings = {key: value for key, value in run_config.items() if key not in OWN_KEYS}
    for assignment in filter(None, (part.strip() for part in own["set"].split(";"))):
        name, equals, value = assignment.partition("=")
        if not equals:
            raise _core.RequestError(f"set: '{assignment}' is not key=value, as in code.keep=0.25")
        settings[name.strip()] = value.strip()
    return own, settings


def _resumed(folder: Path, settings: dict, fleet) -> "_core.Run":
    """Goes on with the run of a folder. The process that was at work there may need a moment to notice its end."""
    for _ in range(_PATIENCE):
        try:
            return _core.Run.resume(folder, settings=settings, fleet=fleet)
        except _core.RequestError as error:
            if "another process" not in str(error):
                raise
            time.sleep(1.0)
    return _core.Run.resume(folder, settings=settings, fleet=fleet)


def _say(lines: str) -> None:
    for line in filter(None, lines.splitlines()):
        print(line, flush=True)
