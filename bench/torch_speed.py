#!/usr/bin/env python3
"""The same round in PyTorch and in Subfleet, one after the other, and how many times faster the one is.

    bench/torch_speed.py [--model emnist-cnn] [--binary build/release/subfleet] [--clients 35] [--samples 200]
                         [--batch 10] [--threads 1 2] [--repeat 3] [--also PYTHON ...]

With emnist-cnn, tests/torch_round.py first checks, with this interpreter's PyTorch, that both compute the same thing (the
Python package's tests do for the other networks); then every line is measured in turns: PyTorch, `subfleet bench round`,
PyTorch, ... and the fastest of each counts. PyTorch runs as eager code, a small nn.Module per client and plain SGD, in
two ways of which the better counts: clients one after the other with all threads inside the operations, and one process
per thread, each with its share of the clients; convolutional networks of today also with the channels last. Its time is
the local training alone; Subfleet's is the whole round, with masks, averaging and the server's step. --also names other
interpreters, whose PyTorch is measured in the same way afterwards.
"""

import argparse
import json
import multiprocessing
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE / "tests"))

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch_networks import CharTransformer, ResNet18  # noqa: E402
from torch_round import CLIENT_LR, EmnistCnn  # noqa: E402

PARTS = {"whole": 1.0, "half": 0.5}
MODELS = {
    "emnist-cnn": lambda keep: EmnistCnn(round(64 * keep), round(2048 * keep)),
    "resnet18": ResNet18,
    "char-transformer": CharTransformer,
}


def examples_of(name, samples):
    if name == "char-transformer":
        text = torch.randint(CharTransformer.SYMBOLS, (samples, CharTransformer.STEPS + 1))
        return text[:, :-1], text[:, 1:]
    if name == "resnet18":
        return torch.rand(samples, 3, 32, 32), torch.randint(10, (samples,))
    return torch.rand(samples, 1, 28, 28), torch.randint(62, (samples,))


def train_clients(name, keep, clients, samples, batch, channels_last=False):
    """Seconds that `clients` local epochs take, from models that lie ready."""
    torch.manual_seed(0)
    x, y = examples_of(name, samples)
    model = MODELS[name](keep)
    if channels_last:
        x, model = x.to(memory_format=torch.channels_last), model.to(memory_format=torch.channels_last)
    start = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    def epoch(most):
        sgd = torch.optim.SGD(model.parameters(), lr=CLIENT_LR)
        for first in range(0, most, batch):
            sgd.zero_grad(set_to_none=True)
            logits = model(x[first : first + batch])
            nn.functional.cross_entropy(logits.flatten(0, -2), y[first : first + batch].flatten()).backward()
            sgd.step()

    epoch(3 * batch)
    begin = time.perf_counter()
    for _ in range(clients):
        model.load_state_dict(start)
        epoch(samples)
    return time.perf_counter() - begin


def serve(pipe):
    """A process that trains its share of the clients whenever it is told to."""
    torch.set_num_threads(1)
    while (job := pipe.recv()) is not None:
        pipe.send(train_clients(*job))


class Processes:
    def __init__(self, count):
        context = multiprocessing.get_context("spawn")
        self.pipes = []
        for _ in range(count):
            mine, theirs = context.Pipe()
            context.Process(target=serve, args=(theirs,), daemon=True).start()
            self.pipes.append(mine)

    def train(self, name, keep, clients, *more):
        shares = [len(range(i, clients, len(self.pipes))) for i in range(len(self.pipes))]
        for pipe, share in zip(self.pipes, shares):
            pipe.send((name, keep, share, *more))
        return max(pipe.recv() for pipe in self.pipes)

    def stop(self):
        for pipe in self.pipes:
            pipe.send(None)


def subfleet_round(arguments, keep, threads):
    command = [arguments.binary, "bench", "round", "--json", "--repeat", "1", "--model", arguments.model, "--keep",
               str(keep), "--threads", str(threads), "--clients", str(arguments.clients), "--samples",
               str(arguments.samples), "--batch", str(arguments.batch)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output)[0]["round_ms"] / 1e3


def measure(arguments, part, threads):
    keep = PARTS[part]
    work = (arguments.model, keep, arguments.clients, arguments.samples, arguments.batch)
    layouts = {"": False, ", last": True} if arguments.model == "resnet18" else {"": False}
    best = {"subfleet": float("inf")}
    processes = Processes(threads) if threads > 1 else None

    def note(how, seconds):
        best[how] = min(best.get(how, seconds), seconds)

    for _ in range(arguments.repeat):
        torch.set_num_threads(threads)
        for words, channels_last in layouts.items():
            note("inside" + words, train_clients(*work, channels_last))
            if processes:
                note("processes" + words, processes.train(*work, channels_last))
        note("subfleet", subfleet_round(arguments, keep, threads))
    if processes:
        processes.stop()
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(HERE / "build/release/subfleet"))
    parser.add_argument("--model", default="emnist-cnn", choices=list(MODELS))
    parser.add_argument("--clients", type=int, default=35)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--also", nargs="+", default=[], metavar="PYTHON")
    arguments = parser.parse_args()

    if arguments.model == "emnist-cnn":
        check = subprocess.run([sys.executable, HERE / "tests/torch_round.py", "--binary", arguments.binary],
                               capture_output=True, text=True)
        if check.returncode != 0:
            print(check.stdout + check.stderr, file=sys.stderr)
            return 1
        if not arguments.json:
            print(check.stdout.splitlines()[-1] + "\n")
    rows = []
    if not arguments.json:
        print(f"{arguments.model}, {arguments.clients} clients x {arguments.samples} samples, batch {arguments.batch}; "
              "ms per round\n")
        print(f"  {'threads':>7}  {'part':<6} {'PyTorch':>9} {'(how)':<15} {'Subfleet':>9} {'ratio':>7}")
    for threads in arguments.threads:
        for part in arguments.parts:
            best = measure(arguments, part, threads)
            how = min(best.keys() - {"subfleet"}, key=best.get)
            row = {"model": arguments.model, "threads": threads, "part": part, "torch": torch.__version__, "torch_ms": best[how] * 1e3,
                   "torch_how": how, "subfleet_ms": best["subfleet"] * 1e3, "ratio": best[how] / best["subfleet"]}
            rows.append(row)
            if not arguments.json:
                print(f"  {threads:>7}  {part:<6} {row['torch_ms']:>9.0f} {how:<15} {row['subfleet_ms']:>9.0f} "
                      f"{row['ratio']:>6.2f}x", flush=True)
    if arguments.json:
        print(json.dumps(rows, indent=2), flush=True)
    given = sys.argv[1:]
    if arguments.also:
        at = given.index("--also")
        del given[at : at + 1 + len(arguments.also)]
    return max([subprocess.run([python, __file__, *given]).returncode for python in arguments.also], default=0)


if __name__ == "__main__":
    sys.exit(main())
