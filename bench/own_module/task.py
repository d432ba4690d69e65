"""What bench/own_module_flower.py gives to both: a module, and arrays by client. Not counted as anybody's code."""

import functools
import os

import numpy as np
import torch
from torch import nn


def net():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding=2), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1568, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


@functools.cache
def arrays():
    with np.load(os.environ["OWN_MODULE_ARRAYS"]) as file:
        return dict(file)


def clients():
    """A pair of arrays (x, y) for each client."""
    return list(zip(arrays()["x"], arrays()["y"]))


def test():
    return arrays()["test_x"], arrays()["test_y"]


if "OWN_MODULE_IN_ORDER" in os.environ:  # the check: nobody shuffles
    torch.randperm = torch.arange
