"""What each function and method of PyTorch does with units."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch

from ._labels import Labeller, plain_name
from ._units import Value

__all__ = ["FUNCTIONS", "concrete", "dims_of", "rule"]

FUNCTIONS: dict[str, Callable[..., Any]] = {}

ELEMENTWISE = """abs acos add addcdiv addcmul alpha_dropout asin atan atan2 bernoulli bitwise_and bitwise_not bitwise_or
bitwise_xor and or xor invert not bool byte ceil celu clamp clamp_max clamp_min clip clone contiguous copy cos cosh cpu cuda
data deg2rad detach div divide double dropout dropout1d dropout2d dropout3d elu empty_like eq erf erfc exp exp2 expm1
feature_alpha_dropout feature_dropout fill float floor floor_divide floordiv fmod full_like ge gelu gt half hardshrink
hardsigmoid hardswish hardtanh heaviside hypot int isfinite isinf isnan le leaky_relu lerp log log10 log1p log2 logical_and
logical_not logical_or logical_xor logsigmoid long lt masked_fill maximum minimum mish mod mul multiply nan_to_num ne neg
negative normal ones_like pos positive pow rand_like randn_like reciprocal relu relu6 remainder requires_grad round rrelu
rsqrt selu sigmoid sign silu sin sinh softplus softshrink softsign sqrt square stochastic_depth tan tanh
tanhshrink threshold true_divide truediv trunc type uniform where xlogy zero zeros_like log_sigmoid""".split()
REDUCING = """all amax amin any argmax argmin count_nonzero logsumexp max mean median min mode nanmean nansum norm prod std
std_mean sum var var_mean""".split()
ALONG = """argsort cummax cummin cumprod cumsum gumbel_softmax log_softmax logcumsumexp normalize softmax softmin sort
topk""".split()
POOLS = ("max_pool", "avg_pool", "adaptive_avg_pool", "adaptive_max_pool", "lp_pool")


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


def dims_of(dims: Any) -> list[int]:
    return list(dims) if isinstance(dims, (tuple, list)) else [dims]


@rule(*ELEMENTWISE)
def elementwise(on: Labeller, *args: Any, **kwargs: Any) -> Any:
    return units_of(on, [one for one in [*args, *kwargs.values()] if isinstance(one, Value)])


@rule("to", "type_as")
def as_it_is(on: Labeller, x: Any, *args: Any, **kwargs: Any) -> Any:
    return x.fields if isinstance(x, Value) else None


@rule("add", "sub", "subtract")
def added(on: Labeller, *args: Any, **kwargs: Any) -> Any:
    """Units of different makers that become the same ones here are marked."""
    units = on.units
    values = [one for one in [*args, *kwargs.values()] if isinstance(one, Value)]
    made, before = units.made(), units.root.clone()
    sides = [[labels for labels in value.fields if made[labels].any()] for value in values if not value.weight]
    fields = units_of(on, values)
    if sum(bool(side) for side in sides) > 1:
        given = torch.cat([before[labels].reshape(-1) for side in sides for labels in side]).unique()
        joined, count = units.root[given].unique(return_counts=True)
        units.added[joined[count > 1]] = True
    return fields


def units_of(on: Labeller, values: Sequence[Value]) -> Any:
    return on.joined(*values) if values else None


@rule(*REDUCING)
def reduced(on: Labeller, x: Value, *args: Any, **kwargs: Any) -> Any:
    if on.node.meta["example"].__class__ is torch.Tensor and args and isinstance(args[0], Value):
        return on.joined(x, *args)  # max and min of two tensors
    place = 1 if plain_name(on.node.target) in ("norm", "renorm") and args else 0
    dims = kwargs.get("dim", kwargs.get("axis", args[place] if len(args) > place else None))
    if dims is None or isinstance(dims, (bool, torch.dtype)):
        return on.opaque("takes them all together", x)
    mixed = on.mixed(x, dims_of(dims), "takes them together")
    gone = sorted(dim % len(x.shape) for dim in dims_of(dims))
    example = on.node.meta["example"]
    one = example if isinstance(example, torch.Tensor) else example[0]
    fields = mixed.fields
    if one.dim() < len(x.shape):
        fields = [labels.reshape([size for i, size in enumerate(labels.shape) if i not in gone]) for labels in fields]
    return fields if isinstance(example, torch.Tensor) else tuple(list(fields) for _ in example)


@rule(*ALONG)
def along(on: Labeller, x: Value, *args: Any, **kwargs: Any) -> Any:
    name = plain_name(on.node.target)
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
