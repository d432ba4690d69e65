import task

from subfleet.torch import TorchModel

if __name__ == "__main__":
    settings = {"round.clients": 10, "round.batch": 10, "round.client_lr": 0.035, "run.rounds": 20, "run.eval_every": 1}
    settings |= {"server.optimizer": "fedavg", "server.lr": 1.0, "code.family": "none"}
    run = TorchModel(task.net(), input=(1, 28, 28)).run(task.clients(), settings, out="run", test=task.test(), workers=2)
    run.train(progress=True)
