"""A model of Subfleet's, whole or a client's, as a PyTorch module."""

from __future__ import annotations

from typing import Callable, Sequence

import torch
from torch import nn
from torch.nn import functional as F

from .._core import Layer, Model, RequestError

__all__ = ["Network"]


class Network(nn.Module):
    """Its children have the names of the layers. It gives a row of logits for each example or, where a model has them at
    every step of a sequence, classes x steps. Between layers, values are examples x channels x height x width."""

    def __init__(self, model: Model, channel_groups: Sequence[Sequence[int]] = ()) -> None:
        """`channel_groups`: SubModel.channel_groups of a client's part."""
        super().__init__()
        groups = iter(channel_groups)
        self._layers = []
        for index, layer in enumerate(model.layers):
            shape = model.shapes[model.inputs[index][0]]
            ends = next(groups, None) if layer.type == "groupnorm" else None
            module = _made(layer, shape, ends)
            self.add_module(layer.name or f"{layer.type}-{index + 1}", module)
            self._layers.append((model.inputs[index], layer.input_scale, layer.output_scale))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = [x]
        for module, (inputs, input_scale, output_scale) in zip(self.children(), self._layers):
            read = [values[index] * input_scale if input_scale != 1 else values[index] for index in inputs]
            made = module(*read)
            values.append(made * output_scale if output_scale != 1 else made)
        logits = values[-1].flatten(2)
        return logits if logits.shape[2] > 1 and values[-1].shape[3] == 1 else logits.flatten(1)


class _OfSteps(nn.Module):
    """What it does, it does with examples x steps x features."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.steps(x.flatten(2).transpose(1, 2)).transpose(1, 2).unsqueeze(3)


class _Dense(_OfSteps, nn.Linear):
    def steps(self, x: torch.Tensor) -> torch.Tensor:
        return nn.Linear.forward(self, x)


class _LayerNorm(_OfSteps, nn.LayerNorm):
    def steps(self, x: torch.Tensor) -> torch.Tensor:
        return nn.LayerNorm.forward(self, x)


class _Embedding(nn.Embedding):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x).transpose(1, 2).unsqueeze(3)


class _Lstm(_OfSteps, nn.LSTM):
    last_step = False

    def steps(self, x: torch.Tensor) -> torch.Tensor:
        made = nn.LSTM.forward(self, x)[0]
        return made[:, -1:] if self.last_step else made


class _Gru(_OfSteps, nn.GRU):
    last_step = False

    def steps(self, x: torch.Tensor) -> torch.Tensor:
        made = nn.GRU.forward(self, x)[0]
        return made[:, -1:] if self.last_step else made


class _Attention(_OfSteps):
    """Up to the heads' outputs side by side."""

    def __init__(self, width: int, heads: int, head_units: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.head_units, self.causal = heads, head_units, causal
        rows = 3 * heads * head_units
        self.in_proj_weight = nn.Parameter(torch.empty(rows, width))
        self.in_proj_bias = nn.Parameter(torch.zeros(rows))
        nn.init.xavier_uniform_(self.in_proj_weight)

    def steps(self, x: torch.Tensor) -> torch.Tensor:
        examples, steps, _ = x.shape
        projected = F.linear(x, self.in_proj_weight, self.in_proj_bias)
        q, k, v = projected.reshape(examples, steps, 3, self.heads, self.head_units).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(2, 3) / self.head_units**0.5
        if self.causal:
            later = torch.ones(steps, steps, dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        return (scores.softmax(3) @ v).transpose(1, 2).reshape(examples, steps, -1)


class _GroupNorm(nn.Module):
    """Over channels whose groups need not be equally large, nor have any."""

    def __init__(self, channels: int, ends: Sequence[int]) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.ends = list(ends)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        begins = [0, *self.ends[:-1]]
        parts = [F.group_norm(x[:, a:b], 1) for a, b in zip(begins, self.ends) if a < b]
        return torch.cat(parts, 1) * self.weight[:, None, None] + self.bias[:, None, None]


class _Position(_OfSteps):
    def __init__(self, steps: int, units: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(steps, units))
        nn.init.xavier_uniform_(self.weight)

    def steps(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight


class _Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * x


class _Add(nn.Module):
    def forward(self, *values: torch.Tensor) -> torch.Tensor:
        return sum(values[1:], values[0])


class _Flatten(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1)[:, :, None, None]


Sides = "tuple[int, int, int]"


def _conv2d(layer: Layer, shape: Sides) -> nn.Module:
    padding = layer.kernel // 2 if layer.padding is None else layer.padding
    return nn.Conv2d(shape[0], layer.units, layer.kernel, layer.stride, padding, groups=layer.groups, bias=layer.bias)


def _recurrent(kind: type) -> Callable[[Layer, Sides], nn.Module]:
    def make(layer: Layer, shape: Sides) -> nn.Module:
        module = kind(shape[0], layer.units, batch_first=True)
        module.last_step = layer.last_step
        return module

    return make


def _pool(kind: type) -> Callable[[Layer, Sides], nn.Module]:
    def make(layer: Layer, shape: Sides) -> nn.Module:
        if layer.kernel == 0:
            return nn.AdaptiveAvgPool2d(1)
        return kind(layer.kernel, layer.pool_stride or layer.kernel, layer.padding or 0)

    return make


_MAKERS: dict[str, Callable[[Layer, Sides], nn.Module]] = {
    "add": lambda layer, shape: _Add(),
    "attention": lambda layer, shape: _Attention(shape[0], layer.units, layer.head_units, layer.causal),
    "avgpool": _pool(nn.AvgPool2d),
    "conv2d": _conv2d,
    "dense": lambda layer, shape: _Dense(shape[0], layer.units, bias=layer.bias),
    "embedding": lambda layer, shape: _Embedding(layer.symbols, layer.units),
    "flatten": lambda layer, shape: _Flatten(),
    "gelu": lambda layer, shape: nn.GELU(),
    "gru": _recurrent(_Gru),
    "layernorm": lambda layer, shape: _LayerNorm(shape[0]),
    "lstm": _recurrent(_Lstm),
    "maxpool": _pool(nn.MaxPool2d),
    "position": lambda layer, shape: _Position(shape[1], shape[0]),
    "relu": lambda layer, shape: nn.ReLU(),
    "scale": lambda layer, shape: _Scale(),
    "sigmoid": lambda layer, shape: nn.Sigmoid(),
    "silu": lambda layer, shape: nn.SiLU(),
    "tanh": lambda layer, shape: nn.Tanh(),
}


def _made(layer: Layer, shape: Sides, ends: Sequence[int] | None) -> nn.Module:
    if layer.type == "groupnorm":
        size = shape[0] // layer.groups
        return _GroupNorm(shape[0], ends or range(size, shape[0] + 1, size))
    if layer.type not in _MAKERS:
        raise RequestError(f"{layer.type}: this type of layer is not known to subfleet.torch")
    return _MAKERS[layer.type](layer, shape)
