"""A ClientApp that trains in PyTorch."""

from typing import Callable

import numpy as np
from flwr.clientapp import ClientApp

from ..torch import train_job
from .client import job_app


def torch_client_app(
    data: Callable[[int], tuple], *, input: tuple, classes: int, examples: int = 0, device: str = "cpu"
) -> ClientApp:
    """A ClientApp that trains its sub-models in PyTorch, by SGD, as Subfleet's own trainers do.

    `data(client)` returns the inputs and the labels of a client as numpy arrays, one example per row; the rest is as in
    client_app().
    """

    def answer(message, context) -> bytes:
        inputs, labels = data(message.client)
        return train_job(message, np.asarray(inputs, np.float32), np.asarray(labels), device).encode()

    return job_app(answer, lambda context: (tuple(input), classes), lambda context, client: examples)
