"""Subfleet on Flower: a ServerApp that gives every node a sub-model of its own, and ClientApps that train it.

    app = subfleet.flower.server_app()              # in the server's file of a Flower app
    app = subfleet.flower.client_app(train)         # in the client's; `train` is yours
    app = subfleet.flower.trainer_client_app()      # or with Subfleet's own trainer
    app = subfleet.flower.torch_client_app(...)     # or a PyTorch module of yours

Needs `flwr` (1.41 or 1.42); nothing else of Subfleet does. docs/deploy.md shows how to run it.
"""

from .client import Job, Trained, client_app, trainer_client_app
from .server import server_app

__all__ = ["Job", "Trained", "client_app", "server_app", "torch_client_app", "trainer_client_app"]


def __getattr__(name):
    if name == "torch_client_app":  # PyTorch is imported by those who use it
        from .torch_client import torch_client_app

        return torch_client_app
    raise AttributeError(name)
