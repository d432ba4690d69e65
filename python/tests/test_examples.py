"""The examples run as they stand, and say what they should; so does the page docs/python.md."""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import subfleet
from support import ROOT


def output_of(name, folder=None):
    path = ROOT / "python" / "examples" / name
    return subprocess.run([sys.executable, path], cwd=folder, check=True, capture_output=True, text=True).stdout


def accuracies(text):
    return [float(found) for found in re.findall(r"([0-9.]+)%", text)]


class Examples(unittest.TestCase):
    def test_the_program_comes_along(self):
        def said(*words):
            return subprocess.run([sys.executable, "-m", "subfleet", *words], cwd="/", capture_output=True, text=True)

        self.assertTrue(said("--version").stdout.startswith(f"subfleet {subfleet.__version__}"))
        self.assertIn("figure-1", said("reproduce", "all", "--list").stdout)  # the experiments come along
        wrong = said("trian")
        self.assertEqual((wrong.returncode, wrong.stderr.count("\n")), (2, 1))

    def test_codes_and_run(self):
        text = output_of("codes_and_run.py")
        self.assertEqual(text.count("RoundRecord("), 4)
        self.assertGreater(accuracies(text)[-1], 20)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_torch_module(self):
        found = accuracies(output_of("torch_module.py"))
        self.assertEqual(len(found), 4)
        self.assertGreater(found[-1], found[0] + 10)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_adapters(self):
        found = accuracies(output_of("lora.py"))
        self.assertEqual(len(found), 3)
        self.assertAlmostEqual(found[1], found[0], delta=0.2)  # they begin as nothing
        self.assertGreater(found[2], found[1])

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_own_data(self):
        with tempfile.TemporaryDirectory() as folder:
            tested = re.findall(r"test +([0-9.]+) %", output_of("own_data.py", folder))
            self.assertTrue(os.path.exists(os.path.join(folder, "runs", "own_data", "report.html")))
        self.assertEqual(len(tested), 4)
        self.assertGreater(float(tested[-1]), 50)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_the_page(self):
        page = str(ROOT / "docs" / "python.md")
        script = ("import doctest\n"
                  f"failed, tried = doctest.testfile({page!r}, module_relative=False, optionflags=doctest.ELLIPSIS)\n"
                  "assert tried > 20 and failed == 0")
        with tempfile.TemporaryDirectory() as folder:  # in a process of its own, because what it registers stays
            child = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True)
        self.assertEqual(child.returncode, 0, child.stdout + child.stderr)


if __name__ == "__main__":
    unittest.main()
