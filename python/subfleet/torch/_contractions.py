"""What calls that sum over features do with units: products with weights, convolutions and attention."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import torch

from ._labels import Labeller
from ._rules import rule
from ._units import Value

__all__ = ["contracted", "convolved", "linear"]

Letters = Sequence[Any]  # one per axis


def contracted(on: Labeller, operands: Sequence[Value], letters: Sequence[Letters], out: Letters) -> list[torch.Tensor]:
    """A product of tensors summed over the letters that `out` does not have: the fields of the result."""
    order = [*out, *(letter for own in letters for letter in own if letter not in out)]
    order = list(dict.fromkeys(order))
    summed = set(order) - set(out)
    for letter in summed:
        having = [value for value, own in zip(operands, letters) if letter in own]
        if len(having) < 2 or not any(value.weight for value in having):
            for value, own in zip(operands, letters):
                if letter in own:
                    value.fields = on.mixed(value, [own.index(letter)], "sums over them, without weights").fields
    by_weight = {letter for letter in out if any(letter in own for value, own in zip(operands, letters) if value.weight)}
    aligned = []
    for value, own in zip(operands, letters):
        fields = [_permuted(labels, own, order) for labels in value.fields]
        aligned.append(Value(_aligned(value.shape, own, order), fields, value.weight, value.name))
    fields = on.joined(*aligned)
    result = []
    for labels in fields:
        axes = [axis for axis in range(labels.dim()) if labels.shape[axis] > 1]
        inner = [axis for axis in axes if order[axis] in summed]
        if inner and len(axes) > len(inner):
            for axis in inner:
                on.units.mix(labels, axis, on.why("sums over a part of them"))
        elif inner:
            for axis in axes[1:]:
                on.units.mix(labels, axis, on.why("sums over a part of them"))
            continue
        result.append(labels)
    for index, (value, own) in enumerate(zip(operands, letters)):
        value.fields = on.units.refreshed(value, value.fields, on.why("sums over them")).fields
        if not value.weight:
            for letter in summed:
                if letter in own:
                    axis = own.index(letter)
                    if any(labels.shape[axis] > 1 for labels in value.fields):
                        on.taken(value, index, axis, on.vector(value, axis))
    compacted = [labels for labels in (on.units.compact(labels, on.why("sums over them")) for labels in result)
                 if labels is not None]
    if not all(value.weight for value in operands):
        others = {letter for value, own in zip(operands, letters) if not value.weight for letter in own}
        name = next((value.name for value in operands if value.weight), "")
        for labels in compacted:
            axes = [order[axis] for axis in range(labels.dim()) if labels.shape[axis] > 1]
            if all(letter in by_weight and letter not in others for letter in axes):
                on.made(labels, on.path or name)
    return [labels.reshape(labels.shape[: len(out)]) for labels in compacted]


def _aligned(shape: Sequence[int], own: Letters, order: Letters) -> tuple[int, ...]:
    return tuple(shape[own.index(letter)] if letter in own else 1 for letter in order)


def _permuted(labels: torch.Tensor, own: Letters, order: Letters) -> torch.Tensor:
    inside = [letter for letter in order if letter in own]
    return labels.permute([own.index(letter) for letter in inside]).reshape(_aligned(labels.shape, own, order))


@rule("linear")
def linear(on: Labeller, x: Value, weight: Value, bias: Optional[Value] = None) -> Any:
    batch = [f"b{i}" for i in range(len(x.shape) - 1)]
    fields = contracted(on, [x, weight], [[*batch, "i"], ["o", "i"][-len(weight.shape):]],
                        [*batch, "o"][: len(batch) + len(weight.shape) - 1])
    return _biased(on, fields, bias)


def _biased(on: Labeller, fields: list[torch.Tensor], *more: Any) -> list[torch.Tensor]:
    shape = tuple(on.node.meta["example"].shape)
    return on.joined(Value(shape, fields), *(one for one in more if isinstance(one, Value)))


@rule("matmul", "bmm", "mm", "mv", "dot", "inner")
def multiplied(on: Labeller, a: Value, b: Value, **kwargs: Any) -> Any:
    m, n = len(a.shape), len(b.shape)
    batch = [f"b{i}" for i in range(max(m, n, 2) - 2)]
    left = [*batch[len(batch) - (m - 2) :], "r", "i"] if m > 1 else ["i"]
    right = [*batch[len(batch) - (n - 2) :], "i", "c"] if n > 1 else ["i"]
    out = [letter for letter in [*batch, *(["r"] if m > 1 else []), *(["c"] if n > 1 else [])]]
    return contracted(on, [a, b], [left, right], out)


@rule("addmm", "addmv", "baddbmm", "addbmm")
def multiplied_and_added(on: Labeller, start: Value, a: Value, b: Value, **kwargs: Any) -> Any:
    return _biased(on, multiplied(on, a, b), start)


@rule("einsum")
def summed(on: Labeller, equation: Any, *operands: Any) -> Any:
    values = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else list(operands)
    if not isinstance(equation, str):
        return on.opaque("has no equation", values)
    left, _, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    letters = [_spelled(term, len(value.shape)) for term, value in zip(terms, values)]
    if "->" in equation:
        dots = max((own for own in letters), key=lambda own: sum(letter.startswith(".") for letter in own))
        rank = sum(letter.startswith(".") for letter in dots)
        out = _spelled(right, len(right.replace("...", "")) + (rank if "..." in right else 0))
    else:
        every = [letter for own in letters for letter in own]
        once = sorted(letter for letter in set(every) if every.count(letter) == 1 and not letter.startswith("."))
        out = [*sorted({letter for letter in every if letter.startswith(".")}, reverse=True), *once]
    for value, own in zip(values, letters):
        if len(set(own)) < len(own):
            return on.opaque("reads a diagonal", values)
    return contracted(on, values, letters, out)


def _spelled(term: str, rank: int) -> list[str]:
    before, dots, after = term.partition("...")
    more = rank - len(before) - len(after)
    return [*before, *(f".{i}" for i in range(more, 0, -1) if dots), *after]


@rule("scaled_dot_product_attention")
def attended(on: Labeller, query: Value, key: Value, value: Value, attn_mask: Any = None, *args: Any, **kwargs: Any) -> Any:
    rank = len(query.shape)
    query = on.mixed(query, [-1, -2], "sums over them, without weights")
    key = on.mixed(key, [-1, -2], "sums over them, without weights")
    value = on.mixed(value, [-2], "sums over them, without weights")
    made = tuple(on.node.meta["example"].shape)
    sides = []
    for one in (query, key, value):
        shape, fields = one.shape, one.fields
        if rank > 2 and shape[-3] not in (1, query.shape[-3]):  # queries share keys and values
            times = query.shape[-3] // shape[-3]
            fields = [f.repeat_interleave(times, -3) if f.shape[-3] > 1 else f for f in fields]
            shape = (*shape[:-3], query.shape[-3], *shape[-2:])
        last = (*shape[:-2], 1, shape[-1] if one is value else 1)
        sides.append(Value(last, fields))
    if isinstance(attn_mask, Value):
        sides.append(Value((*attn_mask.shape[:-2], 1, 1), on.mixed(attn_mask, [-1, -2], "is a mask").fields))
    fields = on.joined(*sides)
    return [labels for labels in fields if labels.dim() == len(made)]


def convolved(on: Labeller, x: Value, weight: Value, bias: Any, groups: int, sides: int, turned: bool) -> Any:
    """Of a convolution over so many sides; `turned`: transposed, with weights of inputs x outputs."""
    channels = len(x.shape) - 1 - sides
    axes = [axis for axis in range(len(x.shape)) if axis != channels]
    x.fields = on.mixed(x, axes, "takes neighbours together").fields
    weight.fields = on.mixed(weight, range(2, 2 + sides), "is a kernel").fields
    shape = on.node.meta["example"].shape
    if groups == 1:
        inputs = on.vector(weight, 0 if turned else 1)
        outputs = on.vector(weight, 1 if turned else 0)
        on.meet(x, channels, inputs)
        on.taken(x, 0, channels, on.vector(x, channels))
        on.made(outputs, on.path or weight.name)
    else:
        blocks = on.vector(x, channels).reshape(groups, -1)
        on.units.join(blocks, blocks[:, :1], on.why("takes blocks of them together"))
        blocks = blocks[:, 0]
        outputs = blocks.repeat_interleave(shape[channels] // groups)
        every = on.vector(weight, 0)
        on.units.join(every, blocks.repeat_interleave(len(every) // groups), on.why("joined with what is always whole"))
        weight.fields = on.mixed(weight, [1], "takes blocks of them together").fields
        if x.shape[channels] > groups:
            on.taken(x, 0, channels, on.vector(x, channels))
    fields = [on.field(x, channels, outputs, shape)]
    if isinstance(bias, Value):
        at = Value((bias.shape[0], *(1,) * sides), [f.reshape([-1] + [1] * sides) for f in bias.fields])
        return on.joined(Value(tuple(shape), fields), at)
    return fields


def _argument(args: Sequence[Any], kwargs: dict[str, Any], index: int, name: str, default: Any) -> Any:
    return kwargs.get(name, args[index] if len(args) > index else default)


def _convolution(sides: int, turned: bool) -> Any:
    def follow(on: Labeller, input: Value, weight: Value, *args: Any, **kwargs: Any) -> Any:
        bias = _argument(args, kwargs, 0, "bias", None)
        groups = _argument(args, kwargs, 4, "groups", 1)
        return convolved(on, input, weight, bias, groups, sides, turned)

    return follow


for _sides in (1, 2, 3):
    rule(f"conv{_sides}d")(_convolution(_sides, False))
    rule(f"conv_transpose{_sides}d")(_convolution(_sides, True))


@rule("embedding")
def looked_up(on: Labeller, input: Value, weight: Value, *args: Any, **kwargs: Any) -> Any:
    if kwargs.get("max_norm") is not None or (len(args) > 1 and args[1] is not None):
        return on.opaque("limits the length of its rows", weight)
    weight.fields = on.mixed(weight, [0], "its rows are looked up").fields
    on.units.whole(input, on.why("looks rows up"))
    widths = on.vector(weight, 1)
    on.made(widths, on.path or weight.name)
    return [on.field(weight, -1, widths, on.node.meta["example"].shape)]


@rule("bilinear")
def bilinear(on: Labeller, a: Value, b: Value, weight: Value, bias: Any = None) -> Any:
    batch = [f"b{i}" for i in range(len(a.shape) - 1)]
    fields = contracted(on, [a, b, weight], [[*batch, "i"], [*batch, "j"], ["o", "i", "j"]], [*batch, "o"])
    return _biased(on, fields, bias)
