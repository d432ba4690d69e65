"""Layers that PyTorch cannot make smaller: attention with fewer heads, uneven groups of channels, rescaled recurrences."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import torch
from torch import nn
from torch.nn import functional as F

__all__ = ["FewerHeads", "Scale", "ScaledRecurrence", "UnevenGroups", "scaled", "recurrence"]

Runs = Sequence[tuple[int, float]]  # so many neighbouring features, and their factor


def scaled(x: torch.Tensor, axis: int, runs: Runs) -> torch.Tensor:
    """Each run of features along the axis times its factor."""
    if len(runs) == 1:
        return x * runs[0][1]
    factors = torch.cat([torch.full((count,), factor, dtype=x.dtype, device=x.device) for count, factor in runs])
    return x * factors.reshape([-1] + [1] * (x.dim() - 1 - axis % x.dim()))


class Scale:
    """A pre-hook of a layer: multiplies what it is given, but not a state."""

    def __init__(self, axes: dict[int, tuple[int, Runs]]) -> None:
        self.axes = axes  # of each argument: its axis from behind, and the factors along it

    def __call__(self, module: nn.Module, inputs: tuple) -> tuple:
        def of(index: int, value: Any) -> Any:
            if index not in self.axes:
                return value
            if isinstance(value, nn.utils.rnn.PackedSequence):
                return value._replace(data=scaled(value.data, -1, self.axes[index][1]))
            return scaled(value, *self.axes[index])

        return tuple(of(index, value) for index, value in enumerate(inputs))


class FewerHeads(nn.MultiheadAttention):
    """Attention whose heads are not as wide together as its input. PyTorch's transformer layers read `_qkv_same_embed_dim`:
    while it is False they call this forward."""

    whole_heads: int
    kept_heads: list[int]
    scales: dict[str, Runs]  # of query, key, value and what leaves the heads
    joint: bool  # whether the projections are one matrix

    def forward(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, key_padding_mask: Optional[torch.Tensor] = None,
        need_weights: bool = True, attn_mask: Optional[torch.Tensor] = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[torch.Tensor, Optional[torch.Tensor]]:
        single = query.dim() == 2
        given = [x.unsqueeze(0) if single else x if self.batch_first else x.transpose(0, 1) for x in (query, key, value)]
        given = [scaled(x, -1, self.scales[name]) if name in self.scales else x for x, name in zip(given, "qkv")]
        if self.joint:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = (F.linear(x, w, b).unflatten(2, (-1, self.head_dim)).transpose(1, 2)
                   for x, w, b in zip(given, weights, biases))
        scores = q @ k.transpose(2, 3) / self.head_dim**0.5
        if attn_mask is not None:
            if attn_mask.dim() == 3:
                attn_mask = attn_mask.unflatten(0, (-1, self.whole_heads))[:, self.kept_heads]
            scores = _masked(scores, attn_mask)
        if key_padding_mask is not None:
            padding = key_padding_mask[None] if single else key_padding_mask
            scores = _masked(scores, padding[:, None, None])
        scores = scores.softmax(3)
        made = (F.dropout(scores, self.dropout, self.training) @ v).transpose(1, 2).flatten(2)
        made = self.out_proj(scaled(made, -1, self.scales["out"]) if "out" in self.scales else made)
        made = made[0] if single else made if self.batch_first else made.transpose(0, 1)
        if not need_weights:
            return made, None
        scores = scores.mean(1) if average_attn_weights else scores
        return made, scores[0] if single else scores


def _masked(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return scores + mask if mask.is_floating_point() else scores.masked_fill(mask.bool(), float("-inf"))


class UnevenGroups(nn.GroupNorm):
    """Over the channels that are left of each of the whole model's groups."""

    sizes: list[int]

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        parts = [torch.group_norm(part, 1, None, None, self.eps) for part in input.split(self.sizes, 1) if part.shape[1]]
        made = torch.cat(parts, 1)
        if self.weight is None:
            return made
        shape = [-1] + [1] * (input.dim() - 2)
        return made * self.weight.reshape(shape) + self.bias.reshape(shape)


class ScaledRecurrence:
    """What the layers above the first one are given is multiplied; the state that a layer keeps is not."""

    between: float

    def forward(self, *inputs: Any) -> Any:
        given = self._flat_weights
        above = [name.startswith("weight_ih") and not name.startswith("weight_ih_l0") for name in self._flat_weights_names]
        self._flat_weights = [weight * self.between if up else weight for weight, up in zip(given, above)]
        try:
            return super().forward(*inputs)
        finally:
            self._flat_weights = given


class _Lstm(ScaledRecurrence, nn.LSTM):
    pass


class _Gru(ScaledRecurrence, nn.GRU):
    pass


class _Rnn(ScaledRecurrence, nn.RNN):
    pass


def recurrence(kind: type) -> type:
    return next(made for base, made in ((nn.LSTM, _Lstm), (nn.GRU, _Gru), (nn.RNN, _Rnn)) if issubclass(kind, base))
