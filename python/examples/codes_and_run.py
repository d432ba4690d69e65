"""A code book and its quality, a run with a callback, and its folder as arrays."""

import tempfile

import subfleet

book = subfleet.code_book("gold", rows=35, length=64, seed=1, round=1)
print(subfleet.code_quality(book))

config = subfleet.Config({"model.name": "emnist-mlp", "code.family": "gold", "data.writers": 60, "round.clients": 10})
config.update({"run.rounds": 20, "run.eval_every": 5, "run.eval_samples": 500, "server.lr": 0.02})
with tempfile.TemporaryDirectory() as folder:
    run = subfleet.Run(config, out=f"{folder}/gold")
    run.train(callback=lambda run, record: record.test_accuracy and print(record))

    rounds = subfleet.read_run(f"{folder}/gold").rounds
    megabytes = (rounds["bytes_down"] + rounds["bytes_up"]).sum() / 1e6
    print(f"{rounds['test_accuracy'][-1]:.1%} after {megabytes:.0f} MB; {run.evaluate()}")
