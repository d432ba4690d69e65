"""What each function and method of PyTorch does with units."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import torch

from ._torch_labels import Labeller
from ._torch_units import Value

__all__ = ["FUNCTIONS", "concrete"]

FUNCTIONS: dict[str, Callable[..., Any]] = {}

ELEMENTWISE = """abs acos add addcdiv addcmul alpha_dropout asin atan atan2 bernoulli bitwise_and bitwise_not bitwise_or
bitwise_xor and or xor invert not bool byte ceil celu clamp clamp_max clamp_min clip clone contiguous copy cos cosh cpu cuda
data deg2rad detach div divide double dropout dropout1d dropout2d dropout3d elu empty_like eq erf erfc exp exp2 expm1
feature_alpha_dropout feature_dropout fill float floor floor_divide floordiv fmod full_like ge gelu gt half hardshrink
hardsigmoid hardswish hardtanh heaviside hypot int isfinite isinf isnan le leaky_relu lerp log log10 log1p log2 logical_and
logical_not logical_or logical_xor logsigmoid long lt masked_fill maximum minimum mish mod mul multiply nan_to_num ne neg
negative normal ones_like pos positive pow rand_like randn_like reciprocal relu relu6 remainder requires_grad round rrelu
rsqrt selu sigmoid sign silu sin sinh softplus softshrink softsign sqrt square stochastic_depth sub subtract tan tanh
tanhshrink threshold true_divide truediv trunc type uniform where xlogy zero zeros_like log_sigmoid""".split()
REDUCING = """all amax amin any argmax argmin count_nonzero logsumexp max mean median min mode nanmean nansum norm prod std
std_mean sum var var_mean""".split()
ALONG = """argsort cummax cummin cumprod cumsum gumbel_softmax log_softmax logcumsumexp normalize softmax softmin sort
topk""".split()
MOVING = """broadcast_to expand flatten mT movedim moveaxis permute ravel repeat reshape squeeze swapaxes swapdims t T tile
transpose unflatten unsqueeze view view_as_real""".split()
POOLS = {"max_pool": 1, "avg_pool": 1, "adaptive_avg_pool": 1, "adaptive_max_pool": 1, "lp_pool": 1}
FILLED = "empty full ones rand randn zeros new_empty new_full new_ones new_zeros".split()


def rule(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            FUNCTIONS[name] = function
        return function

    return add


def concrete(value: Any) -> Any:
    """Examples in place of values."""
    if isinstance(value, Value):
        return None if value.example is None else value.example.cpu()
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return type(value)(concrete(one) for one in value)
    if isinstance(value, slice):
        return slice(concrete(value.start), concrete(value.stop), concrete(value.step))
    return value


def every_axis(value: Value) -> range:
    return range(len(value.shape))


def _list(dims: Any) -> list[int]:
    return list(dims) if isinstance(dims, (tuple, list)) else [dims]


@rule(*ELEMENTWISE)
def elementwise(on: Labeller, *args: Any, **kwargs: Any) -> Any:
    values = [one for one in [*args, *kwargs.values()] if isinstance(one, Value)]
    return on.joined(*values) if values else None


@rule("to", "type_as")
def as_it_is(on: Labeller, x: Any, *args: Any, **kwargs: Any) -> Any:
    return x.fields if isinstance(x, Value) else None


@rule("add", "sub", "subtract")
def added(on: Labeller, *args: Any, **kwargs: Any) -> Any:
    values = [one for one in [*args, *kwargs.values()] if isinstance(one, Value)]
    made = on.units.made()
    produced = [value for value in values if not value.weight and any(made[f].any() for f in value.fields)]
    fields = on.joined(*values) if values else None
    if len(produced) > 1 and fields:
        for labels in fields:
            axes = [axis - labels.dim() for axis in range(labels.dim()) if labels.shape[axis] > 1]
            sides = [v for v in produced if any(len(v.shape) >= -a and v.shape[a] > 1 for a in axes)]
            if len(sides) > 1:
                on.units.added[labels.reshape(-1)] = True
    return fields


@rule("getattr")
def attribute(on: Labeller, x: Any, name: str) -> Any:
    if name in MOVING:
        return on.moved(x, lambda labels: getattr(labels, name))
    if name in ("data", "real"):
        return x.fields
    return on.opaque("is an attribute that no units are followed through", x)


@rule(*REDUCING)
def reduced(on: Labeller, x: Value, *args: Any, **kwargs: Any) -> Any:
    if on.node.meta["example"].__class__ is torch.Tensor and args and isinstance(args[0], Value):
        return on.joined(x, *args)  # max and min of two tensors
    place = 1 if _name(on) in ("norm", "renorm") and args else 0
    dims = kwargs.get("dim", kwargs.get("axis", args[place] if len(args) > place else None))
    if dims is None or isinstance(dims, (bool, torch.dtype)):
        return on.opaque("takes them all together", x)
    mixed = on.mixed(x, _list(dims), "takes them together")
    gone = sorted(dim % len(x.shape) for dim in _list(dims))
    example = on.node.meta["example"]
    one = example if isinstance(example, torch.Tensor) else example[0]
    fields = mixed.fields
    if one.dim() < len(x.shape):
        fields = [labels.reshape([size for i, size in enumerate(labels.shape) if i not in gone]) for labels in fields]
    return fields if isinstance(example, torch.Tensor) else tuple(list(fields) for _ in example)


def _name(on: Labeller) -> str:
    target = on.node.target
    return target if isinstance(target, str) else getattr(target, "__name__", "")


@rule(*ALONG)
def along(on: Labeller, x: Value, *args: Any, **kwargs: Any) -> Any:
    name = _name(on)
    default = {"normalize": 1}.get(name, -1)
    place = {"normalize": 1, "topk": 1}.get(name, 0)
    dim = kwargs.get("dim", args[place] if len(args) > place else default)
    if dim is None:
        return on.opaque("takes them together", x)
    if isinstance(dim, bool):
        dim = -1
    fields = on.mixed(x, [dim], "takes them together").fields
    example = on.node.meta["example"]
    return fields if isinstance(example, torch.Tensor) else tuple(list(fields) for _ in example)


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
    name = "reshape" if _name(on) != "expand_as" else "expand"
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
    return on.moved(on.mixed(x, [dim], "takes out single ones of them"), lambda labels: labels.index_select(dim, index.example))


@rule("flip", "roll", "rot90", "tril", "triu", "diagonal", "unfold", "cumulative_trapezoid")
def stirred(on: Labeller, x: Value, *args: Any, **kwargs: Any) -> Any:
    name = _name(on)
    if name == "flip":
        dims = _list(kwargs["dims"]) if "dims" in kwargs else _list(args[0]) if len(args) == 1 else list(args)
    elif name == "roll":
        dims = kwargs.get("dims", args[1] if len(args) > 1 else None)
    else:
        dims = [-2, -1] if name in ("tril", "triu") else None
    if dims is None:
        return on.opaque("moves them about", x)
    return on.mixed(x, _list(dims), "moves them about").fields


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


@rule("pack_padded_sequence")
def packed(on: Labeller, input: Value, lengths: Any, *args: Any, **kwargs: Any) -> Any:
    x = on.mixed(input, [0, 1], "goes through them step by step")
    return [labels.reshape(labels.shape[1:]) for labels in x.fields]


@rule("pad_packed_sequence")
def unpacked(on: Labeller, sequence: Value, *args: Any, **kwargs: Any) -> Any:
    return [labels.unsqueeze(0) for labels in on.mixed(sequence, [0], "goes through them step by step").fields], []


def pool(sides: int) -> Callable[..., Any]:
    def follow(on: Labeller, x: Value, *args: Any, **kwargs: Any) -> Any:
        fields = on.mixed(x, range(-sides, 0), "takes neighbours together").fields
        example = on.node.meta["example"]
        return fields if isinstance(example, torch.Tensor) else tuple(list(fields) for _ in example)

    return follow


for _sides in (1, 2, 3):
    for _kind in POOLS:
        FUNCTIONS[f"{_kind}{_sides}d"] = pool(_sides)
        FUNCTIONS[f"{_kind}{_sides}d_with_indices"] = pool(_sides)


@rule("interpolate", "upsample", "upsample_nearest", "upsample_bilinear")
def resized(on: Labeller, x: Value, *args: Any, **kwargs: Any) -> Any:
    return on.mixed(x, range(2, len(x.shape)), "takes neighbours together").fields


@rule("pixel_shuffle")
def shuffled(on: Labeller, x: Value, factor: int) -> Any:
    mixed = on.mixed(x, [-2, -1], "takes neighbours together")
    channels = on.vector(mixed, -3).reshape(-1, factor * factor)
    on.units.join(channels, channels[:, :1], on.why("puts them side by side"))
    return [on.field(x, -3, channels[:, 0])]


@rule("glu")
def gated(on: Labeller, x: Value, dim: int = -1) -> Any:
    size = x.shape[dim] // 2
    halves = [[labels.expand(x.shape).narrow(dim, start, size) for labels in x.fields] for start in (0, size)]
    return on.joined(*(Value(tuple(on.node.meta["example"].shape), fields) for fields in halves))


@rule("prelu")
def with_slopes(on: Labeller, x: Value, weight: Value) -> Any:
    if weight.shape[0] > 1:
        on.meet(x, 1, on.vector(weight, 0))
    return x.fields


@rule("batch_norm", "instance_norm")
def per_channel(on: Labeller, x: Value, running_mean: Any = None, running_var: Any = None, weight: Any = None,
                bias: Any = None, *args: Any, **kwargs: Any) -> Any:
    on.statistics.update(one.name for one in (running_mean, running_var) if isinstance(one, Value) and one.name)
    for one in (weight, bias, running_mean, running_var):
        if isinstance(one, Value):
            on.meet(x, 1, on.vector(one, 0))
    return on.mixed(x, [0, *range(2, len(x.shape))], "takes neighbours together").fields


@rule("layer_norm", "rms_norm")
def over_last(on: Labeller, x: Value, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None,
              *args: Any, **kwargs: Any) -> Any:
    for one in (weight, bias):
        if isinstance(one, Value):
            for axis in range(-len(one.shape), 0):
                if one.shape[axis] > 1:
                    on.meet(x, axis, on.vector(one, axis))
    return x.fields
