#!/usr/bin/env python3
"""One round over a stock SuperLink, by kind of node: seconds, and bytes at the nodes' sockets, as a Markdown table.
    bench/flower_round.py SUBFLEET [--clients N] [--rounds N] [--model NAME] [--down CODEC] [--up CODEC]
with SUBFLEET_FLWR=a virtual environment that has flwr and, for its row, torch; the package on PYTHONPATH."""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "flower"))
import superlink

superlink.use_environment()
from counting_proxy import CountingProxy  # noqa: E402
from federation import APP, Federation  # noqa: E402

TORCH_CLIENT = """
import subfleet, subfleet.flower
data = subfleet.Data(subfleet.Config({"data.writers": CLIENTS}))
app = subfleet.flower.torch_client_app(data.train, input=(1, 28, 28), classes=62)
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("subfleet", type=Path)
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--model", default="emnist-cnn")
    parser.add_argument("--down", default="f32")
    parser.add_argument("--up", default="f32")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flower-round-") as folder:
        rows = [measure(Path(folder), kind, options) for kind in ("native", "stock, Subfleet's trainer", "stock, PyTorch")]
    print(f"{options.model}, {options.clients} clients on this machine, {options.down} down, {options.up} up, per round:\n")
    print("| node | seconds | MB down | MB up | counted down | counted up |\n| --- | --- | --- | --- | --- | --- |")
    print("\n".join(rows))


def measure(folder: Path, kind: str, options) -> str:
    folder = folder / kind.replace(" ", "-").replace(",", "").replace("'", "")
    app = APP
    if kind == "stock, PyTorch":
        app = folder / "app"
        shutil.copytree(APP, app)
        (app / "subfleet_app" / "client_app.py").write_text(TORCH_CLIENT.replace("CLIENTS", str(options.clients)))
    with Federation(folder / "federation") as federation:
        proxy = CountingProxy(federation.address)
        for client in range(options.clients):
            if kind == "native":
                command = [options.subfleet.absolute(), "node", "--superlink", proxy.address, "--insecure", "--client", client,
                           "--set", f"data.writers={options.clients}"]  # fmt: skip
            else:
                command = [federation.bin / "flower-supernode", "--insecure", "--superlink", proxy.address,
                           "--port", superlink.free_port(),
                           "--node-config", f'clients="{client}" data.writers={options.clients}']  # fmt: skip
            federation.program(f"node{client}", command)
        settings = {"model.name": options.model, "data.writers": options.clients, "round.clients": options.clients,
                    "wire.down": options.down, "wire.up": options.up, "run.rounds": options.rounds, "run.eval_every": 1000,
                    "wait-for": options.clients}  # fmt: skip
        federation.train(folder / "out", settings, 600, app)
        down, up, idle_down, idle_up = proxy.moved()
    rounds = [json.loads(line) for line in (folder / "out" / "rounds.jsonl").read_text().splitlines()]
    seconds = statistics.median(r["seconds"] for r in rounds)
    figures = [down + idle_down, up + idle_up, sum(r["bytes_down"] for r in rounds), sum(r["bytes_up"] for r in rounds)]
    return f"| {kind} | {seconds:.1f} | " + " | ".join(f"{n / options.rounds / 1e6:.2f}" for n in figures) + " |"


if __name__ == "__main__":
    main()
