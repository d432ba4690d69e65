"""What each layer of PyTorch does with units, and how it is made smaller."""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd
from torch.nn.modules.instancenorm import _InstanceNorm

from . import _rules as rules
from ._contractions import bilinear, convolved, linear, looked_up
from ._labels import Labeller
from ._units import Value

__all__ = ["LAYERS", "resized", "rule_of"]

LAYERS: dict[type, Callable[..., Any]] = {}


def rule_of(layer: nn.Module) -> Optional[Callable[..., Any]]:
    """The rule of the layer of PyTorch that this one is: it may have a class of its own, but not another forward."""
    for kind in type(layer).__mro__:
        if kind in LAYERS:
            own = [name for name in ("forward", "_conv_forward") if hasattr(kind, name)]
            return LAYERS[kind] if all(getattr(type(layer), name) is getattr(kind, name) for name in own) else None
    return None


def layer(*kinds: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        LAYERS.update({kind: function for kind in kinds if kind is not None})
        return function

    return add


def _known(*names: str) -> list[type]:
    return [getattr(nn, name) for name in names if hasattr(nn, name)]


@layer(*_known(
    "AlphaDropout", "CELU", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "ELU", "FeatureAlphaDropout", "GELU",
    "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Identity", "LeakyReLU", "LogSigmoid", "Mish", "RReLU", "ReLU", "ReLU6",
    "SELU", "SiLU", "Sigmoid", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold"))
def _elementwise(on: Labeller, m: Any, x: Value) -> Any:
    return x.fields


@layer(nn.Linear)
def _linear(on: Labeller, m: Any, x: Value) -> Any:
    return linear(on, x, on.tensor("weight"), on.tensor("bias"))


@layer(nn.Bilinear)
def _bilinear(on: Labeller, m: Any, a: Value, b: Value) -> Any:
    return bilinear(on, a, b, on.tensor("weight"), on.tensor("bias"))


@layer(nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
def _conv(on: Labeller, m: Any, x: Value, output_size: Any = None) -> Any:
    turned = isinstance(m, _ConvTransposeNd)
    return convolved(on, x, on.tensor("weight"), on.tensor("bias"), m.groups, len(m.kernel_size), turned)


@layer(nn.Embedding)
def _embedding(on: Labeller, m: Any, x: Value) -> Any:
    if m.max_norm is not None:
        return on.keep(m, "an Embedding with max_norm", x)
    return looked_up(on, x, on.tensor("weight"))


@layer(nn.EmbeddingBag)
def _embedding_bag(on: Labeller, m: Any, x: Value, offsets: Any = None, per_sample_weights: Any = None) -> Any:
    if m.max_norm is not None:
        return on.keep(m, "an EmbeddingBag with max_norm", x)
    return looked_up(on, x, on.tensor("weight"))


@layer(nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm, nn.InstanceNorm1d, nn.InstanceNorm2d,
       nn.InstanceNorm3d)
def _per_channel(on: Labeller, m: Any, x: Value) -> Any:
    if isinstance(m, _InstanceNorm) and len(x.shape) < m._get_no_batch_dim() + 1:
        return on.keep(m, "an InstanceNorm of one example alone", x)
    names = ("running_mean", "running_var", "weight", "bias")
    return rules.per_channel(on, x, *(on.tensor(name) for name in names))


@layer(nn.LayerNorm, getattr(nn, "RMSNorm", None))
def _over_last(on: Labeller, m: Any, x: Value) -> Any:
    bias = on.tensor("bias") if hasattr(m, "bias") else None
    return rules.over_last(on, x, m.normalized_shape, on.tensor("weight"), bias)


@layer(nn.GroupNorm)
def _groups(on: Labeller, m: Any, x: Value) -> Any:
    return rules.per_channel(on, x, None, None, on.tensor("weight"), on.tensor("bias"))


@layer(nn.PReLU)
def _prelu(on: Labeller, m: Any, x: Value) -> Any:
    return rules.with_slopes(on, x, on.tensor("weight"))


@layer(nn.Flatten)
def _flatten(on: Labeller, m: Any, x: Value) -> Any:
    return on.moved(x, lambda labels: labels.flatten(m.start_dim, m.end_dim))


@layer(nn.Unflatten)
def _unflatten(on: Labeller, m: Any, x: Value) -> Any:
    shape = on.node.meta["example"].shape
    return on.moved(x, lambda labels: labels.reshape(shape))


@layer(nn.Softmax, nn.LogSoftmax, nn.Softmin)
def _softmax(on: Labeller, m: Any, x: Value) -> Any:
    if m.dim is None:
        return on.opaque("has no dim", x)
    return on.mixed(x, [m.dim], "takes them together").fields


@layer(nn.Softmax2d)
def _softmax_of_channels(on: Labeller, m: Any, x: Value) -> Any:
    return on.mixed(x, [-3], "takes them together").fields


@layer(nn.GLU)
def _glu(on: Labeller, m: Any, x: Value) -> Any:
    return rules.gated(on, x, m.dim)


@layer(nn.PixelShuffle)
def _pixel_shuffle(on: Labeller, m: Any, x: Value) -> Any:
    return rules.shuffled(on, x, m.upscale_factor)


for _sides in (1, 2, 3):
    for _kind in ("MaxPool", "AvgPool", "AdaptiveAvgPool", "AdaptiveMaxPool", "LPPool", "FractionalMaxPool"):
        for _class in _known(f"{_kind}{_sides}d"):
            LAYERS[_class] = lambda on, m, x, _follow=rules.pool(_sides): _follow(on, x)


@layer(*_known("Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d"))
def _upsample(on: Labeller, m: Any, x: Value) -> Any:
    return rules.resized(on, x)


@layer(*_known(*(f"{kind}Pad{n}d" for n in (1, 2, 3)
                 for kind in ("Zero", "Constant", "Reflection", "Replication", "Circular"))))
def _pad(on: Labeller, m: Any, x: Value) -> Any:
    return on.mixed(x, range(-len(m.padding) // 2, 0), "takes neighbours together").fields


@layer(nn.LSTM, nn.GRU, nn.RNN)
def _recurrent(on: Labeller, m: Any, x: Value, hx: Any = None) -> Any:
    gates = {"LSTM": 4, "GRU": 3}.get(m.mode, 1)
    ways = 2 if m.bidirectional else 1
    cells = on.units.fresh(m.hidden_size)
    shown = on.units.fresh(m.proj_size) if m.proj_size else cells
    x.fields = on.mixed(x, range(len(x.shape) - 1), "goes through them step by step").fields
    why = on.why("joined with what is always whole")
    for level in range(m.num_layers):
        for way in ("", "_reverse")[:ways]:
            end = f"_l{level}{way}"
            for name in [f"weight_ih{end}", f"weight_hh{end}", *([f"bias_ih{end}", f"bias_hh{end}"] if m.bias else [])]:
                on.units.join(on.vector(on.tensor(name), 0), cells.repeat(gates), why)
            inputs = on.vector(on.tensor(f"weight_ih{end}"), 1)
            if level == 0:
                on.meet(x, -1, inputs)
            else:
                on.units.join(inputs, shown.repeat(ways), why)
            on.units.join(on.vector(on.tensor(f"weight_hh{end}"), 1), shown, why)
            if m.proj_size:
                on.units.join(on.vector(on.tensor(f"weight_hr{end}"), 0), shown, why)
                on.units.join(on.vector(on.tensor(f"weight_hr{end}"), 1), cells, why)
    on.made(shown)
    if m.proj_size:  # PyTorch knows a projection by its size being another one
        on.units.freeze(cells, on.why("has a projection"))
    on.taken(x, 0, -1, on.vector(x, -1))
    states = hx if isinstance(hx, tuple) else (hx,)
    for given, labels in zip(states, (shown, cells)):
        if isinstance(given, Value):
            given.fields = on.mixed(given, range(len(given.shape) - 1), "is a state").fields
            on.meet(given, -1, labels)
    out, after = on.node.meta["example"]
    made = out if isinstance(out, torch.Tensor) else out.data
    fields = [on.field(x, -1, shown.repeat(ways), made.shape)]
    if m.mode != "LSTM":
        return fields, [on.field(x, -1, shown, after.shape)]
    return fields, ([on.field(x, -1, shown, after[0].shape)], [on.field(x, -1, cells, after[1].shape)])


@layer(nn.LSTMCell, nn.GRUCell, nn.RNNCell)
def _cell(on: Labeller, m: Any, x: Value, hx: Any = None) -> Any:
    cells = on.vector(on.tensor("weight_hh"), 1)
    gates = m.weight_hh.shape[0] // m.hidden_size
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if m.bias else 2]:
        on.units.join(on.vector(on.tensor(name), 0), cells.repeat(gates), on.why("joined with what is always whole"))
    on.made(cells)
    on.meet(x, -1, on.vector(on.tensor("weight_ih"), 1))
    on.taken(x, 0, -1, on.vector(x, -1))
    for given in hx if isinstance(hx, tuple) else (hx,):
        if isinstance(given, Value):
            on.meet(given, -1, cells)
    example = on.node.meta["example"]
    if isinstance(example, tuple):
        return tuple([on.field(x, -1, cells, one.shape)] for one in example)
    return [on.field(x, -1, cells, example.shape)]


@layer(nn.MultiheadAttention)
def _attention(on: Labeller, m: Any, query: Value, key: Value, value: Value, key_padding_mask: Any = None,
               need_weights: bool = True, attn_mask: Any = None, average_attn_weights: bool = True,
               is_causal: bool = False) -> Any:
    if m.bias_k is not None or m.add_zero_attn:
        return on.keep(m, "attention with bias_k or add_zero_attn", (query, key, value))
    path = on.path
    heads = on.units.fresh(m.num_heads)
    rows = heads.repeat_interleave(m.head_dim)
    why = on.why("joined with what is always whole")
    joint = on.tensor("in_proj_weight")
    for index, (name, x) in enumerate(zip("qkv", (query, key, value))):
        x.fields = on.mixed(x, range(len(x.shape) - 1), "attends to them").fields
        weight = on.tensor(f"{name}_proj_weight") if joint is None else joint
        if joint is None:
            on.units.join(on.vector(weight, 0), rows, why)
        on.meet(x, -1, on.vector(weight, 1))
        on.taken(x, index, -1, on.vector(x, -1))
    if joint is not None:
        on.units.join(on.vector(joint, 0), rows.repeat(3), why)
    if m.in_proj_bias is not None:
        on.units.join(on.vector(on.tensor("in_proj_bias"), 0), rows.repeat(3), why)
    on.made(heads)
    out = on.own(m.out_proj.weight)
    on.units.join(on.vector(out, 1), rows, why)
    made = on.vector(out, 0)
    on.made(made, f"{path}.out_proj")
    if m.out_proj.bias is not None:
        on.units.join(on.vector(on.own(m.out_proj.bias), 0), made, why)
    fields = [on.field(query, -1, made)]
    weights = on.node.meta["example"][1]
    if weights is None:
        return fields, None
    if all(user.args[1:] == (0,) for user in on.node.users):
        return fields, []
    if average_attn_weights:
        on.units.freeze(heads, on.why("its weights are averaged over the heads"))
        return fields, []
    return fields, [on.field(query, -3, heads, weights.shape)]


# Attributes of a smaller layer, from its smaller tensors.


def resized(m: nn.Module) -> None:
    """Corrects what a layer says of its own sizes."""
    weight = getattr(m, "weight", None)
    if isinstance(m, nn.Linear):
        m.out_features, m.in_features = weight.shape
    elif isinstance(m, nn.Bilinear):
        m.out_features, m.in1_features, m.in2_features = weight.shape
    elif isinstance(m, _ConvTransposeNd):
        if m.groups > 1:
            m.groups = m.groups * weight.shape[0] // m.in_channels
        m.in_channels, m.out_channels = weight.shape[0], weight.shape[1] * m.groups
    elif isinstance(m, _ConvNd):
        if m.groups > 1:
            m.groups = m.groups * weight.shape[0] // m.out_channels
        m.out_channels, m.in_channels = weight.shape[0], weight.shape[1] * m.groups
    elif isinstance(m, (nn.Embedding, nn.EmbeddingBag)):
        m.embedding_dim = weight.shape[1]
    elif isinstance(m, (_BatchNorm, _InstanceNorm)):
        sizes = [t.shape[0] for t in (weight, m.running_mean) if t is not None]
        m.num_features = sizes[0] if sizes else m.num_features
    elif isinstance(m, nn.PReLU):
        m.num_parameters = weight.shape[0]
    elif isinstance(m, nn.RNNBase):
        gates = {"LSTM": 4, "GRU": 3}.get(m.mode, 1)
        m.hidden_size, m.input_size = m.weight_ih_l0.shape[0] // gates, m.weight_ih_l0.shape[1]
        m.proj_size = m.weight_hh_l0.shape[1] if m.proj_size else 0
    elif isinstance(m, nn.RNNCellBase):
        m.hidden_size, m.input_size = m.weight_hh.shape[1], m.weight_ih.shape[1]
