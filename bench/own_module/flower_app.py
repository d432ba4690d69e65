import task
import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAdam, FedAvg  # noqa: F401
from flwr.simulation import run_simulation
from torch.nn.functional import cross_entropy

client_app = ClientApp()
server_app = ServerApp()


@client_app.train()
def train(message: Message, context: Context) -> Message:
    net = task.net()
    net.load_state_dict(message.content["arrays"].to_torch_state_dict())
    x, y = map(torch.from_numpy, task.clients()[context.node_config["partition-id"]])
    sgd = torch.optim.SGD(net.parameters(), lr=message.content["config"]["lr"])
    net.train()
    total = 0.0
    for rows in torch.randperm(len(y)).split(10):
        sgd.zero_grad()
        loss = cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        sgd.step()
        total += loss.item() * len(rows)
    metrics = MetricRecord({"train_loss": total / len(y), "num-examples": len(y)})
    return Message(RecordDict({"arrays": ArrayRecord(net.state_dict()), "metrics": metrics}), reply_to=message)


def test(server_round: int, arrays: ArrayRecord) -> MetricRecord:
    net = task.net()
    net.load_state_dict(arrays.to_torch_state_dict())
    x, y = map(torch.from_numpy, task.test())
    with torch.no_grad():
        outputs = net.eval()(x)
    return MetricRecord({"accuracy": (outputs.argmax(1) == y).float().mean().item(), "loss": cross_entropy(outputs, y).item()})


@server_app.main()
def main(grid: Grid, context: Context) -> None:
    strategy = FedAvg(fraction_train=0.5, fraction_evaluate=0.0, min_train_nodes=10, min_available_nodes=20)
    result = strategy.start(grid, ArrayRecord(task.net().state_dict()), 20, train_config=ConfigRecord({"lr": 0.035}), evaluate_fn=test)
    torch.save(result.arrays.to_torch_state_dict(), "final_model.pt")


if __name__ == "__main__":
    resources = {"init_args": {"num_cpus": 2}, "client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
    run_simulation(server_app, client_app, num_supernodes=20, backend_config=resources)
