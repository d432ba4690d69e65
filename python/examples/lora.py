"""Fine-tuning with adapters: the module is frozen, only the adapters travel, and each client holds a part of their ranks."""

import torch
from torch import nn

import subfleet
from subfleet.torch import TorchModel


class Adapted(nn.Module):
    """A frozen layer, and what a product of two thin ones adds to it."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Linear(layer.in_features, rank, bias=False)
        self.up = nn.Linear(rank, layer.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + self.up(self.down(x))


def main() -> None:
    data = subfleet.Data(subfleet.Config({"data.writers": 40}))
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 62))
    settings = {"round.clients": 8, "run.rounds": 20, "run.eval_every": 20, "server.lr": 0.02}
    first = TorchModel(net, data.input).run(data, settings)
    first.train()
    print(f"the whole network: {first.model.size} weights, {first.evaluate().accuracy:.1%}")

    TorchModel(net, data.input).load(first.weights)  # and from here on it is frozen
    for number in (1, 3, 5):
        net[number] = Adapted(net[number].requires_grad_(False), rank=16)
    adapters = TorchModel(net, data.input, droppable=["1.down", "3.down", "5.down"])
    run = adapters.run(data, settings)
    before = run.evaluate().accuracy
    run.train()
    sent = subfleet.RoundMasks(run.model, run.config, round=1).submodel(row=0).size
    print(f"adapters: {run.model.size} weights, {sent} for a client, {before:.1%} before and {run.evaluate().accuracy:.1%} after")


if __name__ == "__main__":
    main()
