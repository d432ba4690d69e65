"""Searches, sweeps, reproductions and reports from Python: what the program's commands make."""

import json
import pathlib
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
        self.assertEqual([run["name"] for run in mine["runs"]], ["none", "gold"])
        self.assertEqual(subfleet.sweep(file, self.folder / "mine", {"server.lr": 0.02}, device="reference"), mine)
        if not PROGRAM:
            self.skipTest("no program to compare with")
        run_program("sweep", file, "--set", "server.lr=0.02", "--device", "reference", "--quiet", "--out", self.folder / "its")
        for run in ("none-1", "gold-2"):
            np.testing.assert_array_equal(
                *(np.concatenate([t.ravel() for t in subfleet.load_safetensors(self.folder / whose / run / "model.safetensors").values()])
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


if __name__ == "__main__":
    unittest.main()
