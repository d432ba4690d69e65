"""A model's flat weights as named tensors, and back."""

from __future__ import annotations

from typing import Mapping

import numpy as np

from ._core import Model, RequestError

__all__ = ["flat_weights", "named_weights"]


def named_weights(model: Model, weights: np.ndarray) -> dict[str, np.ndarray]:
    """The flat weights of a model as its tensors, with PyTorch's names and layouts: views, not copies."""
    if np.shape(weights) != (model.size,):
        raise RequestError(f"weights: of shape {list(np.shape(weights))}, but {model.name} has [{model.size}]")
    return {p.name: weights[p.offset : p.offset + p.size].reshape(p.shape) for p in model.parameters}


def flat_weights(model: Model, tensors: Mapping[str, np.ndarray]) -> np.ndarray:
    """The tensors of a model as one new flat array of float32. Others than the model's are left alone."""
    flat = np.empty(model.size, np.float32)
    for name, place in named_weights(model, flat).items():
        if name not in tensors:
            raise RequestError(f"{name}: is missing")
        values = np.asarray(tensors[name])
        if values.shape != place.shape:
            raise RequestError(f"{name}: of shape {list(values.shape)}, but {model.name} has {list(place.shape)}")
        place[...] = values
    return flat
