"""What every object of the package can do: be pickled and copied, say what it is, and show what it takes."""

import base64
import copy
import inspect
import pathlib
import pickle
import re
import tempfile
import unittest

import numpy as np

import subfleet
from support import config


class Objects(unittest.TestCase):
    def copies(self, thing):
        return [pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)]

    def test_settings_and_models(self):
        settings = config(code_tiers=[1.0, 0.5], **{"code.layers.dense2.keep": 0.75})   # any with layers
        for again in self.copies(settings):
            self.assertEqual(again, settings)
            self.assertIs(type(again), subfleet.Config)
        for name in subfleet.model_names():
            model = subfleet.Model(name)
            for again in self.copies(model):
                self.assertEqual(again, model)
                self.assertEqual(again.layers[0].type, model.layers[0].type)

    def test_sub_models(self):
        for name in ("emnist-mlp", "resnet18"):   # which has groupnorm
            model = subfleet.Model(name)
            sub = subfleet.RoundMasks(model, config(model_name=name, code_family="balanced"), 1).submodel(2)
            for again in self.copies(sub):
                self.assertEqual((again.model, again.size, again.channel_groups), (sub.model, sub.size, sub.channel_groups))
                np.testing.assert_array_equal(again.indices(), sub.indices())

    def test_records(self):
        run = subfleet.Run(config(), threads=1)
        run.step()
        record, evaluation = run.step(), run.evaluate()
        fields = [name for name in dir(record) if not name.startswith("_")]
        for again in self.copies(record):
            self.assertEqual([getattr(again, f) for f in fields], [getattr(record, f) for f in fields])
        for again in self.copies(evaluation):
            self.assertEqual((again.examples, again.correct, again.loss), (evaluation.examples, evaluation.correct, evaluation.loss))
        for again in self.copies(subfleet.JobResult(3, 0.5, 0.25, 2.0, subfleet.JobOutcome.late)):
            self.assertEqual((again.examples, again.outcome, again.squared_norm), (3, subfleet.JobOutcome.late, 2.0))
        self.assertEqual(pickle.loads(pickle.dumps(run.config)), run.config)

    def test_every_object_says_what_it_is(self):
        settings = config()
        model = subfleet.Model("emnist-mlp")
        fleet = subfleet.LocalFleet(settings, threads=1)
        masks = subfleet.RoundMasks(model, settings, 1)
        job = subfleet.JobMessage(model, settings, 1, 0, 2, model.initial_weights())
        plan = subfleet.SearchPlan.of(config(tune_start=0.01, tune_window=2), 62)
        things = [
            settings, model, model.layers[0], model.parameters[0], fleet, masks, masks.submodel(0), job, plan,
            subfleet.UpdateMessage(), subfleet.JobResult(3), subfleet.Data(settings), subfleet.Run(settings, fleet),
            subfleet.PartialSum(3), subfleet.ServerOptimizer("fedadam", 3), subfleet.RateSearch(plan),
            subfleet.JobRunner(settings, clients=(0, 3)), subfleet.Arrival.lost(3, "gone"), subfleet.Codec("rot1"),
        ]  # fmt: skip
        for thing in things:
            self.assertRegex(repr(thing), rf"^{type(thing).__name__}\(")

    def test_notebooks_show_the_curve(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subfleet.Run(config(), out=pathlib.Path(folder) / "run")
            self.assertNotIn("<img", run._repr_html_())
            run.train()
            for thing in (run, subfleet.read_run(pathlib.Path(folder) / "run")):
                picture = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', thing._repr_html_()).group(1)
                self.assertIn(b"<svg", base64.b64decode(picture))

    def test_inspect_sees_what_can_be_given(self):
        self.assertEqual(
            list(inspect.signature(subfleet.Run).parameters), ["config", "fleet", "device", "threads", "init", "out"]
        )
        self.assertEqual(inspect.signature(subfleet.code_book).parameters["keep"].default, 0.5)
        self.assertEqual(list(inspect.signature(subfleet.Run.resume).parameters)[:2], ["folder", "settings"])
        self.assertEqual(list(inspect.signature(subfleet.RoundMasks.kept).parameters), ["self", "row", "client"])
        for name in subfleet.__all__:
            thing = getattr(subfleet, name)
            if not isinstance(thing, type):
                inspect.signature(thing)
                continue
            for member, value in vars(thing).items():
                if callable(value) and not member.startswith("_"):
                    inspect.signature(getattr(thing, member))


if __name__ == "__main__":
    unittest.main()
