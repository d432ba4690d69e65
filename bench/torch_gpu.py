#!/usr/bin/env python3
"""The same round on one GPU in PyTorch and in Subfleet, measured in turns, as the Markdown tables of docs/gpu.md.

    bench/torch_gpu.py [--binary build/release/subfleet] [--turns 3] [--quick] [--only TABLE...]

PyTorch trains the clients of `emnist-cnn` in three ways: one after the other as eager code (a small nn.Module and plain
SGD, as a federated-learning framework does), one after the other with each step a CUDA graph, and all at once, written
by hand: the clients' weights stacked, convolutions in groups or as batched products of unfolded images, each eagerly and
as a CUDA graph; the fastest of the four counts. Before they are timed, the last two are checked against the first.
`char-lstm` and `allcnn-c` are trained one after the other, over a few clients, and scaled to all. PyTorch's time is the
local training alone, from weights and data that lie on the GPU; Subfleet's (`subfleet bench round --device cuda`) is the
whole round, with masks, averaging and the server's step. The fastest of each counts. Without PyTorch or a GPU that it
can use, Subfleet is measured alone.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE / "tests"))

try:
    import numpy  # noqa: F401, torch_round needs it
    import torch
    from torch import nn
    from torch.nn import functional
    from torch_round import EmnistCnn
except ImportError as missing:
    torch = None
    why_alone = f"{missing.name} is not installed for {sys.executable}"

CLIENTS, SAMPLES, BATCH, CLIENT_LR = 35, 200, 10, 0.035
FEW = 5  # clients, where all would take long
PARTS = {"whole": 1.0, "half": 0.5}
PRECISIONS = ["f32", "tf32"]
OTHER_MODELS = ["char-lstm", "allcnn-c"]


class Failed(Exception):
    pass


def units(whole, keep):
    return round(whole * keep)


if torch:

    class CharLstm(nn.Module):
        input, classes = (80,), 81

        def __init__(self, keep):
            super().__init__()
            self.embedding = nn.Embedding(81, 8)
            self.lstm = nn.LSTM(8, units(256, keep), num_layers=2, batch_first=True)
            self.dense = nn.Linear(units(256, keep), 81)

        def forward(self, x):
            return self.dense(self.lstm(self.embedding(x))[0][:, -1])

    class AllCnnC(nn.Module):
        input, classes = (3, 32, 32), 10

        def __init__(self, keep):
            super().__init__()
            layers, channels = [], 3
            hidden = [(96, 3, 1), (96, 3, 1), (96, 3, 2), (192, 3, 1), (192, 3, 1), (192, 3, 2), (192, 3, 1), (192, 1, 1)]
            for i, (out, kernel, stride) in enumerate(hidden):
                out = units(out, keep) if i > 0 else out
                layers += [nn.Conv2d(channels, out, kernel, stride, padding=kernel // 2), nn.ReLU()]
                channels = out
            self.layers = nn.Sequential(*layers, nn.Conv2d(channels, 10, 1))

        def forward(self, x):
            return self.layers(x).mean((2, 3))

    class Emnist(EmnistCnn):
        input, classes = (1, 28, 28), 62

        def __init__(self, keep):
            super().__init__(units(64, keep), units(2048, keep))

    MODELS = {"emnist-cnn": Emnist, "char-lstm": CharLstm, "allcnn-c": AllCnnC}


def set_precision(precision):
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.allow_tf32 = precision == "tf32"


def random_data(kind, clients):
    """Examples of every client, on the GPU: clients x samples x ..."""
    shape = (clients, SAMPLES, *kind.input)
    symbols = kind.input == CharLstm.input
    x = torch.randint(81, shape, device="cuda") if symbols else torch.rand(shape, device="cuda")
    return x, torch.randint(kind.classes, (clients, SAMPLES), device="cuda")


def least_ms(work, repeat):
    """Of so many rounds, or of as many as fit into a second."""
    least, until = float("inf"), time.perf_counter() + 1
    for _ in range(repeat):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        least = min(least, (time.perf_counter() - begin) * 1e3)
        if time.perf_counter() > until:
            break
    return least


class Eager:
    """Clients one after the other: a module, its gradients and torch.optim.SGD."""

    def __init__(self, kind, keep, clients):
        torch.manual_seed(0)
        self.model = kind(keep).cuda()
        self.start = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        self.x, self.y = random_data(kind, clients)

    def train(self, client, samples=SAMPLES):
        self.model.load_state_dict(self.start)
        sgd = torch.optim.SGD(self.model.parameters(), lr=CLIENT_LR)
        for first in range(0, samples, BATCH):
            part = slice(first, first + BATCH)
            sgd.zero_grad(set_to_none=True)
            functional.cross_entropy(self.model(self.x[client, part]), self.y[client, part]).backward()
            sgd.step()

    def weights(self):
        return [parameter.detach().clone() for parameter in self.model.parameters()]

    def round(self):
        for client in range(len(self.x)):
            self.train(client)


def sgd_step(loss, parameters):
    gradients = torch.autograd.grad(loss, parameters)
    with torch.no_grad():
        torch._foreach_add_(parameters, gradients, alpha=-CLIENT_LR)


def graph_of(step):
    """A CUDA graph of one call of `step`, which has been called a few times before."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


class Graphs:
    """Clients one after the other, each step one replay of a graph."""

    def __init__(self, eager):
        self.eager, self.parameters = eager, list(eager.model.parameters())
        self.start = list(eager.start.values())
        self.x, self.y = eager.x[0, :BATCH].clone(), eager.y[0, :BATCH].clone()
        self.graph = graph_of(lambda: sgd_step(functional.cross_entropy(eager.model(self.x), self.y), self.parameters))

    def train(self, client):
        with torch.no_grad():
            torch._foreach_copy_(self.parameters, self.start)
        for first in range(0, SAMPLES, BATCH):
            self.x.copy_(self.eager.x[client, first : first + BATCH])
            self.y.copy_(self.eager.y[client, first : first + BATCH])
            self.graph.replay()

    def round(self):
        for client in range(len(self.eager.x)):
            self.train(client)


def grouped(x, weight, bias):
    """A convolution per client: x is clients x batch x channels x height x width."""
    clients, batch = x.shape[:2]
    y = functional.conv2d(x.transpose(0, 1).flatten(1, 2), weight.flatten(0, 1), bias.flatten(), padding=2, groups=clients)
    return y.view(batch, clients, -1, *y.shape[2:]).transpose(0, 1)


def unfolded(x, weight, bias):
    """The same as one batched product of the clients' weights and their unfolded images."""
    clients, batch, _, height, width = x.shape
    columns = functional.unfold(x.flatten(0, 1), 5, padding=2).view(clients, batch, -1, height * width)
    columns = columns.transpose(1, 2).flatten(2)
    y = torch.baddbmm(bias[:, :, None], weight.flatten(2), columns)
    return y.view(clients, -1, batch, height, width).transpose(1, 2)


class Batched:
    """All clients of `emnist-cnn` at once."""

    def __init__(self, eager, convolve, as_graph):
        self.eager, self.convolve = eager, convolve
        clients = len(eager.x)
        self.start = [start.expand(clients, *start.shape).contiguous() for start in eager.start.values()]
        self.parameters = [start.clone().requires_grad_() for start in self.start]
        self.x, self.y = eager.x[:, :BATCH].clone(), eager.y[:, :BATCH].clone()
        self.graph = graph_of(self.step) if as_graph else None

    def forward(self, x):
        w = self.parameters
        for weight, bias in (w[0:2], w[2:4]):
            y = torch.relu(self.convolve(x, weight, bias))
            x = functional.max_pool2d(y.flatten(0, 1), 2).view(*y.shape[:3], y.shape[3] // 2, y.shape[4] // 2)
        x = torch.relu(torch.baddbmm(w[5][:, None], x.flatten(2), w[4].transpose(1, 2)))
        return torch.baddbmm(w[7][:, None], x, w[6].transpose(1, 2))

    def step(self):
        loss = functional.cross_entropy(self.forward(self.x).flatten(0, 1), self.y.flatten(), reduction="sum") / BATCH
        sgd_step(loss, self.parameters)

    def round(self):
        with torch.no_grad():
            torch._foreach_copy_(self.parameters, self.start)
        for first in range(0, SAMPLES, BATCH):
            self.x.copy_(self.eager.x[:, first : first + BATCH])
            self.y.copy_(self.eager.y[:, first : first + BATCH])
            self.graph.replay() if self.graph else self.step()


def check_same(name, got, want, start):
    """That two ways have moved the weights alike. Over an epoch, rounding flips the choice of a ReLU or a maxpool here and
    there: up to 8e-2 of the change was seen between kernels that compute the same. In TF32 it says nothing."""
    if torch.backends.cudnn.allow_tf32:
        return
    moved = sum((w - s).pow(2).sum() for w, s in zip(want, start)).sqrt()
    apart = sum((g - w).pow(2).sum() for g, w in zip(got, want)).sqrt()
    if not apart <= 2e-1 * moved:
        raise Failed(f"{name} does not train as client after client does: {apart / moved:.1e} of the change")


def emnist_ways(keep):
    """The three ways by name; the third has several forms."""
    eager = Eager(Emnist, keep, CLIENTS)
    start = list(eager.start.values())
    eager.train(1)
    want = eager.weights()
    graphs = Graphs(eager)
    graphs.train(1)
    check_same("a CUDA graph per step", graphs.parameters, want, start)
    ways = {"eager": eager.round, "graph": graphs.round}
    for convolve in (grouped, unfolded):
        for as_graph in (False, True):
            batched = Batched(eager, convolve, as_graph)
            batched.round()
            check_same(f"all at once, {convolve.__name__}", [p[1] for p in batched.parameters], want, start)
            ways[f"{convolve.__name__}{', graph' if as_graph else ''}"] = batched.round
    return ways


class Subfleet:
    def __init__(self, binary, repeat):
        self.binary, self.repeat = binary, repeat

    def rows(self, precision, *options):
        command = [self.binary, "bench", "round", "--json", "--device", "cuda", "--precision", precision]
        done = subprocess.run([*command, "--repeat", str(self.repeat), *options], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(" ".join([*command[1:], *options]) + " failed: " + done.stderr.strip())
        return json.loads(done.stdout)

    def row(self, precision, keep, *options):
        return self.rows(precision, "--keep", str(keep), "--clients", str(CLIENTS), "--samples", str(SAMPLES),
                         "--batch", str(BATCH), *options)[0]


def fastest(rows):
    return min(rows, key=lambda row: row["round_ms"])


def batched_form(best):
    """The name of the fastest form of all clients at once, if it was measured."""
    return min((name for name in best if name not in ("eager", "graph")), key=best.get, default=None)


def in_turns(turns, subfleet, ways, precision, keep, model):
    """The least milliseconds of every way, and Subfleet's best row."""
    best, rows = {}, []
    for turn in range(turns):
        for name, work in ways.items():
            if turn == 0 or name in ("eager", "graph", batched_form(best)):
                best[name] = min(best.get(name, float("inf")), least_ms(work, subfleet.repeat))
        rows.append(subfleet.row(precision, keep, "--model", model))
    return best, fastest(rows)


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def begin_table(*header):
    print_row(header)
    print_row("---" for _ in header)


def show(ms):
    return "-" if ms is None else f"{ms:.0f}" if ms >= 100 else f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"


def ratio(theirs, ours):
    return "-" if theirs is None else f"{theirs / ours:.0f}x" if theirs >= 10 * ours else f"{theirs / ours:.1f}x"


def emnist_table(arguments, subfleet, measured):
    print(f"### `emnist-cnn`: {CLIENTS} clients x {SAMPLES} samples, batch {BATCH}, one epoch; ms per round\n", flush=True)
    begin_table("part", "precision", "PyTorch, client after client", "the same, each step a CUDA graph",
                "PyTorch, all clients at once by hand", "Subfleet", "times faster")
    for part, keep in PARTS.items():
        for precision in PRECISIONS:
            ways = {}
            if torch:
                set_precision(precision)
                ways = emnist_ways(keep)
                for work in ways.values():
                    work()  # warms up
            best, row = in_turns(arguments.turns, subfleet, ways, precision, keep, "emnist-cnn")
            measured["emnist-cnn", part, precision] = row
            batched = batched_form(best)
            theirs = [best.get("eager"), best.get("graph"), best.get(batched)]
            ours = row["round_ms"]
            print_row([part, precision, show(theirs[0]), show(theirs[1]),
                       f"{show(theirs[2])} ({batched})" if batched else "-", f"**{show(ours)}**",
                       ", ".join(ratio(ms, ours) for ms in theirs)])


def other_table(arguments, subfleet, measured):
    print(f"### Other models: {CLIENTS} clients x {SAMPLES} samples, batch {BATCH}, one epoch; ms per round\n\n"
          f"PyTorch's figure is that of {FEW} clients, times {CLIENTS / FEW:g}.\n", flush=True)
    begin_table("model", "part", "precision", "PyTorch, client after client", "Subfleet", "times faster")
    for model in OTHER_MODELS:
        for part, keep in PARTS.items():
            for precision in PRECISIONS:
                ways = {}
                if torch:
                    set_precision(precision)
                    eager = Eager(MODELS[model], keep, FEW)
                    eager.train(0)  # warms up
                    ways = {"eager": eager.round}
                best, row = in_turns(min(arguments.turns, 2), subfleet, ways, precision, keep, model)
                measured[model, part, precision] = row
                theirs = best["eager"] * CLIENTS / FEW if ways else None
                print_row([f"`{model}`", part, precision, show(theirs), f"**{show(row['round_ms'])}**",
                           ratio(theirs, row["round_ms"])])


def speed_cells(row):
    share = "-" if row["share_of_peak"] is None else f"{100 * row['share_of_peak']:.1f} %"
    return [show(row["round_ms"]), f"{row['samples_per_second']:,.0f}", f"{row['gflops'] / 1e3:.1f}", share,
            f"{row['memory_bytes'] / 1e9:.2f} GB"]


def speed_table(arguments, subfleet, measured):
    rows = {}
    for model, part, precision in itertools.product(["emnist-cnn", *OTHER_MODELS], PARTS, PRECISIONS):
        rows[model, part, precision] = (measured.get((model, part, precision))
                                        or subfleet.row(precision, PARTS[part], "--model", model))
    peak = max(row["peak_gflops"] for row in rows.values()) / 1e3
    print(f"### Subfleet's rounds: arithmetic as the layers are defined, and GPU memory\n\n"
          f"The peak is that of f32 without tensor cores, measured here: {peak:.1f} TFLOP/s.\n")
    begin_table("model", "part", "precision", "weights", "ms per round", "samples/s", "TFLOP/s", "of the f32 peak", "memory",
                "server's step, ms")
    for (model, part, precision), row in rows.items():
        print_row([f"`{model}`", part, precision, f"{row['parameters']:,}", *speed_cells(row),
                   f"{row['server_step_ms']:.2f}"])


def candidates_table(arguments, subfleet, measured):
    print(f"### Three candidates of a search at once: {CLIENTS} and 3 x {CLIENTS} clients trained together; ms per round\n")
    begin_table("part", "precision", f"{CLIENTS} clients", f"3 x {CLIENTS} clients", "times as long", "memory of the three")
    for part, keep in PARTS.items():
        for precision in PRECISIONS:
            one, three = (subfleet.row(precision, keep, "--candidates", count) for count in ("1", "3"))
            print_row([part, precision, show(one["round_ms"]), show(three["round_ms"]),
                       f"{three['round_ms'] / one['round_ms']:.2f}", f"{three['memory_bytes'] / 1e9:.2f} GB"])


def sweep_table(arguments, subfleet, measured):
    print(f"### Clients, kept fraction and batch: `emnist-cnn`, {SAMPLES} samples per client, one epoch\n", flush=True)
    rows = [subfleet.rows(precision, "--sweep", "--samples", str(SAMPLES)) for precision in PRECISIONS]
    begin_table("clients", "keep", "batch", "f32: ms per round", "samples/s", "TFLOP/s", "of the f32 peak", "memory",
                "tf32: ms per round", "memory")
    for f32, tf32 in zip(*rows):
        print_row([f"{f32['clients']:,}", f"{f32['keep']:g}", str(f32["batch"]), *speed_cells(f32), show(tf32["round_ms"]),
                   f"{tf32['memory_bytes'] / 1e9:.2f} GB"])


TABLES = {"emnist": emnist_table, "others": other_table, "speed": speed_table, "candidates": candidates_table,
          "sweep": sweep_table}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(HERE / "build/release/subfleet"))
    parser.add_argument("--turns", type=int, default=3, help="how often PyTorch and Subfleet take turns [3]")
    parser.add_argument("--quick", action="store_true", help="one turn, fewer rounds in it")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE",
                        help=f"some of the tables: {', '.join(TABLES)}")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.turns = 1
    subfleet = Subfleet(arguments.binary, 3 if arguments.quick else 10)

    global torch, why_alone
    if torch and not torch.cuda.is_available():
        torch, why_alone = None, f"PyTorch {torch.__version__} sees no GPU"
    if torch:
        torch.backends.cudnn.benchmark = True
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__} with CUDA {torch.version.cuda}; the fastest "
              f"round of {arguments.turns} turns of {subfleet.repeat} (PyTorch: as many as fit into a second).\n", flush=True)
    else:
        print(f"Subfleet alone: {why_alone}.\n", flush=True)
    measured, status = {}, 0
    for table in arguments.only:
        try:
            TABLES[table](arguments, subfleet, measured)
        except Failed as failed:  # the other tables do not need this one
            print(f"\n**FAILED: {failed}**")
            status = 1
        print(flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
