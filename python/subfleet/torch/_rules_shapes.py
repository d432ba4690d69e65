"""What calls that move features, leave some out or put them side by side do with units."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import torch

from ._labels import Labeller, plain_name
from ._rules import concrete, dims_of, rule
from ._units import Value

__all__ = ["FILLED"]

MOVING = """broadcast_to expand flatten mT movedim moveaxis permute ravel repeat reshape squeeze swapaxes swapdims t T tile
transpose unflatten unsqueeze view view_as_real""".split()
FILLED = "empty full ones rand randn zeros new_empty new_full new_ones new_zeros".split()


@rule("getattr")
def attribute(on: Labeller, x: Any, name: str) -> Any:
    if name in MOVING:
        return on.moved(x, lambda labels: getattr(labels, name))
    if name in ("data", "real"):
        return x.fields
    return on.opaque("is an attribute that no units are followed through", x)


@rule(*MOVING)
def moving(on: Labeller, x: Value, *args: Any, **kwargs: Any) -> Any:
    if any(isinstance(one, torch.dtype) for one in args):
        return on.opaque("reads its memory as another type", x)
    target = on.node.target
    args, kwargs = concrete(args), {key: concrete(value) for key, value in kwargs.items()}
    if isinstance(target, str):
        return on.moved(x, lambda labels: getattr(labels, "reshape" if target == "view" else target)(*args, **kwargs))
    return on.moved(x, lambda labels: target(labels, *args, **kwargs))


@rule("expand_as", "view_as", "reshape_as")
def like_another(on: Labeller, x: Value, other: Value) -> Any:
    name = "reshape" if plain_name(on.node.target) != "expand_as" else "expand"
    shaped = Value(other.shape, on.moved(x, lambda labels: getattr(labels, name)(other.shape)))
    return on.joined(shaped, other)


@rule("chunk", "split", "split_with_sizes", "tensor_split", "unsafe_chunk", "unsafe_split")
def parted(on: Labeller, x: Value, size: Any = None, dim: int = 0, **kwargs: Any) -> Any:
    sizes = [one.shape[dim] for one in on.node.meta["example"]]
    return on.moved(x, lambda labels: labels.split(sizes, dim))


@rule("repeat_interleave")
def interleaved(on: Labeller, x: Value, repeats: Any, dim: Optional[int] = None, **kwargs: Any) -> Any:
    if dim is None or not isinstance(repeats, int):
        return on.opaque("repeats them unevenly", x)
    return on.moved(x, lambda labels: labels.repeat_interleave(repeats, dim))


@rule("setitem")
def put(on: Labeller, x: Value, index: Any, value: Any) -> Any:
    return on.opaque("puts values into it", x, index, value)


@rule("unbind")
def unbound(on: Labeller, x: Value, dim: int = 0) -> Any:
    return on.moved(_one_by_one(on, x, [dim]), lambda labels: labels.unbind(dim))


def _one_by_one(on: Labeller, x: Value, dims: Sequence[int]) -> Value:
    """Each place along these axes goes its own way: where dropping goes by nothing else, nothing is dropped."""
    rank = len(x.shape)
    alone = {dim % rank for dim in dims}
    for labels in x.fields:
        if {axis for axis in range(rank) if labels.shape[axis] > 1} <= alone:
            on.units.freeze(labels, on.why("takes out single ones of them"))
    return on.units.refreshed(x, x.fields, on.why("takes out single ones of them"))


@rule("select")
def selected(on: Labeller, x: Value, dim: int, index: Any) -> Any:
    return on.moved(_one_by_one(on, x, [dim]), lambda labels: labels.select(dim, concrete(index)))


@rule("narrow")
def narrowed(on: Labeller, x: Value, dim: int, start: Any, length: Any) -> Any:
    return on.moved(x, lambda labels: labels.narrow(dim, concrete(start), length))


@rule("index_select")
def picked(on: Labeller, x: Value, dim: int, index: Value) -> Any:
    mixed = on.mixed(x, [dim], "takes out single ones of them")
    return on.moved(mixed, lambda labels: labels.index_select(dim, concrete(index)))


@rule("flip", "roll", "rot90", "tril", "triu", "diagonal", "unfold", "cumulative_trapezoid")
def stirred(on: Labeller, x: Value, *args: Any, **kwargs: Any) -> Any:
    name = plain_name(on.node.target)
    if name == "flip":
        dims = dims_of(kwargs["dims"]) if "dims" in kwargs else dims_of(args[0]) if len(args) == 1 else list(args)
    elif name == "roll":
        dims = kwargs.get("dims", args[1] if len(args) > 1 else None)
    else:
        dims = [-2, -1] if name in ("tril", "triu") else None
    if dims is None:
        return on.opaque("moves them about", x)
    return on.mixed(x, dims_of(dims), "moves them about").fields


@rule("getitem")
def item(on: Labeller, x: Value, index: Any) -> Any:
    entries = list(index) if isinstance(index, tuple) else [index]
    used = sum(_consumed(entry) for entry in entries)
    places: list[int] = []
    uneven: list[int] = []
    axis = 0
    for entry in entries:
        if entry is Ellipsis:
            axis += len(x.shape) - used
        elif isinstance(entry, slice):
            if concrete(entry.step) not in (None, 1):
                uneven.append(axis)
            axis += 1
        elif entry is not None:
            count = _consumed(entry)
            (places if isinstance(entry, int) else uneven).extend(range(axis, axis + count))
            axis += count
    if uneven:
        x = on.mixed(x, uneven, "takes out single ones of them")
    return on.moved(_one_by_one(on, x, places), lambda labels: labels[concrete(index)])


def _consumed(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    example = concrete(entry)
    if isinstance(example, torch.Tensor) and example.dtype in (torch.bool, torch.uint8):
        return example.dim()
    return 1


@rule("cat", "concat", "concatenate")
def concatenated(on: Labeller, tensors: Sequence[Value], dim: int = 0, **kwargs: Any) -> Any:
    tensors = [one for one in tensors if isinstance(one, Value)]
    dim = kwargs.get("axis", dim) % len(tensors[0].shape)
    flat = []
    for value in tensors:  # what does not go along the axis is the same units in all of them
        across = [f for f in value.fields if f.shape[dim] == 1]
        flat.append(Value(tuple(1 if i == dim else n for i, n in enumerate(value.shape)), across))
    fields = on.joined(*flat)
    ends = [[f for f in value.fields if f.shape[dim] > 1] for value in tensors]
    shapes = [value.shape for value in tensors]
    if any(ends):
        axes = {axis for along in ends for f in along for axis in range(f.dim()) if f.shape[axis] > 1} | {dim}
        parts = []
        for along, shape in zip(ends, shapes):
            size = [n if axis in axes else 1 for axis, n in enumerate(shape)]
            parts.append((along[0] if along else torch.zeros(1, dtype=torch.long)).expand(size))
        fields.append(torch.cat(parts, dim))
    return fields


@rule("stack")
def stacked(on: Labeller, tensors: Sequence[Value], dim: int = 0) -> Any:
    rank = len(tensors[0].shape) + 1
    return [labels.unsqueeze(dim % rank) for labels in on.joined(*tensors)]


@rule("pad")
def padded(on: Labeller, x: Value, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    pad = concrete(pad)
    if mode != "constant":
        axes = [len(x.shape) - 1 - i // 2 for i, size in enumerate(pad) if size]
        x = on.mixed(x, axes, "moves them about")
    whole = [size for i, size in enumerate(pad)]
    made = []
    for labels in x.fields:
        keep = list(whole)
        for i in range(len(pad) // 2):
            axis = len(x.shape) - 1 - i
            if labels.shape[axis] == 1:
                keep[2 * i : 2 * i + 2] = [0, 0]
        made.append(torch.nn.functional.pad(labels, keep))
    return made


@rule(*FILLED)
def filled(on: Labeller, *args: Any, **kwargs: Any) -> Any:
    """It can be made in any size."""
    shape = on.node.meta["example"].shape
    return [on.units.fresh(size).reshape([-1 if i == axis else 1 for i in range(len(shape))])
            for axis, size in enumerate(shape) if size > 1]
