#!/usr/bin/env python3
"""One round from given weights, unshuffled, in Subfleet and in PyTorch: they must agree to float rounding.

    tests/torch_round.py [--binary build/dev/subfleet] [--device cpu] [--family gold] [--optimizer fedavg] [--rescale]
                         [--momentum 0.9] [--weight-decay 0.01] [--proximal 0.1]

Writes a few clients of random images as IDX files, asks `subfleet plan` who holds which units, trains every client's
sub-model in PyTorch as a small nn.Module of its own, averages each weight over its holders, steps, and compares with
the model.safetensors that `subfleet train` leaves after one round. What may differ: for `reference`, 2e-4 of a
tensor's largest change in any weight; for `cpu` and `cuda`, whose convolutions round otherwise, 2e-2 of the change's
length, since where two values of a pooling window are equal but for rounding the other one may learn; for `cuda-tf32`,
which rounds the factors of products to 10 bits, 2e-1 after two steps per client instead of up to five, for on images of noise
a difference grows with every step. Needs numpy and PyTorch; without them it exits with 77, which the test
suite counts as skipped.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as missing:
    print(f"skipped: {missing.name} is not installed (Debian: python3-torch)")
    sys.exit(77)

CLIENTS, BATCH, CLIENT_LR, SEED = 5, 10, 0.035, 4
UNITS = {"conv2": 64, "dense1": 2048}


def write_idx(path, array, code):
    header = struct.pack(">BBBB", 0, 0, code, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(header + array.tobytes())


def make_data(folder, spread):
    """Client k has 13 + k * spread examples."""
    rng = np.random.default_rng(1)
    writers = np.concatenate([np.full(13 + k * spread, k) for k in range(CLIENTS)]).astype(">i4")
    images = rng.integers(0, 256, (len(writers), 28, 28), dtype=np.uint8)
    labels = rng.integers(0, 62, len(writers), dtype=np.uint8)
    labels[0] = 61
    write_idx(folder / "t-images-idx3-ubyte", images, 0x08)
    write_idx(folder / "t-labels-idx1-ubyte", labels, 0x08)
    write_idx(folder / "t-writers-idx1-int", writers, 0x0C)
    return 1 - images.astype(np.float32) / np.float32(255), labels.astype(np.int64), writers.astype(np.int64)


def read_safetensors(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    data = content[8 + length :]
    return {
        name: np.frombuffer(data[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"]).copy()
        for name, entry in header.items()
    }


class EmnistCnn(nn.Module):
    def __init__(self, filters, units, scale=None):
        super().__init__()
        self.scale = scale or {}
        self.conv1 = nn.Conv2d(1, 32, 5, padding=2)
        self.conv2 = nn.Conv2d(32, filters, 5, padding=2)
        self.dense1 = nn.Linear(filters * 49, units)
        self.dense2 = nn.Linear(units, 62)

    def scaled(self, name, y):  # the benchmarks time this, too: no product with 1
        return self.scale[name] * y if name in self.scale else y

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = nn.functional.max_pool2d(torch.relu(self.scaled("conv2", self.conv2(x))), 2)
        return self.dense2(torch.relu(self.scaled("dense1", self.dense1(x.flatten(1)))))


def index_of(kept):
    """Where a sub-model's tensors lie in the whole ones."""
    filters, units = np.array(kept["conv2"]), np.array(kept["dense1"])
    columns = (filters[:, None] * 49 + np.arange(49)).ravel()
    every = np.arange
    return {
        "conv1.weight": np.ix_(every(32), every(1), every(5), every(5)),
        "conv1.bias": np.ix_(every(32)),
        "conv2.weight": np.ix_(filters, every(32), every(5), every(5)),
        "conv2.bias": np.ix_(filters),
        "dense1.weight": np.ix_(units, columns),
        "dense1.bias": np.ix_(units),
        "dense2.weight": np.ix_(every(62), units),
        "dense2.bias": np.ix_(every(62)),
    }


def torch_round(start, plan, images, labels, writers, arguments):
    update = {name: np.zeros(w.shape, np.float64) for name, w in start.items()}
    held = {name: np.zeros(w.shape, np.float64) for name, w in start.items()}
    for job in plan:
        index = index_of(job["kept"])
        kept = {name: len(units) for name, units in job["kept"].items()}
        scale = {name: UNITS[name] / kept[name] for name in kept} if arguments.rescale else None
        model = EmnistCnn(kept["conv2"], kept["dense1"], scale)
        model.load_state_dict({name: torch.from_numpy(start[name][index[name]]) for name in start})
        mine = writers == job["client"]
        x, y = torch.from_numpy(images[mine][:, None]), torch.from_numpy(labels[mine])
        assert len(x) == job["examples"]
        sgd = torch.optim.SGD(model.parameters(), lr=CLIENT_LR, momentum=arguments.momentum,
                              weight_decay=arguments.weight_decay)
        given = [parameter.detach().clone() for parameter in model.parameters()]
        for first in range(0, len(x), BATCH):
            sgd.zero_grad()
            nn.functional.cross_entropy(model(x[first : first + BATCH]), y[first : first + BATCH]).backward()
            for parameter, before in zip(model.parameters(), given):
                parameter.grad += arguments.proximal * (parameter.detach() - before)
            sgd.step()
        for name, trained in model.state_dict().items():
            update[name][index[name]] += len(x) * (trained.numpy().astype(np.float64) - start[name][index[name]])
            held[name][index[name]] += len(x)
    result = {}
    for name, weights in start.items():
        mean = np.divide(update[name], held[name], out=np.zeros_like(update[name]), where=held[name] > 0)
        if arguments.optimizer == "fedavg":
            step = mean
        else:  # fedadam, first round: m = 0.1 mean, v = 0.01 m^2
            m = 0.1 * mean
            step = 0.01 * m / (np.sqrt(0.01 * m * m) + 1e-3)
        result[name] = weights + step
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--binary", default=str(here / "build/dev/subfleet"))
    parser.add_argument("--device", default="cpu", choices=["cpu", "reference", "cuda", "cuda-tf32"])
    parser.add_argument("--family", default="gold")
    parser.add_argument("--optimizer", default="fedavg", choices=["fedavg", "fedadam"])
    parser.add_argument("--rescale", action="store_true")
    parser.add_argument("--momentum", type=float, default=0)
    parser.add_argument("--weight-decay", type=float, default=0)
    parser.add_argument("--proximal", type=float, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(0)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        images, labels, writers = make_data(folder, spread=1 if arguments.device == "cuda-tf32" else 7)
        settings = [f"data.source=idx", f"data.path={folder}", "data.test_fraction=0", f"round.clients={CLIENTS}",
                    f"round.batch={BATCH}", "round.shuffle=false", f"code.family={arguments.family}",
                    f"code.rescale={str(arguments.rescale).lower()}",
                    f"round.momentum={arguments.momentum}", f"round.weight_decay={arguments.weight_decay}",
                    f"round.proximal={arguments.proximal}",
                    f"server.optimizer={arguments.optimizer}", "run.rounds=1", f"run.seed={SEED}"]
        flags = [word for setting in settings for word in ("--set", setting)]

        # Given weights: one round of another seed, so that biases are not zero.
        def train(out, *more):
            subprocess.run([arguments.binary, "train", *flags, "--quiet", "--device", arguments.device,
                            "--out", folder / out, *more], check=True)
            return read_safetensors(folder / out / "model.safetensors")

        start = train("start", "--set", "run.seed=99")
        got = train("round", "--init", folder / "start/model.safetensors")
        lines = subprocess.run([arguments.binary, "plan", *flags], check=True, capture_output=True, text=True).stdout
        plan = [json.loads(line) for line in lines.splitlines()]
        want = torch_round(start, plan, images, labels, writers, arguments)

    def largest(array):
        return np.abs(array).max()

    size, of_what, limit = {"reference": (largest, "largest change", 2e-4),
                            "cpu": (np.linalg.norm, "change's length", 2e-2),
                            "cuda": (np.linalg.norm, "change's length", 2e-2),
                            "cuda-tf32": (np.linalg.norm, "change's length", 2e-1)}[arguments.device]
    beyond = "".join(f", {name.replace('_', ' ')} {getattr(arguments, name):g}"
                     for name in ("momentum", "weight_decay", "proximal") if getattr(arguments, name))
    worst = 0.0
    for name in start:
        change = want[name] - start[name]
        error = size(got[name] - want[name]) / size(change)
        worst = max(worst, error)
        print(f"{name:14} moved by up to {largest(change):.3e}, differs by {error:.1e} of the {of_what}")
    print(f"PyTorch {torch.__version__} and {arguments.device}, {arguments.family}, {arguments.optimizer}"
          f"{', rescaled' if arguments.rescale else ''}{beyond}: "
          f"{'agree' if worst < limit else 'DISAGREE'} ({worst:.1e} of the {of_what}, limit {limit:.0e})")
    return 0 if worst < limit else 1


if __name__ == "__main__":
    sys.exit(main())
