"""Runs, their folders, the search, and agreement with the program `subfleet`."""

import contextlib
import gc
import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import subfleet
from support import PROGRAM, config, run_program

FILES = ("config.toml", "model.safetensors", "checkpoint.safetensors")


def without_seconds(text):
    return [line.split('"seconds"')[0] for line in text.splitlines()]


class Runs(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name).resolve()

    def test_a_callback_sees_every_round_and_can_stop_it(self):
        seen = []
        run = subfleet.Run(config(), threads=1)
        start = run.weights.copy()
        self.assertFalse(run.weights.flags.writeable)
        self.assertFalse(run.train(lambda run, record: seen.append((run.round, record.round)) or len(seen) < 2))
        self.assertEqual(seen, [(1, 1), (2, 2)])
        self.assertTrue(run.train())
        self.assertEqual(run.round, 4)
        self.assertFalse((run.weights == start).all())

    def test_steps_threads_and_a_shared_fleet_give_the_bits_of_train(self):
        whole = subfleet.Run(config(), threads=1)
        whole.train()
        fleet = subfleet.LocalFleet(config(), threads=2)
        stepped = subfleet.Run(config(), fleet)
        records = [stepped.step() for _ in range(4)]
        self.assertTrue((whole.weights == stepped.weights).all())
        self.assertEqual([r.test_accuracy is not None for r in records], [False, True, False, True])
        self.assertEqual(records[-1].test_accuracy, stepped.evaluate().accuracy)
        self.assertEqual(records[0].outcomes["trained"], 4)
        del fleet
        self.assertEqual(stepped.evaluate().examples, whole.evaluate().examples)  # the run keeps its fleet

    def test_a_scheduled_rate_and_the_mean_of_the_weights(self):
        run = subfleet.Run(config(**{"server.schedule": "linear", "server.final": 0.25, "server.average": 0.5}))
        rates, mean, sum_of_shares = [], 0, 0
        for _ in range(4):
            rates.append(run.step().server_rate)
            mean, sum_of_shares = mean / 2 + run.weights.astype(float), sum_of_shares / 2 + 1
        np.testing.assert_allclose(rates, np.array([1, 0.75, 0.5, 0.25]) * rates[0])
        np.testing.assert_allclose(run.tested_weights, mean / sum_of_shares, atol=1e-5)
        self.assertFalse((run.tested_weights == run.weights).all())
        self.assertIsNone(subfleet.Run(config()).step().server_rate)

    def test_what_a_callback_raises_comes_out_and_the_folder_goes_on(self):
        out = self.folder / "run"
        run = subfleet.Run(config(), out=out)

        def fail(run, record):
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            run.train(fail)
        del run
        run = subfleet.Run.resume(out)
        self.assertEqual(run.round, 1)
        run.train()
        whole = subfleet.Run(config())
        whole.train()
        self.assertTrue((whole.weights == run.weights).all())

    def test_a_folder_is_read_back(self):
        out = self.folder / "run"
        run = subfleet.Run(config(), out=out)
        records = []
        run.train(lambda run, record: records.append(record))
        with self.assertRaisesRegex(subfleet.Error, "holds a run already"):
            subfleet.Run(config(), out=out)
        read = subfleet.read_run(out)
        self.assertEqual(read.rounds["round"].tolist(), [1, 2, 3, 4])
        self.assertEqual(read.rounds["train_loss"].tolist(), [r.train_loss for r in records])
        self.assertEqual(np.isnan(read.rounds["test_accuracy"]).tolist(), [True, False, True, False])
        self.assertEqual(read.rounds["trained"].tolist(), [4, 4, 4, 4])
        self.assertEqual(read.settings["code.family"], "gold")
        self.assertEqual(read.provenance["sessions"][0]["device"], "cpu")
        self.assertTrue((subfleet.flat_weights(run.model, read.weights) == run.weights).all())
        tensors, metadata = subfleet.load_safetensors(out / "model.safetensors")
        self.assertEqual(metadata, {"model": "emnist-mlp", "round": "4"})
        in_order = {p.name: tensors[p.name] for p in run.model.parameters}
        subfleet.save_safetensors(out / "again.safetensors", in_order, metadata)
        self.assertEqual((out / "again.safetensors").read_bytes(), (out / "model.safetensors").read_bytes())
        with self.assertRaises(subfleet.Error):
            subfleet.read_run(self.folder / "nothing")
        del run  # which has the folder
        longer = subfleet.Run.resume(out, {"run.rounds": 6})
        longer.step()
        with self.assertRaisesRegex(subfleet.Error, "has no model.safetensors: the run has not come to its end"):
            read.weights
        longer.finish()
        (out / "checkpoint.safetensors").write_bytes(b"damaged")
        with self.assertRaisesRegex(subfleet.Error, "is of round 5, but the run is at a round that it does not"):
            read.weights

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        subfleet.Run(config(run_rounds=2), out=self.folder / "run").train()
        frame = subfleet.read_run(self.folder / "run").to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(frame.index.tolist(), [1, 2])

    def test_resuming_refuses_other_settings_and_data(self):
        out = self.folder / "run"
        subfleet.Run(config(run_rounds=1), out=out).train()
        with self.assertRaisesRegex(subfleet.Error, "code.family: cannot change in a run that has begun"):
            subfleet.Run.resume(out, {"code.family": "random"})
        with self.assertRaisesRegex(subfleet.Error, "round.clients: 40 per round, but there are only 12"):
            subfleet.Run(config(round_clients=40))
        with self.assertRaisesRegex(subfleet.Error, "device: unknown 'gpu'"):
            subfleet.Run(config(), device="gpu")

    def test_a_run_that_diverges_says_so(self):
        run = subfleet.Run(config(round_client_lr=1e6, run_rounds=20))
        with self.assertRaisesRegex(subfleet.Diverged, "round [0-9]+: "):
            run.train()

    def test_other_threads_of_python_go_on_while_a_run_trains(self):
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.005)

        run = subfleet.Run(config(model_name="emnist-cnn", run_rounds=1, run_eval_samples=50), threads=1)
        thread = threading.Thread(target=tick)
        thread.start()
        begin = time.monotonic()
        run.step()
        seconds = time.monotonic() - begin
        stop.set()
        thread.join()
        during = sum(1 for at in ticks if begin < at < begin + seconds)
        self.assertGreater(during, 5, f"{during} ticks in {seconds:.2f} s")

    def test_runs_of_one_fleet_wait_for_each_other(self):
        fleet = subfleet.LocalFleet(config(), threads=2)
        runs = [subfleet.Run(config(), fleet) for _ in range(3)]
        threads = [threading.Thread(target=run.train) for run in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue((runs[0].weights == runs[1].weights).all() and (runs[0].weights == runs[2].weights).all())

    def test_arrays_outlive_what_they_came_from(self):
        run = subfleet.Run(config(), threads=1)
        weights, moments = run.weights, run.moments
        before = weights.copy()
        del run
        gc.collect()
        self.assertTrue((weights == before).all())
        self.assertEqual([float(np.abs(m).max()) for m in moments.values()], [0, 0])

    def test_a_test_in_a_callback(self):
        run = subfleet.Run(config(run_rounds=2))
        found = []
        run.train(lambda run, record: found.append(run.evaluate().accuracy == record.test_accuracy))
        self.assertEqual(found, [False, True])

    def test_ctrl_c_stops_after_the_round_and_the_run_goes_on(self):
        out = self.folder / "run"
        (self.folder / "settings.toml").write_text(config(run_rounds=100000).toml())
        program = (
            "import signal, subfleet, sys\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it\n"
            "run = subfleet.Run(subfleet.Config.load(sys.argv[1]), out=sys.argv[2])\n"
            "run.train(lambda run, record: print(record.round, flush=True))\n"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", program, self.folder / "settings.toml", out],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "1\n")
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", errors)
        done = len(subfleet.read_run(out).rounds["round"])
        self.assertTrue((out / "model.safetensors").exists())
        run = subfleet.Run.resume(out, {"run.rounds": done + 1})
        self.assertEqual(run.round, done)
        run.train()

    def test_progress_is_the_program_s(self):
        program = "import subfleet, sys; subfleet.Run(subfleet.Config.load(sys.argv[1])).train(progress=True)"
        (self.folder / "settings.toml").write_text(config().toml())
        words = [sys.executable, "-c", program, self.folder / "settings.toml"]
        mine = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        self.assertRegex(mine, r"round +4/4 .*test +[0-9.]+ %")

    @unittest.skipUnless(PROGRAM, "SUBFLEET_PROGRAM is not set")
    def test_the_program_writes_the_same_folder(self):
        for number, more in enumerate(({}, {"wire_down": "rot4", "wire_up": "rot1", "server_optimizer": "fedexp"})):
            settings = config(**more)
            theirs, mine = self.folder / f"theirs{number}", self.folder / f"mine{number}"
            (self.folder / "settings.toml").write_text(settings.toml())
            run_program("train", self.folder / "settings.toml", "--out", theirs, "--quiet")
            subfleet.Run(settings, out=mine).train()
            for name in FILES:
                self.assertEqual((theirs / name).read_bytes(), (mine / name).read_bytes(), name)
            logs = [without_seconds((f / "rounds.jsonl").read_text()) for f in (theirs, mine)]
            self.assertEqual(*logs)
            self.assertEqual(sorted(p.name for p in theirs.iterdir()), sorted(p.name for p in mine.iterdir()))
        run_program("train", "--resume", mine, "--set", "run.rounds=6", "--quiet")
        run = subfleet.Run.resume(theirs, {"run.rounds": 6})
        run.train()
        for name in FILES:
            self.assertEqual((theirs / name).read_bytes(), (mine / name).read_bytes(), name)

    @unittest.skipUnless(PROGRAM, "SUBFLEET_PROGRAM is not set")
    def test_both_begin_from_a_file(self):
        subfleet.Run(config(run_rounds=1, run_seed=8), out=self.folder / "start").train()
        start = self.folder / "start" / "model.safetensors"
        (self.folder / "settings.toml").write_text(config().toml())
        run_program("train", self.folder / "settings.toml", "--init", start, "--out", self.folder / "a", "--quiet")
        subfleet.Run(config(), init=start, out=self.folder / "b").train()
        for name in (*FILES, "provenance.json"):
            self.assertEqual(*((self.folder / f / name).read_bytes() for f in "ab"), name)

    def test_a_fleet_of_other_data_is_refused(self):
        fleet = subfleet.LocalFleet(config())
        with self.assertRaisesRegex(subfleet.Error, "data.seed: is 4 here and 3 in the fleet"):
            subfleet.Run(config(data_seed=4), fleet)
        subfleet.Run(config(server_lr=0.5), fleet)

    def test_a_relative_folder_stays_where_it_is(self):
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        (self.folder / "elsewhere").mkdir()
        run = subfleet.Run(config(), out="run")
        read = subfleet.read_run("run")
        os.chdir("elsewhere")
        run.train()
        self.assertEqual(run.folder, self.folder / "run")
        self.assertEqual(list((self.folder / "elsewhere").iterdir()), [])
        self.assertTrue((self.folder / "run" / "model.safetensors").exists())
        self.assertIn("dense2.bias", read.weights)
        os.chdir(self.folder)
        del run
        run = subfleet.Run.resume("run", {"run.rounds": 6})
        os.chdir("elsewhere")
        run.train()
        self.assertEqual(subfleet.load_safetensors(self.folder / "run" / "model.safetensors")[1]["round"], "6")

    def test_a_run_s_settings_are_only_read(self):
        run = subfleet.Run(config())
        for change in (lambda: run.config.__setitem__("run.rounds", 9), lambda: run.config.update({"run.rounds": 9})):
            with self.assertRaisesRegex(subfleet.Error, "config: a run's settings cannot change"):
                change()
        self.assertEqual(run.config["run.rounds"], 4)
        mine = run.config.copy()
        mine["run.rounds"] = 9
        self.assertEqual((mine["run.rounds"], run.config), (9, run.config.validate()))
        self.assertIsInstance(run.config, subfleet.Config)
        subfleet.Run(run.config)

    def test_false_of_numpy_stops_and_0_does_not(self):
        for answer, rounds in ((np.False_, 1), (False, 1), (0.0, 4), (None, 4), (np.True_, 4)):
            run = subfleet.Run(config(), threads=1)
            run.train(lambda run, record: answer)
            self.assertEqual(run.round, rounds, repr(answer))

    def test_progress_goes_where_print_goes(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            subfleet.Run(config()).train(progress=True)
        self.assertRegex(out.getvalue(), r"round 4/4 .*test +[0-9.]+ %")

    def test_a_second_train_counts_the_bytes_of_the_first(self):
        run = subfleet.Run(config(), threads=1)
        records, out = [], io.StringIO()
        run.train(lambda run, record: records.append(record) or len(records) < 2)
        with contextlib.redirect_stdout(out):     # with C14
            run.train(lambda run, record: records.append(record), progress=True)
        total = sum(r.bytes_down + r.bytes_up for r in records) / 1e6
        self.assertAlmostEqual(float(re.findall(r"([0-9.]+) MB", out.getvalue())[-1]), total, delta=0.01 * total)

    def test_with_a_run_the_folder_is_finished_and_free(self):
        out = self.folder / "run"
        with subfleet.Run(config(), out=out) as run:
            run.step()
        self.assertTrue((out / "model.safetensors").exists())
        self.assertGreater(run.evaluate().examples, 0)
        self.assertEqual(run.folder, out)
        for call in (run.step, run.train, run.finish):
            with self.assertRaisesRegex(subfleet.Error, "run: is closed"):
                call()
        with self.assertRaises(KeyError), subfleet.Run.resume(out, {"run.checkpoint_every": 100}) as run:
            run.step()
            run.step()
            raise KeyError
        with subfleet.Run.resume(out) as run:
            self.assertEqual(run.round, 3)
            run.close()
        run = subfleet.Run.resume(out, {"run.rounds": 6})
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
        self.assertFalse(run.train(lambda run, record: run.close()))
        self.assertEqual(run.round, 4)
        with subfleet.Run.resume(out) as run:  # the child has no part of it
            self.assertEqual(run.round, 3)  # the last checkpoint
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class Search(unittest.TestCase):
    def test_a_round_function_of_ones_own(self):
        """Accuracy grows by a step that is largest at 0.03, so that the search has something to find."""
        done = {}

        def one_round(values):
            answers = []
            for value in values:
                done[value] = done.get(value, 0) + 1
                speed = np.exp(-((np.log10(value) + 1.5) ** 2))
                accuracy = min(1.0, 0.02 * done[value] * speed)
                answers.append((accuracy, 3.0 if value < 10 else float("nan")))
            return answers

        plan = subfleet.SearchPlan(start=0.01, target=0.4, classes=10, window=1, max_rounds=100)
        found = subfleet.search(plan, one_round)
        self.assertTrue(found.found)
        best = found.candidates[found.best]
        self.assertLess(abs(np.log10(best.value) + 1.5), 0.2)
        self.assertEqual(best.fate, "reached the target")
        self.assertEqual(sum(done.values()) - best.rounds, found.cost)
        with self.assertRaisesRegex(subfleet.Error, "got 1 results for 3 running"):
            subfleet.RateSearch(plan).record([(0.1, 1.0)])
        with self.assertRaisesRegex(subfleet.Error, "target: "):
            subfleet.SearchPlan(start=0.01, target=2, classes=10)

    def test_a_search_over_runs_is_the_paper_s(self):
        fleet = subfleet.LocalFleet(config())
        runs = {}

        def one_round(values):
            for value in values:
                if value not in runs:
                    runs[value] = subfleet.Run(config(server_lr=value, run_rounds=20), fleet)
            records = [runs[value].step() for value in values]
            return [(r.train_accuracy_median, r.train_loss) for r in records]

        settings = config(tune_target=0.05, tune_window=2, tune_steps=1, tune_outward=0, run_rounds=20)
        found = subfleet.search(subfleet.SearchPlan.of(settings.validate(), fleet.classes), one_round)
        self.assertEqual(found.outcome, "found")
        self.assertEqual(len(found.candidates), 5)


if __name__ == "__main__":
    unittest.main()
