"""Runs of one's own: modules that PyTorch trains, arrays, programs that train the clients."""

import importlib.util
import pathlib
import tempfile
import unittest

import numpy as np

import subfleet
from support import config


def blobs(seed, count, features=6, classes=3):
    """Points around a corner for each class, which a small network tells apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, count)
    x = rng.normal(0, 0.6, (count, features)).astype(np.float32)
    x[np.arange(count), y] += 2
    return x, y


CLIENTS = [blobs(seed, 20 + 5 * seed) for seed in range(6)]
TEST = blobs(100, 200)


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Arrays(InFolder):
    def test_the_arrays_of_a_source_train_as_the_source_does(self):
        settings = config(run_eval_samples=0)
        data = subfleet.Data(settings)
        arrays = subfleet.Data.from_arrays([data.train(c) for c in range(data.clients)], test=data.test_set(), classes=62)
        self.assertEqual((arrays.clients, arrays.classes, arrays.input), (12, 62, (1, 28, 28)))
        theirs = subfleet.Run(settings, device="reference")
        mine = subfleet.Run(settings, fleet=subfleet.LocalFleet(settings, "reference", data=arrays), out=self.folder / "run")
        for run in (theirs, mine):
            run.train()
        np.testing.assert_array_equal(mine.weights, theirs.weights)
        self.assertEqual(mine.evaluate().correct, theirs.evaluate().correct)
        mine.close()
        with self.assertRaisesRegex(subfleet.Error, "data.source: 'arrays' are in the memory of the program"):
            subfleet.Run.resume(self.folder / "run", {"run.rounds": 6})
        fleet = subfleet.LocalFleet(settings, "reference", data=arrays)
        with subfleet.Run.resume(self.folder / "run", {"run.rounds": 5}, fleet=fleet) as longer:
            self.assertTrue(longer.train())
        other = subfleet.LocalFleet(settings, "reference", data=subfleet.Data.from_arrays(
            [data.train(c) for c in range(11, -1, -1)], test=data.test_set(), classes=62))
        with self.assertRaisesRegex(subfleet.Error, "was trained on other data"):
            subfleet.Run.resume(self.folder / "run", {"run.rounds": 6}, fleet=other)

    def test_without_a_test_set_a_part_of_each_client_is_one(self):
        data = subfleet.Data.from_arrays(CLIENTS, test_fraction=0.2)
        for client, (x, y) in enumerate(CLIENTS):
            self.assertEqual(len(data.test(client)[1]), round(0.2 * len(y)))
            self.assertEqual(len(data.train(client)[1]) + len(data.test(client)[1]), len(y))
        whole = subfleet.Data.from_arrays(CLIENTS, test=TEST)
        self.assertEqual([len(whole.train(c)[1]) for c in range(6)], [len(y) for _, y in CLIENTS])
        self.assertEqual(len(whole.test_set()[1]), 200)
        some = whole.test_set(50)
        self.assertEqual(len(some[1]), 50)
        np.testing.assert_array_equal(some[0], whole.test_set(50)[0])

    def test_what_is_wrong_is_one_line(self):
        x, y = CLIENTS[0]
        for clients, line in (
            ([], "clients: there is none"),
            ([x], r"clients\[0\]: must be a pair of arrays"),
            ([(x, y[:-1])], r"clients\[0\]: inputs must be examples by up to three axes"),
            ([(x, y), (x[:, :4], y)], r"clients\[1\]: examples of 4 x 1 x 1; the first client's are 6 x 1 x 1"),
            ([(np.full_like(x, np.nan), y)], "client 0: a value is not finite"),
            ([(x, y - 1)], "client 0: label -1 is not one of the"),
            ([("ab", y)], r"clients\[0\]: x: is no array of numbers"),
        ):
            with self.assertRaisesRegex(subfleet.Error, line) as caught:
                subfleet.Data.from_arrays(clients)
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaisesRegex(subfleet.Error, "label 2 is not one of the 2 classes"):
            subfleet.Data.from_arrays(CLIENTS, classes=2)


class Nudge:
    """A program whose clients move every weight by their number."""

    clients, classes, input, data_fingerprint, jobs_at_once = 5, 62, (1, 28, 28), 9, 2

    def train(self, jobs):
        return [(job.weights + 0.01 * job.client, 10, 1.0, 0.5) for job in jobs]

    def test(self, weights):
        return 4, 3, 2.0


class Programs(InFolder):
    def test_a_program_of_ones_own_trains_the_clients(self):
        settings = config(server_optimizer="fedavg", server_lr=1.0, round_clients=5, code_family="none", run_rounds=2)
        run = subfleet.Run(settings, fleet=subfleet.ProgramFleet(Nudge()), init=np.ones(124990), out=self.folder / "run")
        run.train()
        np.testing.assert_allclose(run.weights, 1.04, atol=1e-5)
        self.assertEqual(run.evaluate().accuracy, 0.75)
        rounds = subfleet.read_run(self.folder / "run").rounds
        self.assertEqual(list(rounds["trained"]), [5, 5])

    def test_wrong_programs_are_one_line(self):
        class Fewer(Nudge):
            def train(self, jobs):
                return []

        class Short(Nudge):
            def train(self, jobs):
                return [(job.weights[1:], 10, 1.0, 0.5) for job in jobs]

        class Words(Nudge):
            def train(self, jobs):
                return ["done" for _ in jobs]

        class NoTest(Nudge):
            def test(self, weights):
                return None

        with self.assertRaisesRegex(subfleet.Error, "its attribute 'clients' is missing"):
            subfleet.ProgramFleet(object())
        for program, line in ((Fewer, r"train\(\): must answer 2 jobs, not 0"), (Short, "trained weights"),
                              (Words, r"train\(\): must answer a job by"), (NoTest, r"test\(\): must return")):
            with self.assertRaisesRegex(subfleet.Error, line):
                subfleet.Run(config(run_eval_every=1), fleet=subfleet.ProgramFleet(program())).step()

    def test_what_a_program_raises_is_raised(self):
        class Broken(Nudge):
            def train(self, jobs):
                raise KeyError("lost")

        run = subfleet.Run(config(), fleet=subfleet.ProgramFleet(Broken()))
        self.assertRaises(KeyError, run.step)


if importlib.util.find_spec("torch") is not None:
    import torch
    from torch import nn

    from subfleet.torch import TorchModel

    class Block(nn.Module):
        """Normalised, with a shortcut and a gate: nothing of it is a layer of Subfleet's."""

        def __init__(self, width=12):
            super().__init__()
            self.enter = nn.Linear(6, width)
            self.inner = nn.Linear(width, 20, bias=False)
            self.norm = nn.BatchNorm1d(20)
            self.leave = nn.Linear(20, width)
            self.drop = nn.Dropout(0.2)
            self.out = nn.Linear(width, 3)

        def forward(self, x):
            x = torch.tanh(self.enter(x))
            x = x + self.leave(self.drop(torch.sigmoid(self.norm(self.inner(x)))))
            return self.out(x)

    SETTINGS = {"round.clients": 4, "round.epochs": 2, "run.rounds": 6, "run.eval_every": 3, "server.lr": 0.05,
                "round.client_lr": 0.1, "run.checkpoint_every": 2, "wire.up": "rot4"}  # fmt: skip

    def block(seed=3):
        torch.manual_seed(seed)
        return TorchModel(Block(), (6,))

    class Modules(InFolder):
        def test_a_module_and_arrays_become_a_run_with_all_that_it_has(self):
            net = block()
            run = net.run(CLIENTS, SETTINGS, self.folder / "run", test=TEST)
            seen = []
            self.assertTrue(run.train(lambda run, record: seen.append(record)))
            self.assertGreater(seen[-1].test_accuracy, 0.9)
            self.assertLess(seen[-1].train_loss, seen[0].train_loss)
            for file in ("report.html", "model.safetensors", "rounds.jsonl", "model.toml"):
                self.assertTrue((self.folder / "run" / file).exists(), file)
            sent = subfleet.RoundMasks(net.model, run.config, 1).submodel(0).size
            self.assertLess(seen[0].bytes_down / 4, 4 * sent + 4000)
            self.assertLess(seen[0].bytes_up, 4 * sent * 4)
            net.load(run.tested_weights)
            x, y = TEST
            right = (net.module.eval()(torch.from_numpy(x)).argmax(1).numpy() == y).mean()
            self.assertAlmostEqual(right, seen[-1].test_accuracy, places=6)
            self.assertFalse(np.array_equal(net.module.norm.running_mean.numpy(), np.zeros(20)))

        def test_the_same_bits_with_workers_and_after_a_stop(self):
            whole = block().run(CLIENTS, SETTINGS, test=TEST)
            whole.train()
            some = block().run(CLIENTS, SETTINGS, test=TEST, workers=2)
            some.train()
            np.testing.assert_array_equal(some.weights, whole.weights)
            with block().run(CLIENTS, SETTINGS, self.folder / "run", test=TEST) as run:
                run.train(lambda run, record: record.round < 3)
            with block().run(CLIENTS, None, self.folder / "run", resume=True, test=TEST) as again:
                self.assertEqual(again.round, 3)
                again.train()
                np.testing.assert_array_equal(again.weights, whole.weights)
            with self.assertRaisesRegex(subfleet.Error, "was trained on other data"):
                block().run(CLIENTS[::-1], {"run.rounds": 9}, self.folder / "run", resume=True, test=TEST)

        def test_a_search_of_its_rate_begins_with_the_modules_weights(self):
            settings = {**SETTINGS, "run.rounds": 9, "tune.target": 0.9, "tune.window": 1, "tune.steps": 1, "tune.max_rounds": 9}
            found = block().tune(CLIENTS, settings, self.folder / "search")
            self.assertEqual(found.outcome, "found")
            best = found.candidates[found.best]
            fleet = block().fleet(CLIENTS)
            config = subfleet.Config({"code.family": "balanced", **settings, "server.lr": best.value, "model.file": self.folder / "search/model.toml"})
            np.testing.assert_array_equal(subfleet.Run(config, fleet=fleet).weights, block().weights())

        def test_a_regression_with_a_loss_of_ones_own(self):
            torch.manual_seed(0)
            net = TorchModel(nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 2)), (6,))
            pairs = [(x, np.stack([x.sum(1), x[:, 0]], 1)) for x, _ in CLIENTS]
            run = net.run(pairs, {**SETTINGS, "run.rounds": 12, "round.client_lr": 0.02}, test=pairs[0],
                          loss=nn.functional.mse_loss, right=lambda outputs, y: (outputs - y).abs().lt(1).float().mean())
            before = run.evaluate()
            run.train()
            self.assertLess(run.evaluate().loss, before.loss / 2)
            self.assertGreater(run.evaluate().accuracy, before.accuracy)

        def test_several_inputs(self):
            class Two(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.a, self.b, self.out = nn.Linear(4, 8), nn.Linear(2, 10), nn.Linear(18, 3)

                def forward(self, a, b):
                    return self.out(torch.cat([self.a(a).relu(), self.b(b).relu()], 1))

            torch.manual_seed(0)
            pairs = [((x[:, :4], x[:, 4:]), y) for x, y in CLIENTS]
            net = TorchModel(Two(), (torch.zeros(2, 4), torch.zeros(2, 2)))
            run = net.run(pairs, SETTINGS, test=pairs[0])
            run.train()
            self.assertGreater(run.evaluate().accuracy, 0.8)

        def test_frozen_layers_do_not_travel(self):
            module = Block()
            module.enter.requires_grad_(False)
            net = TorchModel(module, (6,))
            self.assertFalse([p.name for p in net.model.parameters if p.name.startswith("enter")])
            before = module.enter.weight.clone()
            run = net.run(CLIENTS, SETTINGS)
            run.train()
            net.load(run.weights)
            self.assertTrue(torch.equal(module.enter.weight, before))

        def test_what_is_wrong_is_one_line(self):
            net, (x, y) = block(), CLIENTS[0]
            for clients, more, line in (
                ([], {}, "clients: there is none"),
                ([x], {}, r"clients\[0\]: "),
                ([(x, y[:-1])], {}, r"clients\[0\]: 20 examples and 19 answers"),
                ([(x, y), (x, "a")], {}, r"clients\[1\]: is no array of numbers"),
                (CLIENTS, {"workers": 2, "loss": lambda outputs, y: None}, "loss: goes to the worker processes"),
                (CLIENTS, {"devices": "cuda:77"}, "devices: PyTorch has no 'cuda:77' here"),
                (CLIENTS, {"settings": {"round.flip": True}}, "round.flip"),
                (CLIENTS, {"settings": {"round.clients": 7}}, "round.clients: 7 per round, but there are only 6"),
            ):
                with self.assertRaisesRegex(subfleet.Error, line) as caught:
                    net.run(clients, more.pop("settings", SETTINGS), **more)
                self.assertNotIn("\n", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
