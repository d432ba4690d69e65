"""Modules of one's own in PyTorch, beside the C++ trainers."""

import importlib.util
import pathlib
import tempfile
import unittest

import numpy as np

import subfleet
from support import config

if importlib.util.find_spec("torch") is None:
    raise unittest.SkipTest("PyTorch is not installed")

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import prune

from subfleet.torch import TorchModel, as_input, layered_model, module_of, train_job, train_locally


class Mixed(nn.Module):
    """Not in the zoo: nested modules, functions, a stride, dropout that does nothing, a global mean."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 12, 3, stride=2, padding=1))
        self.mix = nn.Conv2d(12, 16, 1)
        self.drop = nn.Dropout(0.0)
        self.hidden = nn.Linear(16 * 9, 30)
        self.out = nn.Linear(30, 62)

    def forward(self, x):
        x = F.relu(self.features(x))
        x = F.max_pool2d(torch.relu(self.mix(x)), 2)
        x = x.view(x.size(0), -1)
        return self.out(self.drop(self.hidden(x).relu()))


class Averaging(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding="same")
        self.second = nn.Conv2d(4, 10, 3, padding=1, stride=2)
        self.last = nn.Linear(10, 62)

    def forward(self, x):
        x = F.adaptive_avg_pool2d(F.relu(self.second(F.relu(self.first(x)))), 1)
        return self.last(torch.flatten(x, 1))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.symbols = nn.Embedding(81, 8)
        self.read = nn.LSTM(8, 12, batch_first=True)
        self.again = nn.LSTM(12, 10, batch_first=True)
        self.out = nn.Linear(10, 81)

    def forward(self, x):
        x = self.again(self.read(self.symbols(x))[0])[0]
        return self.out(x[:, -1])


def text_folder(folder):
    rng = np.random.default_rng(3)
    for client in range(5):
        words = rng.choice(["to be ", "or not ", "that is ", "the question "], 40)
        (folder / f"client{client}.txt").write_text("".join(words))
    return {"data.source": "text", "data.path": str(folder)}


class AgainstTheTrainer(unittest.TestCase):
    """One round from the same weights, data and orders: the server's step of fedavg with rate 1 is the mean update."""

    def setUp(self):
        torch.manual_seed(0)
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def compare(self, module, **more):
        settings = config(code_family="balanced", round_client_lr=0.1, server_optimizer="fedavg", server_lr=1.0,
                          server_beta1=0.0, run_rounds=1, **more)
        data = subfleet.Data(settings)
        layered = layered_model(module, data.input)
        federated = TorchModel(module, data.input)
        weights = federated.weights()

        (self.folder / "module.toml").write_text(layered.toml())
        settings["model.name"] = "emnist-cnn"  # the default, which a file replaces
        settings["model.file"] = self.folder / "module.toml"
        run = subfleet.Run(settings, device="reference")
        run.set_weights(weights)
        record = run.step()

        masks = subfleet.RoundMasks(federated.model, settings, 1)
        layered_masks = subfleet.RoundMasks(layered, settings, 1)
        updates = subfleet.PartialSum(weights.size)
        losses, examples = [], []
        for row, client in enumerate(subfleet.sample_clients(settings, 1, data.clients)):
            x, y = data.train(client)
            submodel = masks.submodel(row, client)
            np.testing.assert_array_equal(submodel.indices(), layered_masks.submodel(row, client).indices())
            small = federated.client_module(submodel, weights)
            self.assertEqual(sum(p.numel() for p in small.parameters()), submodel.size)
            orders = subfleet.example_orders(settings, 1, client, len(y))
            loss, _ = train_locally(
                small, federated.as_input(x), torch.from_numpy(y).long(), 0.1, settings["round.batch"], orders,
                momentum=settings["round.momentum"], weight_decay=settings["round.weight_decay"],
                proximal=settings["round.proximal"])
            self.assertTrue(federated.merge(updates, submodel, weights, small.state_dict(), len(y)))
            losses.append(loss)
            examples.append(len(y))

            job = subfleet.JobMessage(layered, settings, 1, row, client, weights)
            answer = train_job(job, x, y)
            flat = subfleet.Codec("f32").decode(answer.update, submodel.size)
            mine = updates_of(federated, submodel, weights, small)
            np.testing.assert_allclose(flat, mine, atol=2e-4 * np.abs(mine).max())

        theirs, mine = run.weights - weights, updates.mean()
        self.assertGreater(np.abs(mine).max(), 1e-3)
        np.testing.assert_allclose(theirs, mine, atol=2e-4 * np.abs(mine).max())
        self.assertTrue((updates.holders[mine != 0] > 0).all())
        self.assertLess(abs(np.average(losses, weights=examples) - record.train_loss), 1e-4)

    def test_convolutions_and_dense_layers(self):
        self.compare(Mixed())

    def test_momentum_weight_decay_and_fedprox(self):
        self.compare(Mixed(), round_momentum=0.5, round_weight_decay=0.01, round_proximal=0.1)

    def test_not_rescaled_with_tiers_and_epochs(self):
        self.compare(Mixed(), code_rescale=False, code_tiers=[1.0, 0.5], code_keep=0.75, round_epochs=2)

    def test_a_global_mean(self):
        self.compare(Averaging(), round_shuffle=False)

    def test_an_lstm(self):
        self.compare(Reader(), **{k.replace(".", "_", 1): v for k, v in text_folder(self.folder).items()})


RESIDUAL = """
input = [1, 28, 28]
layer = [
  { type = "maxpool", kernel = 3, stride = 3, padding = 1 },
  { type = "conv2d", units = 8, kernel = 3, bias = false },
  { type = "groupnorm", groups = 2 },
  { type = "relu", name = "stem" },
  { type = "conv2d", units = 12, kernel = 3, stride = 2, bias = false },
  { type = "groupnorm", groups = 3 },
  { type = "silu" },
  { type = "conv2d", units = 12, kernel = 3, groups = 12 },
  { type = "conv2d", units = 10, kernel = 1 },
  { type = "scale", name = "branch" },
  { type = "conv2d", name = "shortcut", units = 10, kernel = 1, stride = 2, inputs = "stem" },
  { type = "add", inputs = ["shortcut", "branch"] },
  { type = "gelu" },
  { type = "avgpool", kernel = 2 },
  { type = "flatten" },
  { type = "dense", units = 62 },
]
"""
TRANSFORMER = """
input = [1, 80, 1]
layer = [
  { type = "embedding", name = "embedding", units = 12, symbols = 81, droppable = true },
  { type = "position", name = "position" },
  { type = "layernorm" },
  { type = "attention", heads = 3, head_units = 5, causal = true },
  { type = "dense", name = "branch", units = 12, droppable = true },
  { type = "add", name = "middle", inputs = ["position", "branch"] },
  { type = "layernorm" },
  { type = "dense", units = 16 },
  { type = "tanh" },
  { type = "dense", name = "last", units = 12, droppable = true },
  { type = "add", inputs = ["middle", "last"] },
  { type = "gru", units = 14 },
  { type = "dense", units = 81 },
]
"""


class Networks(unittest.TestCase):
    """A round of Subfleet's own trainers beside the same jobs, trained in PyTorch."""

    def compare(self, text, **more):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "network.toml"
            path.write_text(text)
            if "embedding" in text:
                (pathlib.Path(folder) / "texts").mkdir()
                for key, value in text_folder(pathlib.Path(folder) / "texts").items():
                    more[key.replace(".", "_", 1)] = value
            settings = config(code_family="balanced", round_client_lr=0.1, server_optimizer="fedavg", server_lr=1.0,
                              server_beta1=0.0, run_rounds=1, **more)
            settings["model.name"] = "emnist-cnn"  # the default, which a file replaces
            settings["model.file"] = path
            self.compare_run(settings)

    def compare_run(self, settings):
        data = subfleet.Data(settings)
        for device, limit in (("reference", 2e-4), ("cpu", 2e-3)):
            run = subfleet.Run(settings, device=device)
            weights = run.weights + np.random.default_rng(1).uniform(-0.05, 0.05, run.weights.size).astype(np.float32)
            run.set_weights(weights)
            record = run.step()
            masks, updates = subfleet.RoundMasks(run.model, settings, 1), subfleet.PartialSum(weights.size)
            losses, accuracies, examples = [], [], []
            for row, client in enumerate(subfleet.sample_clients(settings, 1, data.clients)):
                answer = train_job(subfleet.JobMessage(run.model, settings, 1, row, client, weights), *data.train(client))
                submodel = masks.submodel(row, client)
                update = subfleet.Codec("f32").decode(answer.update, submodel.size)
                self.assertTrue(updates.add(submodel, update, answer.examples))
                losses.append(answer.loss)
                accuracies.append(answer.accuracy)
                examples.append(answer.examples)
            theirs, mine = run.weights - weights, updates.mean()
            self.assertGreater(np.abs(mine).max(), 1e-3)
            np.testing.assert_allclose(theirs, mine, atol=limit * np.abs(mine).max(), err_msg=device)
            self.assertLess(abs(np.average(losses, weights=examples) - record.train_loss), 1e-4)
            self.assertAlmostEqual(np.median(accuracies), record.train_accuracy_median, delta=0.02)

    def test_residual_normalised_and_depthwise(self):
        self.compare(RESIDUAL)
        self.compare(RESIDUAL, round_flip=True, round_crop=3, round_epochs=2, code_tiers=[1.0, 0.5])

    def test_a_transformer_with_a_loss_at_every_step(self):
        self.compare(TRANSFORMER)
        self.compare(TRANSFORMER, code_rescale=False, code_keep=0.7)


def updates_of(federated, submodel, weights, small):
    alone = subfleet.PartialSum(weights.size)
    assert federated.merge(alone, submodel, weights, small.state_dict(), 1)
    return alone.mean()[submodel.indices()]


class Modules(unittest.TestCase):
    def test_the_whole_module_is_its_own_sub_module(self):
        module = Mixed()
        federated = TorchModel(module, (1, 28, 28), name="mixed")
        self.assertEqual(federated.model.name, "mixed")
        self.assertEqual(federated.model.droppable, ["features_3", "mix", "hidden"])
        x = torch.randn(3, 1, 28, 28)
        same = federated.client_module(subfleet.whole_model(federated.model), federated.weights())
        self.assertTrue((same(x) == module(x)).all())
        federated.load(federated.weights() * 2)
        self.assertTrue((module.out.weight == 2 * same.out.weight).all())

    def test_every_model_of_the_zoo_is_a_module(self):
        for name in subfleet.model_names():
            model = subfleet.Model(name)
            module = module_of(model)
            x = as_input(model, np.zeros((2, *model.input), np.float32))
            steps = (80,) if name == "char-transformer" else ()
            self.assertEqual(tuple(module(x).shape), (2, model.classes, *steps), name)
            self.assertEqual([n for n, _ in module.named_parameters()], [p.name for p in model.parameters], name)

    def test_what_is_droppable_can_be_chosen(self):
        self.assertEqual(TorchModel(Mixed(), (1, 28, 28), droppable=["hidden"]).model.droppable, ["hidden"])
        with self.assertRaisesRegex(subfleet.Error, "no group of units is called 'hiden'"):
            TorchModel(Mixed(), (1, 28, 28), droppable=["hiden"])
        with self.assertRaisesRegex(subfleet.Error, "droppable: out is always whole: "):
            TorchModel(Mixed(), (1, 28, 28), droppable=["out"])
        self.assertEqual(layered_model(Mixed(), (1, 28, 28), droppable=["hidden"]).droppable, ["hidden"])

    def test_layers_that_are_frozen_stay_frozen(self):
        module = Mixed()
        module.mix.requires_grad_(False)
        federated = TorchModel(module, (1, 28, 28))
        sub = subfleet.RoundMasks(federated.model, config(code_family="balanced"), 1).submodel(0)
        small = federated.client_module(sub, federated.weights())
        self.assertEqual({name for name, p in small.named_parameters() if not p.requires_grad}, {"mix.weight", "mix.bias"})
        before = {name: p.detach().clone() for name, p in small.named_parameters()}
        x, y = torch.rand(10, 1, 28, 28), torch.randint(62, (10,))
        train_locally(small, x, y, 0.1, 5, [np.arange(10)])
        for name, p in small.named_parameters():
            self.assertEqual(torch.equal(p, before[name]), name.startswith("mix."), name)

    def test_modules_of_other_types(self):
        plain = Mixed()
        for dtype in (torch.float64, torch.bfloat16):
            module = Mixed().to(dtype)
            federated = TorchModel(module, (1, 28, 28))
            sub = subfleet.RoundMasks(federated.model, config(code_family="balanced"), 1).submodel(0)
            small = federated.client_module(sub, federated.weights())
            self.assertEqual(next(small.parameters()).dtype, dtype)
            sums = subfleet.PartialSum(federated.model.size)
            self.assertTrue(federated.merge(sums, sub, federated.weights(), small.state_dict(), 3))
            federated.load(TorchModel(plain, (1, 28, 28)).weights())
            torch.testing.assert_close(module.out.bias.float(), plain.out.bias, atol=1e-2, rtol=1e-2)

    def test_droppable_layers_have_the_model_s_names_or_the_module_s(self):
        names = TorchModel(Mixed(), (1, 28, 28)).model.droppable
        self.assertIn("features_3", names)
        for droppable in (names, ["features.3", *names[1:]]):
            self.assertEqual(TorchModel(Mixed(), (1, 28, 28), droppable=droppable).model.droppable, names)

    def test_tensors_of_every_number_of_axes(self):
        class Odd(Mixed):
            def __init__(self):
                super().__init__()
                self.factor = nn.Parameter(torch.tensor(2.0))
                self.shift = nn.Parameter(torch.randn(1, 1, 30))

            def forward(self, x):
                x = F.max_pool2d(torch.relu(self.mix(F.relu(self.features(x)))), 2).flatten(1)
                return self.out((self.hidden(x) + self.shift[0]).relu()) * self.factor

        federated = TorchModel(Odd(), (1, 28, 28))
        shapes = {p.name: p.shape for p in federated.model.parameters}
        self.assertEqual((shapes["factor"], shapes["shift"]), ((), (1, 1, 30)))
        sub = subfleet.RoundMasks(federated.model, config(code_family="balanced"), 1).submodel(0)
        small = federated.client_module(sub, federated.weights())
        self.assertEqual((tuple(small.shift.shape), float(small.factor)), ((1, 1, 15), 2.0))
        torch.testing.assert_close(small.shift[0, 0], federated.module.shift[0, 0, sub.kept[-1]])
        sums = subfleet.PartialSum(federated.model.size)
        self.assertTrue(federated.merge(sums, sub, federated.weights() * 0, small.state_dict(), 2))
        self.assertEqual(int((sums.holders > 0).sum()), sub.size)

    def test_no_two_groups_have_one_name(self):
        class Names(nn.Module):
            def __init__(self):
                super().__init__()
                self.a_b, self.a, self.out = nn.Linear(784, 20), nn.Sequential(), nn.Linear(40, 62)
                self.a.b = nn.Linear(784, 20)

            def forward(self, x):
                x = x.flatten(1)
                return self.out(torch.cat([self.a_b(x).relu(), self.a.b(x).relu()], 1))

        model = TorchModel(Names(), (1, 28, 28), droppable=["a_b", "a.b"]).model
        self.assertEqual(model.droppable, ["a_b", "a_b-2"])

    def test_trained_tensors_that_are_missing(self):
        federated = TorchModel(Mixed(), (1, 28, 28))
        weights = federated.weights()
        sums, whole = subfleet.PartialSum(weights.size), subfleet.whole_model(federated.model)
        self.assertFalse(federated.merge(sums, whole, weights, Mixed().state_dict(), 0))
        state = {key: value for key, value in Mixed().state_dict().items() if key != "mix.bias"}
        with self.assertRaisesRegex(subfleet.Error, "mix.bias: is missing"):
            federated.merge(sums, whole, weights, state, 3)

    def test_what_subfleets_layers_cannot_say_is_refused_in_one_line(self):
        class Branches(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(784, 62), nn.Linear(784, 62)

            def forward(self, x):
                x = x.flatten(1)
                return self.a(x) + self.b(x)

        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(784, 784)

            def forward(self, x):
                return self.a(self.a(x.flatten(1)))

        class Sized(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Conv2d(1, 4, 3, padding=1), nn.Linear(4 * 784, 62)

            def forward(self, x):
                return self.b(self.a(x).view(-1, 4 * 784))

        class Deciding(Sized):
            def forward(self, x):
                return self.b(x) if x.sum() > 0 else self.a(x)

        class AllSteps(Reader):
            def __init__(self):
                super().__init__()
                self.out = nn.Linear(20 * 12, 81)

            def forward(self, x):
                return self.out(self.read(self.symbols(x))[0].flatten(1))

        flat = nn.Flatten()
        hooked = nn.Linear(784, 62)
        hooked.register_forward_hook(lambda *_: None)
        pruned = nn.Linear(784, 62)
        prune.l1_unstructured(pruned, "weight", 0.5)
        normed = nn.utils.weight_norm(nn.Linear(784, 62))
        tied = nn.Sequential(flat, nn.Linear(784, 784), nn.ReLU(), nn.Linear(784, 784))
        tied[3].weight = tied[1].weight
        for module, line in (
            (nn.Sequential(flat, hooked), "has hooks"),
            (nn.Sequential(flat, pruned), "has hooks"),
            (nn.Sequential(flat, normed), "has hooks"),
            (tied, "3.weight is the same tensor as 1.weight"),
            (Branches(), "b: does not take what the layer before made"),
            (Twice(), "a: is called twice"),
            (Sized(), "view: names sizes that a smaller module does not have"),
            (Deciding(), "its forward cannot be followed"),
            (nn.Sequential(nn.BatchNorm2d(1), flat, nn.Linear(784, 62)), "a BatchNorm2d is not supported"),
            (nn.Sequential(flat, nn.Linear(784, 62, bias=False)), "a Linear needs bias=True"),
            (nn.Sequential(nn.Conv2d(1, 4, 3), flat, nn.Linear(4 * 676, 62)), "a Conv2d needs a square odd kernel"),
            (nn.Sequential(nn.MaxPool2d(3, 2), flat, nn.Linear(169, 62)), "a max-pool needs a square window"),
            (nn.Sequential(nn.AvgPool2d(2), flat, nn.Linear(196, 62)), "an average is over all positions"),
            (nn.Sequential(flat, nn.Linear(784, 62), nn.Sigmoid()), "a Sigmoid is not supported"),
            (nn.Sequential(flat, nn.Linear(100, 62)), "does not take an input of"),
        ):
            with self.assertRaises(subfleet.Error) as caught:
                layered_model(module, (1, 28, 28))
            self.assertIn(line, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaisesRegex(subfleet.Error, "flatten: follows an LSTM"):
            layered_model(AllSteps(), (1, 20, 1))


if __name__ == "__main__":
    unittest.main()
