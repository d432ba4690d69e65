#!/usr/bin/env python3
"""One's own module and arrays in Flower and in Subfleet: lines of code, seconds, bytes and accuracy, as a Markdown table.

    bench/own_module_flower.py --flower-python flower/bin/python [--repeat 3] [--optimizer fedadam] [--check]

bench/own_module/ has the code of both users, and in task.py what both are given: a small CNN with batch normalisation, and
20 clients with 100 generated digits each. 10 clients per round train an epoch; every round is tested on the same 724 others.
Flower runs its simulation engine (run_simulation, the Message API's FedAvg) with an actor per core. Subfleet runs the same
task (`code.family` none) and then what Flower cannot send, halves of the model in 4 bits per weight down and 1 up.

All are run in turns, --repeat times, each in a process of its own; the medians count. A round's seconds are those between two
lines of progress that the program prints, so Flower's actors are warm; what is left of the whole process is "the rest":
start, the first round's extra time, and end. Processor seconds are those of all its processes; other load on the machine
distorts them less. Lines are those of the user's code without blank ones, comments and imports.
Flower's bytes are the objects that its messages consist of, as its deployment engine would send them; Subfleet's are those
that rounds.jsonl counts.

--check shows that both do the same: after a round of all clients, with the examples in order, the weights agree to their last
digits, and Flower's own count of batches is ours. (In later rounds last digits grow, as they do between two PyTorch builds.)

The environment for --flower-python (this script's own interpreter needs Subfleet and PyTorch, the same release):
    python3 -m venv flower && flower/bin/pip install 'flwr[simulation]>=1.41,<1.43' numpy torch
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import subfleet

CODE = pathlib.Path(__file__).resolve().parent / "own_module"
ROUNDS, CLIENTS, PER_ROUND, IMAGES, BATCH = 20, 20, 10, 100, 10
PROGRESS = re.compile(r"\bround +\d+/\d+ +test +(?P<percent>[0-9.]+) %|──> MetricRecord: {'accuracy': (?P<share>[0-9.e-]+)")

WHOLE, HALVES = '"code.family": "none"', '"code.family": "balanced", "wire.down": "rot4", "wire.up": "rot1"'
VARIANTS = {  # who runs which file, and what is different in it
    "Flower, 2 actors": ("flower_app.py", {}),
    "Subfleet, workers=2": ("subfleet_app.py", {}),
    "Subfleet, workers=0": ("subfleet_app.py", {"workers=2": "workers=0"}),
    "Subfleet, halves in 4/1 bits, workers=2": ("subfleet_app.py", {WHOLE: HALVES}),
    "Subfleet, halves in 4/1 bits, workers=0": ("subfleet_app.py", {WHOLE: HALVES, "workers=2": "workers=0"}),
}
FEDADAM = {
    "flower_app.py": {"FedAvg(f": "FedAdam(eta=0.01, f"},
    "subfleet_app.py": {'"fedavg", "server.lr": 1.0': '"fedadam", "server.lr": 0.01'},
}
IN_ORDER = {  # all clients, no shuffling, one round
    "flower_app.py": {"fraction_train=0.5": "fraction_train=1.0", f", {ROUNDS}, ": ", 1, "},
    "subfleet_app.py": {'"round.clients": 10': '"round.clients": 20, "round.shuffle": False',
                        f'"run.rounds": {ROUNDS}': '"run.rounds": 1'},
}  # fmt: skip

# What a message and its reply consist of, in Flower's own words.
MESSAGE_BYTES = """
import task
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects
from flwr.supercore.task_identity import TaskIdentity
def size(message):
    return sum(len(each.deflate()) for each in get_all_nested_objects(message).values())
TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1
arrays = ArrayRecord(task.net().state_dict())
job = Message(RecordDict({"arrays": arrays, "config": ConfigRecord({"lr": 0.035, "server-round": 1})}), 1, "train")
answer = Message(RecordDict({"arrays": arrays, "metrics": MetricRecord({"train_loss": 1.0, "num-examples": 100})}), reply_to=job)
print(size(job) + size(answer))
"""


def write_arrays(file: pathlib.Path) -> None:
    """The digits of the generated handwriting; a client has those of two or three writers."""
    data = subfleet.Data(subfleet.Config({"data.writers": 120}))
    x, y = map(np.concatenate, zip(*(data.train(client) for client in range(data.clients))))
    digits = np.flatnonzero(y < 10)[: CLIENTS * IMAGES]
    test_x, test_y = data.test_set()
    np.savez(file, x=x[digits].reshape(CLIENTS, IMAGES, *data.input), y=y[digits].reshape(CLIENTS, IMAGES).astype(np.int64),
             test_x=test_x[test_y < 10], test_y=test_y[test_y < 10].astype(np.int64))  # fmt: skip


def lines_of(source: str) -> int:
    lines = (line.strip() for line in source.splitlines())
    return sum(bool(line) and not line.startswith(("#", "import ", "from ")) for line in lines)


def changed(file: str, changes: dict[str, str]) -> str:
    source = (CODE / file).read_text()
    for old, new in changes.items():
        if source.count(old) != 1:
            sys.exit(f"own_module_flower: {file} has {source.count(old)} times '{old}', not once")
        source = source.replace(old, new)
    return source


def processor_seconds(mark: str) -> float:
    """Of all living processes that have this in their environment: a program, its workers, Ray's."""
    ticks = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() + b"\0" in (process / "environ").read_bytes():
                ticks += sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:13]))
        except OSError:
            pass  # it has ended, or is another user's
    return ticks / os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, folder: pathlib.Path, flower_python: str) -> None:
        self.folder, self.flower_python, self.count = folder, flower_python, 0
        write_arrays(folder / "arrays.npz")
        self.environment = os.environ | {
            "OWN_MODULE_ARRAYS": str(folder / "arrays.npz"), "PYTHONUNBUFFERED": "1", "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(CODE), os.environ.get("PYTHONPATH")])),
        }  # fmt: skip

    def python_of(self, file: str) -> str:
        return self.flower_python if file == "flower_app.py" else sys.executable

    def run(self, file: str, changes: dict[str, str], **environment: str) -> dict:
        self.count += 1
        folder = self.folder / str(self.count)
        folder.mkdir()
        (folder / "app.py").write_text(changed(file, changes))
        environment |= {"OWN_MODULE_RUN": folder.as_posix()}
        begin = time.perf_counter()
        process = subprocess.Popen([self.python_of(file), "app.py"], cwd=folder, env=self.environment | environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        said, times, spent, accuracy = [], [], [], 0.0
        for line in process.stdout:
            said.append(line)
            if found := PROGRESS.search(line):
                times.append(time.perf_counter())
                if len(times) in (1, ROUNDS):
                    spent.append(processor_seconds(f"OWN_MODULE_RUN={folder.as_posix()}"))
                accuracy = float(found["share"]) if found["share"] else float(found["percent"]) / 100
        if process.wait() != 0 or not times:
            sys.exit(f"own_module_flower: {file} failed:\n" + "".join(said[-30:]))
        total, each = time.perf_counter() - begin, statistics.median(np.diff(times)) if len(times) > 1 else 0.0
        return {"folder": folder, "round": each, "rest": total - len(times) * each, "accuracy": accuracy,
                "processors": (spent[-1] - spent[0]) / (ROUNDS - 1)}  # fmt: skip

    def bytes_per_round(self, run: dict) -> float:
        log = run["folder"] / "run" / "rounds.jsonl"
        if log.exists():
            return statistics.mean(r["bytes_down"] + r["bytes_up"] for r in map(json.loads, log.read_text().splitlines()))
        said = subprocess.run([self.flower_python, "-c", MESSAGE_BYTES], env=self.environment, check=True, capture_output=True,
                              text=True).stdout  # fmt: skip
        return PER_ROUND * float(said)

    def check(self) -> int:
        """Whether both do the same."""
        theirs = self.run("flower_app.py", IN_ORDER["flower_app.py"], OWN_MODULE_IN_ORDER="1")["folder"]
        ours = self.run("subfleet_app.py", IN_ORDER["subfleet_app.py"])["folder"] / "run"
        read = "import sys, torch, numpy as np; np.savez('w.npz', **{k: v.numpy() for k, v in torch.load('final_model.pt').items()})"
        subprocess.run([sys.executable, "-c", read], cwd=theirs, check=True)
        whole, farthest, batches = subfleet.read_run(ours).weights, 0.0, set()
        with np.load(theirs / "w.npz") as tensors:
            for name, tensor in tensors.items():
                if name.endswith("num_batches_tracked"):
                    batches.add(float(tensor))
                else:
                    farthest = max(farthest, float(np.abs(tensor - whole[name]).max() / np.abs(tensor).max()))
        same = batches == {IMAGES // BATCH} and farthest < 1e-5
        print(f"{'the same' if same else 'NOT the same'}: after a round of all {CLIENTS} clients, examples in order, weights differ by at "
              f"most {farthest:.0e} of their tensor's largest; batches per client, as Flower counts them: {batches}")  # fmt: skip
        return int(not same)

    def table(self, repeat: int, optimizer: str) -> None:
        runs = {name: [] for name in VARIANTS}
        sources = {}
        for number in range(repeat):
            for name, (file, changes) in VARIANTS.items():
                changes = changes | (FEDADAM[file] if optimizer == "fedadam" else {})
                sources[name] = changed(file, changes)
                runs[name].append(self.run(file, changes))
                one = runs[name][-1]
                print(f"{number + 1}/{repeat} {name}: {one['round']:.2f} s per round, {one['processors']:.2f} s of processors, the rest "
                      f"{one['rest']:.1f} s, {one['accuracy']:.1%}", file=sys.stderr, flush=True)  # fmt: skip
        said = subprocess.run([self.flower_python, "-c", "import flwr, torch; print(flwr.__version__, torch.__version__)"],
                              check=True, capture_output=True, text=True).stdout.split()  # fmt: skip
        print(f"{optimizer}, {ROUNDS} rounds, medians of {repeat}; flwr {said[0]} with PyTorch {said[1]}, subfleet "
              f"{subfleet.__version__}, {os.cpu_count()} cores\n")  # fmt: skip
        print("| | lines | s per round | to Flower's | processor s per round | to Flower's | the rest, s | MB per round | accuracy |\n"
              "| --- |" + " --- |" * 8)  # fmt: skip
        first = None
        for name, those in runs.items():
            each, spent, rest, accuracy = (
                statistics.median(run[what] for run in those) for what in ("round", "processors", "rest", "accuracy"))  # fmt: skip
            first = first or (each, spent)
            print(f"| {name} | {lines_of(sources[name])} | {each:.2f} | {each / first[0]:.2f} | {spent:.2f} | {spent / first[1]:.2f} | "
                  f"{rest:.1f} | {self.bytes_per_round(those[0]) / 1e6:.2f} | {accuracy:.1%} |")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flower-python", metavar="PATH", default="", help="an interpreter that has flwr[simulation] and torch")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--optimizer", choices=("fedavg", "fedadam"), default="fedavg")
    parser.add_argument("--check", action="store_true", help="only whether both do the same")
    options = parser.parse_args()
    flower_python = os.path.abspath(options.flower_python) if options.flower_python else ""
    if not flower_python or subprocess.run(["sh", "-c", '"$0" -c "import flwr, ray, torch"', flower_python],
                                           capture_output=True).returncode != 0:  # fmt: skip
        print(f"own_module_flower: skipped: '{options.flower_python}' is no Python with flwr[simulation] and torch (--flower-python)")
        return 0
    with tempfile.TemporaryDirectory(prefix="own-module-", ignore_cleanup_errors=True) as folder:
        bench = Bench(pathlib.Path(folder), flower_python)
        if options.check:
            return bench.check()
        bench.table(options.repeat, options.optimizer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
