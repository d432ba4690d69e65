"""Codes, models, sub-models, sums, optimizers, codecs, settings and messages."""

import collections.abc
import locale
import pathlib
import threading
import unittest

import numpy as np

import subfleet
from subfleet import _core
from support import config


# Before a test registers more.
FAMILIES, OPTIMIZERS = list(subfleet.code_families()), subfleet.optimizer_names()


class Package(unittest.TestCase):
    def test_every_word_is_explained(self):
        def explained(thing):
            first, _, rest = (thing.__doc__ or "").strip().partition("\n")
            return bool(rest.strip()) if " -> " in first else bool(first)  # nanobind puts the signature first

        for name in subfleet.__all__:
            thing = getattr(subfleet, name)
            self.assertTrue(explained(thing), name)
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if callable(value) and not member.startswith("_"):
                    self.assertTrue(explained(value), f"{name}.{member}")

    def test_types_come_along(self):
        folder = pathlib.Path(subfleet.__file__).parent
        stub = (folder / "_core.pyi").read_text()
        self.assertIn("def code_book(family: str, rows: int, length: int", stub)
        self.assertTrue((folder / "py.typed").exists())


class Codes(unittest.TestCase):
    def test_a_book_has_the_weights_and_distances_that_its_quality_says(self):
        for family in FAMILIES:
            book = subfleet.code_book(family, 10, 64, keep=0.5, seed=3, round=2)
            self.assertEqual((book.shape, book.dtype), ((10, 64), np.bool_), family)
            quality = subfleet.code_quality(book, shifts=False)
            self.assertEqual(quality.least_weight, book.sum(1).min(), family)
            self.assertEqual(quality.largest_coverage, book.sum(0).max(), family)
            distances = [int((a ^ b).sum()) for i, a in enumerate(book) for b in book[:i]]
            self.assertEqual(quality.least_distance, min(distances), family)
            self.assertEqual(quality.correlation, max(abs(64 - 2 * d) for d in distances), family)
            self.assertTrue((book == subfleet.code_book(family, 10, 64, keep=0.5, seed=3, round=2)).all(), family)

    def test_another_round_has_another_book(self):
        books = [subfleet.code_book("gold", 35, 64, seed=1, round=r) for r in (1, 2)]
        self.assertFalse((books[0] == books[1]).all())

    def test_what_cannot_be_met_is_one_line(self):
        with self.assertRaises(subfleet.Error) as caught:
            subfleet.code_book("gold", 35, 100)
        self.assertIn("gold: length 100 is not 2^n or 2^n - 1", str(caught.exception))
        self.assertIsInstance(caught.exception, (RuntimeError))
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaisesRegex(subfleet.Error, "nearest: gold"):
            subfleet.code_weight("glod", 64)

    def test_a_book_of_nothing_has_no_quality(self):
        for shape in ((0, 0), (0, 5), (3, 0)):
            with self.assertRaisesRegex(subfleet.Error, "book: has"):
                subfleet.code_quality(np.zeros(shape, bool))


class Models(unittest.TestCase):
    def test_zoo_text_and_tensors(self):
        model = subfleet.Model("emnist-cnn")
        self.assertEqual((model.size, model.classes, model.input), (6_603_710, 62, (1, 28, 28)))
        self.assertEqual(model.droppable, ["conv2", "dense1"])
        self.assertEqual(subfleet.Model(model.toml()), model)
        weights = model.initial_weights(1)
        tensors = subfleet.named_weights(model, weights)
        self.assertEqual(tensors["conv2.weight"].shape, (64, 32, 5, 5))
        self.assertTrue(np.shares_memory(tensors["conv2.weight"], weights))
        self.assertTrue((subfleet.flat_weights(model, tensors) == weights).all())
        with self.assertRaisesRegex(subfleet.Error, "conv1.bias: is missing"):
            subfleet.flat_weights(model, {"conv1.weight": tensors["conv1.weight"]})
        with self.assertRaisesRegex(subfleet.Error, "emnist-cnn"):
            subfleet.Model("emnist-cn")

    def test_a_sub_model_gathers_and_scatters_its_own(self):
        model = subfleet.Model("emnist-mlp")
        kept = list(range(0, 128, 2))
        sub = subfleet.SubModel(model, [kept], rescale=True)
        whole = np.arange(model.size, dtype=np.float32)
        mine = sub.gather(whole)
        self.assertTrue((mine == whole[sub.indices()]).all())
        names = subfleet.named_weights(sub.model, mine)
        self.assertTrue((names["dense2.bias"] == subfleet.named_weights(model, whole)["dense2.bias"][kept]).all())
        self.assertEqual([layer.output_scale for layer in sub.model.layers if layer.name == "dense2"], [2])
        back = np.full(model.size, -1, np.float32)
        sub.scatter(mine, back)
        self.assertEqual((back != -1).sum(), sub.size)
        with self.assertRaises(subfleet.RequestError):  # a copy would be written to, and thrown away
            sub.scatter(mine, back.astype(np.float64))
        with self.assertRaisesRegex(subfleet.Error, "weights: 3 values"):
            sub.gather(np.zeros(3, np.float32))

    def test_rows_and_rounds_that_are_not_there(self):
        settings = config()
        with self.assertRaisesRegex(subfleet.Error, "round.clients: 4 per round, but there are only 3"):
            subfleet.sample_clients(settings, 1, 3)
        masks = subfleet.RoundMasks(subfleet.Model("emnist-mlp"), settings, 1)
        for row in (4, 10**8):
            with self.assertRaisesRegex(subfleet.Error, f"row: {row} of 4 rows"):
                masks.kept(row)
            with self.assertRaisesRegex(subfleet.Error, f"row: {row} of 4 rows"):
                masks.submodel(row)
        model = subfleet.Model("emnist-mlp")
        for call in (lambda: subfleet.RoundMasks(model, settings, 0), lambda: subfleet.sample_clients(settings, 0, 12),
                     lambda: subfleet.example_orders(settings, 0, 1, 5),
                     lambda: subfleet.JobMessage(model, settings, 0, 1, 2, model.initial_weights())):
            with self.assertRaisesRegex(subfleet.Error, "round: is counted from 1"):
                call()


class Sums(unittest.TestCase):
    def setUp(self):
        self.model = subfleet.Model("emnist-mlp")
        self.masks = subfleet.RoundMasks(self.model, config(), 1)
        rng = np.random.default_rng(0)
        self.subs = [self.masks.submodel(row) for row in range(4)]
        self.updates = [rng.normal(size=sub.size).astype(np.float32) for sub in self.subs]

    def test_the_mean_is_over_those_who_held_it_in_any_order(self):
        total, held = np.zeros(self.model.size), np.zeros(self.model.size)
        forth, back = subfleet.PartialSum(self.model.size), subfleet.PartialSum(self.model.size)
        for k, (sub, update) in enumerate(zip(self.subs, self.updates)):
            self.assertTrue(forth.add(sub, update, 10 + k))
            total[sub.indices()] += update.astype(np.float64) * (10 + k)
            held[sub.indices()] += 10 + k
        for k in reversed(range(4)):
            one = subfleet.PartialSum(self.model.size)
            self.assertTrue(one.add(self.subs[k], self.updates[k], 10 + k))
            back.merge(one)
        self.assertEqual(forth, back)
        self.assertTrue((forth.holders == held).all())
        np.testing.assert_allclose(forth.mean(), total / np.maximum(held, 1), atol=1e-9)
        self.assertTrue(np.shares_memory(forth.sums, forth.sums))

    def test_absurd_updates_are_not_added(self):
        sums = subfleet.PartialSum(self.model.size)
        for bad in (np.nan, np.inf, 64.0):
            update = self.updates[0].copy()
            update[5] = bad
            self.assertFalse(sums.add(self.subs[0], update, 3))
        self.assertEqual(sums, subfleet.PartialSum(self.model.size))

    def test_every_optimizer_steps_the_array_where_it_lies(self):
        sums = subfleet.PartialSum(self.model.size)
        results = []
        for sub, update in zip(self.subs, self.updates):
            self.assertTrue(sums.add(sub, update, 5))
            results.append(subfleet.JobResult(5, squared_norm=float((update.astype(np.float64) ** 2).sum())))
        for name in OPTIMIZERS:
            optimizer = subfleet.ServerOptimizer(name, self.model.size)
            weights = np.zeros(self.model.size, np.float32)
            optimizer.step(weights, sums, results)
            moved = sums.mean() != 0
            self.assertTrue((np.sign(weights[moved]) == np.sign(sums.mean()[moved])).all(), name)
            self.assertTrue((weights[~moved] == 0).all(), name)
        plain = subfleet.ServerOptimizer("fedavg", self.model.size, lr=1.0, beta1=0.0)
        weights = np.zeros(self.model.size, np.float32)
        plain.step(weights, sums)
        np.testing.assert_allclose(weights, sums.mean(), rtol=1e-6, atol=1e-9)

    def test_several_threads_add_to_one_sum(self):
        expected, shared = subfleet.PartialSum(self.model.size), subfleet.PartialSum(self.model.size)
        for _ in range(8 * 25):
            expected.add(self.subs[0], self.updates[0], 3)

        def add():
            for _ in range(25):
                shared.add(self.subs[0], self.updates[0], 3)

        threads = [threading.Thread(target=add) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(shared, expected)

    def test_a_client_without_examples_is_not_added(self):
        sums = subfleet.PartialSum(self.model.size)
        self.assertFalse(sums.add(self.subs[0], self.updates[0], 0))
        whole = np.zeros(self.model.size, np.float32)
        self.assertFalse(sums.add_difference(self.subs[0], whole, self.updates[0], 0))
        self.assertEqual(sums, subfleet.PartialSum(self.model.size))

    def test_an_optimizer_takes_what_the_settings_take(self):
        for more, line in (({"lr": -1.0}, "server.lr: -1"), ({"lr": float("nan")}, "server.lr: nan"), ({"beta1": 1.0}, "server.beta1"),
                           ({"tau": 0.0}, "server.tau"), ({"mean": "al"}, "server.mean: unknown 'al'"),
                           ({"unheld": "x"}, "server.unheld")):
            with self.assertRaisesRegex(subfleet.RequestError, line):
                subfleet.ServerOptimizer("fedadam", 10, **more)
        with self.assertRaisesRegex(subfleet.RequestError, "server.optimizer: unknown 'adam'"):
            subfleet.ServerOptimizer("adam", 10)

    def test_a_step_that_fails_changes_nothing(self):
        sums = subfleet.PartialSum(self.model.size)
        sums.add(self.subs[0], self.updates[0], 5)
        optimizer = subfleet.ServerOptimizer("fedadam", self.model.size)
        weights = self.model.initial_weights()
        before = weights.copy()
        for lr in (-1.0, float("nan"), float("inf")):
            with self.assertRaisesRegex(subfleet.RequestError, "lr: "):
                optimizer.step(weights, sums, lr=lr)
        np.testing.assert_array_equal(weights, before)
        weights[7] = before[7] = np.inf
        with self.assertRaisesRegex(subfleet.Error, "no longer be finite"):
            optimizer.step(weights, sums)
        np.testing.assert_array_equal(weights, before)
        for moment in optimizer.moments.values():
            self.assertFalse(moment.any())

    def test_fedexp_wants_results(self):
        sums = subfleet.PartialSum(self.model.size)
        sums.add(self.subs[0], self.updates[0], 5)
        with self.assertRaisesRegex(subfleet.RequestError, "results: fedexp needs"):
            subfleet.ServerOptimizer("fedexp", self.model.size).step(np.zeros(self.model.size, np.float32), sums)


class Codecs(unittest.TestCase):
    def test_what_arrives_is_what_transmit_says(self):
        values = np.random.default_rng(1).normal(size=1000).astype(np.float32)
        for name in subfleet.codec_names():
            codec = subfleet.Codec(name)
            message = codec.encode(values, seed=1, draw=2, client=3)
            self.assertEqual(len(message), codec.encoded_size(1000), name)
            arrived = codec.decode(message, 1000, seed=1, draw=2, client=3)
            self.assertTrue((arrived == codec.transmit(values, seed=1, draw=2, client=3)).all(), name)
            self.assertEqual(codec.lossless, bool((arrived == values).all()), name)
            with self.assertRaises(subfleet.Error):
                codec.decode(message[:-1], 1000)
        with self.assertRaisesRegex(subfleet.Error, "direction"):
            subfleet.Codec("rot1").encode(values, direction="sideways")


class Settings(unittest.TestCase):
    def test_dicts_texts_and_back(self):
        flat = subfleet.Config({"code.family": "cwc", "code.keep": 0.25, "code.tiers": [1.0, 0.5], "run.seed": 9})
        self.assertEqual(flat, subfleet.Config({"code": {"family": "cwc", "keep": 0.25, "tiers": (1, 0.5)}, "run.seed": 9}))
        self.assertEqual(flat, subfleet.Config(flat.settings))
        self.assertEqual(flat, subfleet.Config.from_toml(flat.toml()))
        self.assertEqual((flat["code.tiers"], flat["tune.target"], flat["round.shuffle"]), ([1.0, 0.5], "20x", True))
        self.assertEqual(set(subfleet.Config.help), set(subfleet.Config().settings))
        copy = flat.copy()
        copy["run.seed"] = np.int64(10)
        self.assertEqual((flat["run.seed"], copy["run.seed"]), (9, 10))

    def test_wrong_ones_are_one_line(self):
        with self.assertRaisesRegex(subfleet.Error, "unknown 'code.famly'; nearest: code.family"):
            subfleet.Config({"code.famly": "gold"})
        with self.assertRaisesRegex(subfleet.Error, "round.clients"):
            subfleet.Config({"round.clients": "many"})
        with self.assertRaisesRegex(subfleet.Error, "run.seed: must be a number, a text"):
            subfleet.Config({"run.seed": object()})
        with self.assertRaisesRegex(subfleet.Error, "gold: "):
            subfleet.Config({"code.keep": 0.3}).validate()
        self.assertEqual(subfleet.Config().validate()["server.lr"], 0.01)

    def test_a_mapping(self):
        settings = config()
        self.assertIsInstance(settings, collections.abc.Mapping)
        self.assertEqual(dict(settings), settings.settings)
        self.assertEqual((len(settings), list(settings)), (len(settings.settings), list(settings.settings)))
        self.assertEqual(dict(**settings)["run.seed"], 7)
        self.assertTrue("run.seed" in settings and "run.sed" not in settings and 3 not in settings)
        self.assertEqual((settings.get("run.seed"), settings.get("run.sed"), settings.get("run.sed", 1)), (7, None, 1))
        self.assertEqual(list(settings.items()), list(zip(settings.keys(), settings.values())))
        self.assertEqual(subfleet.Config(settings), settings)
        other = subfleet.Config()
        other.update(settings)
        self.assertEqual(other, settings)
        with self.assertRaises(subfleet.Error):
            other.update({"run.seed": 1, "run.sed": 2})
        self.assertEqual(other, settings)
        with self.assertRaisesRegex(subfleet.Error, "settings: must be given by their names"):
            subfleet.Config(["run.seed"])

    def test_a_locale_with_commas_changes_nothing(self):
        previous = locale.setlocale(locale.LC_ALL)
        for name in ("de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"):
            try:
                locale.setlocale(locale.LC_ALL, name)
                break
            except locale.Error:
                continue
        else:
            self.skipTest("there is no locale with commas here")
        try:
            self.assertEqual(subfleet.Config()["round.client_lr"], 0.035)
        finally:
            locale.setlocale(locale.LC_ALL, previous)


class Messages(unittest.TestCase):
    def test_a_job_travels_and_is_answered(self):
        settings = config(wire_down="rot4", wire_up="int8")
        model = subfleet.Model("emnist-mlp")
        whole = model.initial_weights(2)
        job = subfleet.JobMessage(model, settings, round=1, row=2, client=5, weights=whole)
        job = subfleet.JobMessage.decode(job.encode())
        self.assertEqual((job.model, job.row, job.rows, job.client, job.down), ("emnist-mlp", 2, 4, 5, "rot4"))
        sub = job.submodel()
        self.assertTrue((sub.indices() == subfleet.RoundMasks(model, settings, 1).submodel(2, 5).indices()).all())
        given = job.given_weights()
        arrived = subfleet.Codec("rot4").transmit(sub.gather(whole), seed=7, draw=1, client=5, direction="down")
        self.assertTrue((given == arrived).all())
        update = np.random.default_rng(0).normal(size=sub.size).astype(np.float32)
        answer = subfleet.UpdateMessage.decode(job.reply(given + update, 12, 0.5, 0.25).encode())
        self.assertEqual((answer.draw, answer.row, answer.examples, answer.loss), (1, 2, 12, 0.5))
        difference = (given + update) - given
        sent = subfleet.Codec("int8").transmit(difference, seed=7, draw=1, client=5, direction="up")
        self.assertTrue((subfleet.Codec("int8").decode(answer.update, sub.size, 7, 1, 5) == sent).all())
        given *= 2  # it is the caller's
        self.assertTrue((job.given_weights() == arrived).all())
        self.assertIs(job.submodel(), sub)

    def test_a_peer_of_another_format_is_told_who_must_update(self):
        for ours, says in ((1, "2 of a newer node; this server speaks format 1: update the server"),
                           (3, "2 of an older node; this server speaks format 3: update the node")):
            with self.assertRaisesRegex(subfleet.Error, says):
                _core.check_peer("format", 2, ours, "node", "server")
        _core.check_peer("format", 2, 2, "node", "server")

    def test_garbage_is_refused(self):
        for garbage in (b"", b"SFJ1", b"x" * 100):
            with self.assertRaises(subfleet.Error):
                subfleet.JobMessage.decode(garbage)
            with self.assertRaises(subfleet.Error):
                subfleet.UpdateMessage.decode(garbage)


if __name__ == "__main__":
    unittest.main()
