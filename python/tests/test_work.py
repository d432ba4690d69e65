"""Searches, sweeps, reproductions and reports from Python: what the program's commands make."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import subfleet
from support import PROGRAM, ROOT, config, run_program

SWEEP = """
title = "two families"
seeds = [1, 2]
[settings]
model.name = "emnist-mlp"
data.writers = 10
round.clients = 4
run.rounds = 2
run.eval_every = 1
run.eval_samples = 100
[[run]]
name = "none"
settings = { code.family = "none" }
[[run]]
name = "gold"
settings = { code.family = "gold" }
"""


class Work(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_sweep_is_the_programs(self):
        file = self.folder / "sweep.toml"
        file.write_text(SWEEP)
        mine = subfleet.sweep(file, self.folder / "mine", {"server.lr": 0.02}, device="reference")
        self.assertEqual([run["run"] for run in mine["runs"]], ["none", "gold"])
        self.assertEqual(subfleet.sweep(file, self.folder / "mine", {"server.lr": 0.02}, device="reference"), mine)
        if not PROGRAM:
            self.skipTest("no program to compare with")
        run_program("sweep", file, "--set", "server.lr=0.02", "--device", "reference", "--quiet", "--out", self.folder / "its")
        for run in ("none-1", "gold-2"):
            np.testing.assert_array_equal(
                *(np.concatenate([t.ravel() for t in subfleet.read_run(self.folder / whose / run).weights.values()])
                  for whose in ("mine", "its")))
        with self.assertRaisesRegex(subfleet.Error, "only: is part of no run's name"):
            subfleet.sweep(file, self.folder / "mine", {"server.lr": 0.02}, only=["golden"])
        with self.assertRaisesRegex(subfleet.Error, "server.lr"):
            subfleet.sweep(file, self.folder / "mine", {"server.lr": 0.03})

    def test_a_search_and_its_winners_run(self):
        settings = config(tune_target=0.03, tune_window=1, tune_steps=1, tune_max_rounds=6, run_rounds=8, server_lr=0.01)
        search = subfleet.tune(settings, self.folder / "search", device="reference")
        self.assertEqual(search.outcome, "found")
        again = subfleet.tune(None, self.folder / "search", device="reference", resume=True, train=True)
        self.assertEqual(again.candidates[again.best].value, search.candidates[search.best].value)
        folder = subfleet.read_run(self.folder / "search")
        self.assertEqual(len(folder.rounds["round"]), 8)
        self.assertAlmostEqual(folder.settings["server.lr"], search.candidates[search.best].value)
        with self.assertRaisesRegex(subfleet.Error, "search"):
            subfleet.tune(settings, self.folder / "search", device="reference")

    def test_a_report_of_several_runs(self):
        runs = []
        for family in ("none", "gold"):
            run = subfleet.Run(config(code_family=family), device="reference", out=self.folder / family)
            run.train()
            runs.append(run)
        table = subfleet.report([runs[0], self.folder / "gold"], self.folder / "page.html")
        self.assertIn("</html>", (self.folder / "page.html").read_text())
        self.assertIn("gold", json.dumps(table))
        with self.assertRaisesRegex(subfleet.Error, "folders: there is none"):
            subfleet.report([])

    def test_an_experiment_without_training(self):
        results = subfleet.reproduce("layers", self.folder / "paper", experiments=ROOT / "experiments")
        self.assertTrue((self.folder / "paper" / "results.md").exists())
        self.assertTrue(results)
        with self.assertRaisesRegex(subfleet.Error, "unknown"):
            subfleet.reproduce("layesr", self.folder / "paper", experiments=ROOT / "experiments")


def every_other(rows, length, ones, seed, round, layer):
    book = np.zeros((rows, length), bool)
    for row in range(rows):
        book[row, (np.arange(ones) * 2 + row + round) % length] = True
    return book


def plain(weights, mean, moments, lr):
    moments["seen"] += 1
    weights += np.float32(lr) * mean


class Plugins(unittest.TestCase):
    """What is registered stays until Python ends, so each name is this class's own."""

    @classmethod
    def setUpClass(cls):
        subfleet.register_code_family("every-other", every_other)
        subfleet.register_server_optimizer("plain", plain, ["seen"], default_lr=0.5)
        subfleet.register_schedule("halving", lambda passed, of_rest, warmup, final: 0.5**passed)
        subfleet.register_metric("size", lambda weights, round: np.abs(weights).max() + round)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_code_family_masks_a_run(self):
        settings = config(code_family="every-other")
        masks = subfleet.RoundMasks(subfleet.Model("emnist-mlp"), settings, round=2)
        self.assertEqual(masks.kept(row=1)[0], sorted((np.arange(64) * 2 + 3) % 128))
        run = subfleet.Run(settings, device="reference", out=self.folder / "run")
        self.assertTrue(run.train())
        run.close()
        if PROGRAM:
            self.assertIn("every-other", run_program("report", self.folder / "run"))

    def test_an_optimizer_is_fedavg_if_it_does_the_same(self):
        mine = subfleet.Run(config(server_optimizer="plain", server_lr=0.5, server_average=0.9), device="reference")
        theirs = subfleet.Run(config(server_optimizer="fedavg", server_lr=0.5, server_average=0.9, server_beta1=0.0), device="reference")
        for run in (mine, theirs):
            run.train()
        np.testing.assert_allclose(mine.weights, theirs.weights, atol=1e-6)
        np.testing.assert_allclose(mine.tested_weights, theirs.tested_weights, atol=1e-6)
        self.assertEqual(list(mine.moments), ["average", "seen"])
        self.assertEqual({0.0, 1.0, 2.0, 3.0, 4.0} & set(mine.moments["seen"].tolist()), set(mine.moments["seen"].tolist()))
        self.assertEqual(subfleet.ServerOptimizer("plain", 3).step(np.ones(3, np.float32), subfleet.PartialSum(3)), None)

    def test_a_schedule_is_the_rounds_rate(self):
        rates = []
        run = subfleet.Run(config(server_schedule="halving", server_lr=0.08), device="reference")
        run.train(lambda run, record: rates.append(record.server_rate))
        np.testing.assert_allclose(rates, [0.08, 0.04, 0.02, 0.01])

    def test_a_metric_is_logged_with_each_test(self):
        with subfleet.Run(config(run_metrics="size"), device="reference", out=self.folder / "run") as run:
            run.train()
        folder = subfleet.read_run(self.folder / "run")
        np.testing.assert_array_equal(np.isnan(folder.rounds["metric_size"]), [True, False, True, False])
        self.assertGreater(folder.rounds["metric_size"][3], 4)
        again = subfleet.Run.resume(self.folder / "run", {"run.rounds": 6}, device="reference")
        again.train(lambda run, record: self.assertEqual("size" in record.metrics, record.round % 2 == 0))
        with self.assertRaisesRegex(subfleet.Error, "run.metrics: 'f1' is not registered in this program"):
            subfleet.Run(config(run_metrics="size, f1"), device="reference")

    def test_a_folder_needs_what_it_names(self):
        settings = config(code_family="every-other", run_metrics="size", server_optimizer="plain", server_schedule="halving")
        with subfleet.Run(settings, device="reference", out=self.folder / "run") as run:
            run.train()
        script = f"import subfleet; subfleet.Run.resume({str(self.folder / 'run')!r}, {{'run.rounds': 9}})"
        failed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertNotEqual(failed.returncode, 0)
        self.assertRegex(failed.stderr.splitlines()[-1], "RequestError: .*unknown '(every-other|plain|halving)'")

    def test_wrong_ones_are_one_line(self):
        for call, line in (
            (lambda: subfleet.register_code_family("gold", every_other), "'gold' is there already"),
            (lambda: subfleet.register_server_optimizer("fedadam", plain), "'fedadam' is there already"),
            (lambda: subfleet.register_schedule("cosine", plain), "'cosine' is there already"),
            (lambda: subfleet.register_metric("a b", plain), "the name 'a b' must be letters"),
        ):
            with self.assertRaisesRegex(subfleet.Error, line) as caught:
                call()
            self.assertNotIn("\n", str(caught.exception))
        subfleet.register_code_family("short", lambda rows, length, **more: np.ones((rows, 3), bool))
        subfleet.register_code_family("full", lambda rows, length, **more: np.ones((rows, length), bool))
        subfleet.register_schedule("negative", lambda *place: -1.0)
        for setting, line in (({"code_family": "short"}, "must draw a bool array of 4 x 128"),
                              ({"code_family": "full"}, "row 0 keeps 128 of 128 units; every row keeps 64"),
                              ({"server_schedule": "negative"}, "gave -1 as the share of the rate")):
            with self.assertRaisesRegex(subfleet.Error, line):
                subfleet.Run(config(**setting), device="reference").step()

    def test_clients_of_a_round_and_each_ones_own_test(self):
        settings = config(run_rounds=2)
        run = subfleet.Run(settings, device="reference")
        record = run.step()
        self.assertEqual([r.client for r in run.clients], subfleet.sample_clients(settings, 1, 12))
        self.assertEqual({r.outcome for r in run.clients}, {"trained"})
        self.assertEqual(sum(r.bytes_up for r in run.clients), record.bytes_up)
        self.assertAlmostEqual(float(np.median([r.accuracy for r in run.clients])), record.train_accuracy_median)
        run.step()
        each = [run.evaluate(client) for client in range(12)]
        whole = subfleet.Run(config(run_rounds=2, run_eval_samples=0), device="cpu")
        whole.set_weights(run.weights)
        self.assertEqual(sum(e.correct for e in each), whole.evaluate().correct)
        self.assertEqual(sum(e.examples for e in each), whole.evaluate().examples)
        with self.assertRaisesRegex(subfleet.Error, "client: 12 is not there"):
            run.evaluate(client=12)


if __name__ == "__main__":
    unittest.main()
