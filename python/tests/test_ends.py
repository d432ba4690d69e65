"""How processes end: after fork(), with daemon threads, by Ctrl-C."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import subfleet
from support import HERE, config

BEGIN = "import os, signal, sys, threading, time\nsys.path.insert(0, sys.argv[1])\nimport subfleet\nfrom support import config\n"


def run_python(program, seconds=60):
    words = [sys.executable, "-c", BEGIN + program, str(HERE)]
    return subprocess.run(words, capture_output=True, text=True, timeout=seconds)


class Ends(unittest.TestCase):
    def test_a_child_of_fork_can_drop_a_run_and_end(self):
        done = run_python(
            "run = subfleet.Run(config(), threads=2)\n"
            "run.step()\n"
            "for drop in (True, False):\n"
            "    child = os.fork()\n"
            "    if child == 0:\n"
            "        if drop:\n"
            "            del run\n"
            "            os._exit(7)\n"
            "        sys.exit(7)\n"
            "    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
            "assert run.step().round == 2\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_daemon_threads_do_not_disturb_the_end(self):
        for call in ("run.train()", "run.train(lambda run, record: time.sleep(0.01))", "[run.step() for _ in range(10**6)]"):
            done = run_python(
                "run = subfleet.Run(config(run_rounds=1000000), threads=2)\n"
                f"threading.Thread(target=lambda: {call}, daemon=True).start()\n"
                "time.sleep(0.5)\n")
            self.assertEqual((done.returncode, done.stderr), (0, ""), call)

    def interrupted(self, call, after=0.5):
        """Seconds from Ctrl-C to KeyboardInterrupt."""
        sent = []

        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(after, send)
        previous = signal.signal(signal.SIGINT, signal.default_int_handler)
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                call()
        finally:
            timer.cancel()
            signal.signal(signal.SIGINT, previous)
        return time.monotonic() - sent[0]

    def test_ctrl_c_ends_a_long_round_and_the_folder_resumes_to_the_same_bits(self):
        long = config(model_name="emnist-cnn", run_rounds=2, run_eval_every=2, round_epochs=12)
        whole = subfleet.Run(long, threads=1)
        begin = time.monotonic()
        whole.step()
        round_seconds = time.monotonic() - begin
        whole.train()
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "run"
            run = subfleet.Run(long, out=out, threads=1)
            late = self.interrupted(run.train)
            self.assertLess(late, max(1.0, round_seconds / 2))
            self.assertEqual(run.round, 0)
            self.assertLess(self.interrupted(run.step), max(1.0, round_seconds / 2))
            del run
            run = subfleet.Run.resume(out, threads=1)
            run.train()
            np.testing.assert_array_equal(run.weights, whole.weights)

    def test_ctrl_c_in_a_test_takes_the_round_back(self):
        settings = config(model_name="emnist-cnn", run_rounds=1, run_eval_samples=0, data_writers=400)
        whole = subfleet.Run(settings, threads=1)
        whole.evaluate()  # the test set is made
        begin = time.monotonic()
        whole.step()
        seconds = time.monotonic() - begin
        begin = time.monotonic()
        whole.evaluate()
        of_test = time.monotonic() - begin
        again = subfleet.Run(settings, threads=1)
        again.evaluate()
        before = again.weights.copy()
        self.interrupted(again.train, after=seconds - of_test / 2)
        self.assertEqual(again.round, 0)
        np.testing.assert_array_equal(again.weights, before)
        again.train()
        np.testing.assert_array_equal(again.weights, whole.weights)

    def test_ctrl_c_reaches_who_waits_for_a_run_of_another_thread(self):
        done = run_python(
            "signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs have not\n"
            "run = subfleet.Run(config(run_rounds=1000000), threads=1)\n"
            "threading.Thread(target=run.train, daemon=True).start()\n"
            "time.sleep(0.3)\n"
            "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "try:\n"
            "    run.evaluate()\n"
            "except KeyboardInterrupt:\n"
            "    at = run.round\n"
            "    time.sleep(0.5)\n"
            "    print('stopped' if run.round > at else 'the other stands still')\n")
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "stopped\n"))

    def test_a_run_is_shown_while_another_thread_trains_it(self):
        run = subfleet.Run(config(run_rounds=40), threads=1)
        trainer = threading.Thread(target=run.train)
        trainer.start()
        while trainer.is_alive():
            self.assertIn("Run(", run._repr_html_())
        trainer.join()

    def test_what_atexit_does_is_done(self):
        done = run_python(
            "import atexit\n"
            "run = subfleet.Run(config(), threads=1)\n"
            "@atexit.register\n"
            "def last():\n"
            "    run.step()\n"
            "    print(run.round)\n"
            "import gc; atexit.unregister(subfleet._core._end_threads); subfleet._core._end_threads()\n")
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "1\n"))

    def test_a_daemon_thread_in_a_callback_does_not_disturb_the_end(self):
        done = run_python(
            "def loop(run, record):\n"
            "    while True:\n"
            "        time.sleep(0.0005)\n"
            "run = subfleet.Run(config(), threads=1)\n"
            "threading.Thread(target=lambda: run.train(loop), daemon=True).start()\n"
            "time.sleep(0.5)\n",
            seconds=8)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_handler_that_raises_nothing_lets_the_run_go_on(self):
        caught = []
        previous = signal.signal(signal.SIGINT, lambda number, frame: caught.append(number))
        try:
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            run = subfleet.Run(config(model_name="emnist-cnn", run_rounds=1, round_epochs=6), threads=1)
            self.assertTrue(run.train())
        finally:
            signal.signal(signal.SIGINT, previous)
        self.assertEqual(caught, [signal.SIGINT])


if __name__ == "__main__":
    unittest.main()
