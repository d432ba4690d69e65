#!/usr/bin/env python3
"""Time per round and bytes moved for MPI ranks, against threads of one process on the same cores.

    bench/mpi_speed.py [--binary build/release/subfleet] [--rounds 6] [--clients 35] [--family gold]

Every case trains the same rounds of emnist-cnn on generated handwriting; the median of all but the first round
counts. The cases run in turns, twice, and must end with the same model, byte for byte.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

CASES = [  # ranks (0: no mpirun), threads per rank
    (0, 1),
    (0, 2),
    (1, 2),
    (2, 1),
]


def run(binary, ranks, threads, settings, folder):
    command = [binary, "train", "--out", str(folder), "--threads", str(threads)]
    for setting in settings:
        command += ["--set", setting]
    if ranks:
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] + command
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    seconds = [json.loads(line)["seconds"] for line in (folder / "rounds.jsonl").read_text().splitlines()]
    model = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    traffic = re.search(r"each gets (.*) of weights and gives (.*) of sums", done.stdout)
    return statistics.median(seconds[1:]), model, traffic


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/subfleet")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--clients", type=int, default=35)
    parser.add_argument("--family", default="gold", help="code family; 'none' is the whole model")
    options = parser.parse_args()
    settings = [
        f"code.family={options.family}",
        f"round.clients={options.clients}",
        f"run.rounds={options.rounds}",
        "run.eval_every=1000000",
        "run.eval_samples=1",
        "run.checkpoint_every=1000000",
    ]
    times, models, moved = {case: [] for case in CASES}, set(), {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(2):
            for ranks, threads in CASES:
                out = pathlib.Path(folder) / f"{turn}-{ranks}-{threads}"
                median, model, traffic = run(options.binary, ranks, threads, settings, out)
                times[ranks, threads].append(median)
                models.add(model)
                if traffic:
                    moved[ranks, threads] = traffic.groups()
    print(f"emnist-cnn, {options.family}, {options.clients} clients per round, median of {options.rounds - 1} rounds, best of 2 turns")
    print(f"{'case':<24} {'ms per round':>12}  {'against 2 threads':>17}  {'weights in, sums out, per rank and round'}")
    threads_alone = min(times[0, 2])
    for case in CASES:
        ranks, threads = case
        name = f"{ranks or 1} {'rank' if ranks < 2 else 'ranks'} x {threads} {'thread' if threads == 1 else 'threads'}"
        name = name if ranks else f"one process, {threads} {'thread' if threads == 1 else 'threads'}"
        best = min(times[case])
        print(f"{name:<24} {best * 1e3:>12.0f}  {threads_alone / best:>16.2f}x  {', '.join(moved.get(case, ['-']))}")
    print("models: all the same" if len(models) == 1 else "models: DIFFERENT")
    return 0 if len(models) == 1 else 1


if __name__ == "__main__":
    raise SystemExit(main())
