"""Every error is one line, and a subfleet.Error."""

import pathlib
import tempfile
import unittest

import numpy as np

import subfleet
from support import config


class Errors(unittest.TestCase):
    def check(self, call, *parts):
        with self.assertRaises(subfleet.Error) as caught:
            call()
        line = str(caught.exception)
        self.assertNotIn("\n", line)
        self.assertNotIn("std::", line)
        self.assertNotIn("vector::", line)
        self.assertNotIn("--", line)
        for part in parts:
            self.assertIn(part, line)

    def test_arguments_of_the_wrong_kind(self):
        model = subfleet.Model("emnist-mlp")
        masks = subfleet.RoundMasks(model, config(), 1)
        sums = subfleet.PartialSum(model.size)
        sub = masks.submodel(0)
        self.check(lambda: masks.kept(-1), "kept: ", "-1", "row: int")
        self.check(lambda: masks.kept(row=2**40), "row=1099511627776")
        self.check(lambda: subfleet.code_book("gold", -3, 64), "code_book: ", "-3")
        self.check(lambda: sums.add(sub, [1.0] * sub.size, 3), "add: ", "list")
        self.check(lambda: subfleet.code_quality([[True, False]]), "list")
        self.check(lambda: sub.scatter(sub.gather(model.initial_weights()), np.zeros(model.size)), "ndarray of float64")
        self.check(lambda: subfleet.Codec(pathlib.Path("rot1")), "Codec: ", "PosixPath")
        self.check(lambda: subfleet.Run("config"), "Run: ", "'config'")
        self.check(lambda: subfleet.PartialSum(-1), "PartialSum: ")
        self.check(lambda: subfleet.code_book("gold"), "code_book: ", "rows: int")
        self.check(lambda: setattr(subfleet.UpdateMessage(), "row", -1), "-1")
        self.check(lambda: config()[3], "3")

    def test_texts_that_are_not_utf8(self):
        self.check(lambda: subfleet.Config({"data.path": "\udc80"}), "data.path: must be plain text")
        self.check(lambda: subfleet.Config({"\udc80": 1}), "must be plain text")
        self.check(lambda: subfleet.Config({"data.path": pathlib.Path("\udc80")}), "data.path: must be plain text")
        self.check(lambda: subfleet.Codec("\udc80"))

    def test_more_than_any_memory_holds(self):
        self.check(lambda: subfleet.Codec("f32").decode(b"", 2**62), "memory: ")
        self.check(lambda: subfleet.ServerOptimizer("fedadam", 2**62), "memory: ")

    def test_tensors_that_are_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.safetensors"
            self.check(lambda: subfleet.save_safetensors(path, {"a": [1.0]}), "a: ")
            self.check(lambda: subfleet.save_safetensors(path, {1: np.zeros(1, np.float32)}), "names")
            self.check(lambda: subfleet.save_safetensors(path, {"__metadata__": np.zeros(1, np.float32)}), "__metadata__")
            self.assertFalse(path.exists())

    def test_python_s_words_in_place_of_the_program_s(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "run"
            run = subfleet.Run(config(run_rounds=1), out=out)
            self.check(lambda: subfleet.Run(config(), out=out), f"Run.resume('{out}')")
            self.check(lambda: subfleet.Run.resume(out), "this process")
            self.check(lambda: subfleet.read_run(out).weights, f"Run.resume('{out}')")
            del run
            self.check(lambda: subfleet.Run.resume(out, {"run.seed": 8}), "start a new Run")
            self.check(lambda: subfleet.read_run(folder + "/none"), "the folder of a run")
        self.check(lambda: subfleet.JobRunner(config()), "clients=(first, last)")

    def test_clients_that_are_not_there(self):
        data = subfleet.Data(config())
        self.check(lambda: data.train(12), "12", "0 to 11")
        self.check(lambda: data.test(10**6))


if __name__ == "__main__":
    unittest.main()
