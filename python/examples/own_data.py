"""From a module and arrays to runs/own_data/report.html: each client trains a different part of the network."""

import subfleet
from torch import nn

from subfleet.torch import TorchModel

if __name__ == "__main__":  # the workers import this file
    data = subfleet.Data(subfleet.Config({"data.writers": 60}))  # put yours here:
    clients, test = [data.train(client) for client in range(data.clients)], data.test_set()  # a pair of arrays (x, y) each
    net = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(4),
                        nn.Flatten(), nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 62))  # fmt: skip
    settings = {"round.clients": 10, "round.client_lr": 0.1, "run.rounds": 40, "server.optimizer": "fedavg", "code.keep": 0.75}
    run = TorchModel(net, input=(1, 28, 28)).run(clients, settings, out="runs/own_data", test=test, workers=2)
    run.train(progress=True)
