"""Coded federated dropout of one's own PyTorch module: every client trains a different half of its hidden units."""

import torch
from torch import nn

import subfleet
from subfleet.torch import TorchModel, train_locally

config = subfleet.Config({"code.family": "balanced", "round.clients": 8, "data.writers": 40})
data = subfleet.Data(config)
test_x, test_y = data.test_set(500)
torch.manual_seed(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 90), nn.ReLU(), nn.Linear(90, 62))
federated = TorchModel(net, input=data.input)  # federated.model is the spec; net stays the whole model
weights = federated.weights()
optimizer = subfleet.ServerOptimizer("fedadam", weights.size, lr=0.02)
for round in range(1, 21):
    masks = subfleet.RoundMasks(federated.model, config, round)
    updates = subfleet.PartialSum(weights.size)
    for row, client in enumerate(subfleet.sample_clients(config, round, data.clients)):
        x, y = data.train(client)
        submodel = masks.submodel(row, client)
        module = federated.client_module(submodel, weights)  # genuinely smaller
        orders = subfleet.example_orders(config, round, client, len(y))
        train_locally(module, federated.as_input(x), torch.from_numpy(y).long(), lr=0.1, batch=10, orders=orders)
        federated.merge(updates, submodel, weights, module.state_dict(), len(y))
    optimizer.step(weights, updates)
    federated.load(weights)
    if round % 5 == 0:
        right = net(torch.from_numpy(test_x)).argmax(1).numpy() == test_y
        print(f"round {round}: test accuracy {right.mean():.1%}")
