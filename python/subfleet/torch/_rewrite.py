"""Rewrites the constants of a followed graph for the units that are kept."""

from __future__ import annotations

import copy
import math
import operator
from typing import Any, Callable, Optional, Sequence

import torch
from torch import fx, nn

from ._labels import Intake, plain_name
from ._rules_shapes import FILLED
from ._thin import scaled
from ._units import Value

__all__ = ["Rewriter", "run_instead", "whole_sizes"]

SIZED = ("view", "reshape", "expand", "broadcast_to", "unflatten", *FILLED)


def whole_sizes(shape: Sequence[int], ratios: Sequence[tuple[int, int, int]]) -> torch.Size:
    """The shape that a tensor has in the whole module: of each (axis, whole, kept)."""
    sizes = list(shape)
    for axis, whole, kept in ratios:
        sizes[axis] = sizes[axis] * whole // kept
    return torch.Size(sizes)


class Rewriter:
    """`keep`: of each label, whether it is kept."""

    def __init__(self, graph: fx.Graph, values: dict[fx.Node, Any], root: torch.Tensor, keep: torch.Tensor) -> None:
        self.graph = copy.deepcopy(graph)
        self.twin = dict(zip(graph.nodes, self.graph.nodes))
        self.values = {self.twin[node]: value for node, value in values.items() if node in self.twin}
        self.root, self.keep = root, keep
        self.changed = False

    def rewrite(self, intakes: Sequence[Intake], factors: Callable[[torch.Tensor], Any]) -> bool:
        """Whether anything had to be changed. `factors` makes runs of labels, or None for nothing to multiply by."""
        for intake in intakes:
            runs = factors(intake.labels)
            if intake.given is not None and runs is not None:
                self.scale(self.twin[intake.node], self.twin[intake.given], intake.axis, runs)
        for node in list(self.graph.nodes):
            if node.op in ("call_function", "call_method"):
                name = plain_name(node.target)
                if name in SIZED:
                    self.sized(node, name)
                elif name in ("split", "split_with_sizes", "chunk", "tensor_split", "unsafe_chunk", "unsafe_split"):
                    self.split(node)
                elif name == "getitem":
                    self.item(node)
                elif name == "narrow":
                    self.narrow(node)
                elif name in ("layer_norm", "rms_norm"):
                    self.normalized(node)
                elif name.startswith("conv"):
                    self.grouped(node)
        for node in list(self.graph.nodes):  # last: until here sizes are those of the whole module everywhere
            name = plain_name(node.target) if node.op in ("call_function", "call_method") else ""
            if name in ("size", "numel", "nelement", "len") or (node.target is getattr and node.args[1] == "shape"):
                self.size(node)
        self.graph.lint()
        return self.changed

    def counts(self, value: Any, axis: int) -> Optional[tuple[int, int]]:
        """Features along an axis of which some are dropped: all, and those that are kept."""
        labels = value.along(axis) if isinstance(value, Value) else None
        if labels is None:
            return None
        kept = int(self.keep[self.root[labels]].sum())
        return None if kept == len(labels) else (len(labels), kept)

    def before(self, value: Value, axis: int, place: int) -> int:
        labels = value.along(axis)
        return place if labels is None else int(self.keep[self.root[labels[:place]]].sum())

    def set(self, node: fx.Node, args: Sequence[Any], **kwargs: Any) -> None:
        node.args, self.changed = tuple(args), True
        node.kwargs = kwargs

    def example(self, value: Any) -> Any:
        return fx.node.map_arg(value, lambda node: node.meta["example"])

    def of(self, node: fx.Node, index: int, name: str, default: Any = None) -> Any:
        return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)

    def scale(self, node: fx.Node, given: fx.Node, axis: int, runs: Any) -> None:
        with self.graph.inserting_before(node):
            times = self.graph.call_function(scaled, (given, axis, tuple(runs)))
        node.replace_input_with(given, times)
        self.changed = True

    def sized(self, node: fx.Node, name: str) -> None:
        """A call that is given the sizes of its result."""
        value = self.values.get(node)
        if not isinstance(value, Value) or not any(self.counts(value, axis) for axis in range(len(value.shape))):
            return
        first = 0 if name in FILLED and not name.startswith("new") else 1
        lead = 0
        if name == "unflatten":
            first, rank = 2, len(self.values[node.args[0]].shape)
            lead = self.example(self.of(node, 1, "dim")) % rank
        key = next((key for key in ("size", "shape", "sizes") if key in node.kwargs), None)
        given = node.kwargs[key] if key else node.args[first:]
        rest: Sequence[Any] = ()
        spread = True  # sizes as one tuple
        if not key and isinstance(given[0], (tuple, list)):
            given, rest = given[0], given[1:]
        elif not key and isinstance(given[0], fx.Node) and isinstance(given[0].meta["example"], (tuple, list)):
            given, rest = given[0], given[1:]
        elif not key:
            spread = False
            if name.endswith("full"):
                given, rest = given[:1], given[1:]
        with self.graph.inserting_before(node):
            if isinstance(given, fx.Node):
                given = [self.graph.call_function(operator.getitem, (given, i)) for i in range(len(given.meta["example"]))]
            sizes = list(given)
            for place, size in enumerate(sizes):
                counts = self.counts(value, lead + place)
                if counts and isinstance(size, fx.Node):
                    times = self.graph.call_function(operator.mul, (size, counts[1]))
                    sizes[place] = self.graph.call_function(operator.floordiv, (times, counts[0]))
                elif counts and size != -1:
                    sizes[place] = size * counts[1] // counts[0]
        kwargs = {name: one for name, one in node.kwargs.items() if name != key}
        if key:
            kwargs[key] = tuple(sizes)
            self.set(node, node.args, **kwargs)
        else:
            self.set(node, [*node.args[:first], *([tuple(sizes)] if spread else sizes), *rest], **kwargs)

    def split(self, node: fx.Node) -> None:
        x = self.values.get(node.args[0])
        dim = self.example(self.of(node, 2, "dim", 0))
        if not isinstance(x, Value) or not self.counts(x, dim):
            return
        sizes = [(self.counts(part, dim) or (0, part.shape[dim]))[1] for part in self.values[node]]
        node.target = "split" if node.op == "call_method" else torch.split
        self.set(node, [node.args[0], sizes], dim=dim)

    def item(self, node: fx.Node) -> None:
        x = self.values.get(node.args[0])
        if not isinstance(x, Value):
            return
        entries = list(node.args[1]) if isinstance(node.args[1], tuple) else [node.args[1]]
        used = sum(self._consumed(entry) for entry in entries)
        axis, changed = 0, False
        for place, entry in enumerate(entries):
            if entry is Ellipsis:
                axis += len(x.shape) - used
                continue
            if isinstance(entry, slice) and (entry.start is not None or entry.stop is not None) and self.counts(x, axis):
                start, stop, _ = self.example(entry).indices(x.shape[axis])
                entries[place] = slice(self.before(x, axis, start), self.before(x, axis, stop))
                changed = True
            axis += self._consumed(entry)
        if changed:
            self.set(node, [node.args[0], tuple(entries)])

    def _consumed(self, entry: Any) -> int:
        if entry is None or entry is Ellipsis:
            return 0
        example = self.example(entry)
        return example.dim() if isinstance(example, torch.Tensor) and example.dtype in (torch.bool, torch.uint8) else 1

    def narrow(self, node: fx.Node) -> None:
        x = self.values.get(node.args[0])
        dim, start, length = (self.example(self.of(node, i + 1, name)) for i, name in enumerate(("dim", "start", "length")))
        if isinstance(x, Value) and self.counts(x, dim):
            start %= x.shape[dim]
            begin = self.before(x, dim, start)
            self.set(node, [node.args[0], dim, begin, self.before(x, dim, start + length) - begin])

    def normalized(self, node: fx.Node) -> None:
        x = self.values.get(node.args[0])
        shape = self.example(self.of(node, 1, "normalized_shape"))
        if not isinstance(x, Value) or not any(self.counts(x, axis) for axis in range(-len(shape), 0)):
            return
        sizes = tuple((self.counts(x, axis - len(shape)) or (0, size))[1] for axis, size in enumerate(shape))
        kwargs = {key: one for key, one in node.kwargs.items() if key != "normalized_shape"}
        self.set(node, [node.args[0], sizes, *node.args[2:]], **kwargs)

    def grouped(self, node: fx.Node) -> None:
        """A convolution with groups, of which some are dropped."""
        place = 6
        groups = self.example(self.of(node, place, "groups", 1))
        weight = self.values.get(self.of(node, 1, "weight"))
        counts = self.counts(weight, 0)
        if groups == 1 or counts is None:
            return
        kept = groups * counts[1] // counts[0]
        if len(node.args) > place:
            self.set(node, [*node.args[:place], kept, *node.args[place + 1 :]], **node.kwargs)
        else:
            self.set(node, node.args, **{**node.kwargs, "groups": kept})

    def size(self, node: fx.Node) -> None:
        """Sizes stay those of the whole module: what they are used for is corrected there."""
        x = self.values.get(node.args[0])
        if not isinstance(x, Value) or not (node.users or node.meta.get("seen")):
            return
        ratios = [(axis, *counts) for axis in range(len(x.shape)) for counts in [self.counts(x, axis)] if counts]
        dim = 0 if node.target is len else None if node.target is getattr else self.example(self.of(node, 1, "dim"))
        if plain_name(node.target) in ("numel", "nelement"):
            ratios = [(0, *(math.prod(counts) for counts in zip(*(ratio[1:] for ratio in ratios))))] if ratios else []
            dim = 0
        elif dim is not None:
            ratios = [ratio for ratio in ratios if ratio[0] == dim % len(x.shape)]
        if not ratios:
            return
        used = [user for user in node.users if user.target is operator.getitem and isinstance(user.args[1], int)]
        if dim is None and len(used) == len(node.users) and not node.meta.get("seen"):
            axes = {user.args[1] % len(x.shape) for user in used}
            ratios = [ratio for ratio in ratios if ratio[0] in axes]
            if not ratios:
                return
        self.changed = True
        with self.graph.inserting_after(node):
            if dim is None:
                instead = self.graph.call_function(whole_sizes, (node, tuple(ratios)))
                node.replace_all_uses_with(instead)
                instead.args = (node, tuple(ratios))
                return
            _, whole, kept = ratios[0]
            times = self.graph.call_function(operator.mul, (node, whole))
        with self.graph.inserting_after(times):
            instead = self.graph.call_function(operator.floordiv, (times, kept))
        node.replace_all_uses_with(instead)
        times.args = (node, whole)


def run_instead(module: nn.Module, graphs: Sequence[fx.Graph]) -> None:
    """The module's forward becomes that of the graph; of the second one, if there is one, in eval mode."""
    forwards = [type(fx.GraphModule(module, graph)).forward for graph in graphs]
    kind = type(module)

    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return forwards[0 if self.training else -1](self, *args, **kwargs)

    module.__class__ = type(kind.__name__, (kind,), {"forward": forward, "__module__": kind.__module__})
