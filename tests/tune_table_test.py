#!/usr/bin/env python3
"""experiments/tune-table looks a search up only if its settings are the same. A stand-in makes the searches."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TABLE = pathlib.Path(__file__).resolve().parent.parent / "experiments/tune-table"
SEARCHES = 10  # five families, two optimizers

STAND_IN = """#!{python}
import json, pathlib, sys
with open({log!r}, "a") as log:
    print(*sys.argv[1:], file=log)
folder = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
folder.mkdir(parents=True)
(folder / "tune.toml").write_text("")
(folder / "tune.json").write_text(json.dumps(
    {{"outcome": "found", "best": 0.1, "rounds": 1, "cost": {{"rounds": 1, "formula_rounds": 1}}}}))
"""


class TuneTable(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.log = self.folder / "log"
        self.log.write_text("")
        binary = self.folder / "subfleet"
        binary.write_text(STAND_IN.format(python=sys.executable, log=str(self.log)))
        binary.chmod(0o755)

    def searches(self, *options, data="data"):
        """How many searches are made, not looked up."""
        before = len(self.log.read_text().splitlines())
        subprocess.run([sys.executable, TABLE, data, "--binary", self.folder / "subfleet", "--out",
                        self.folder / "out", *options], check=True, stdout=subprocess.DEVNULL)
        return len(self.log.read_text().splitlines()) - before

    def test_the_same_settings_are_looked_up(self):
        self.assertEqual(self.searches("--set", "tune.steps=1", "--set", "run.rounds=9"), SEARCHES)
        self.assertEqual(self.searches("--set", "tune.steps=1", "--set", "run.rounds=9"), 0)
        self.assertEqual(self.searches("--set", "run.rounds=9", "--set", "tune.steps=1"), 0, "in another order")
        self.assertEqual(self.searches("--set", "tune.steps=3", "--set", "tune.steps=1", "--set", "run.rounds=9"), 0,
                         "the last one counts")

    def test_other_settings_are_other_searches(self):
        self.assertEqual(self.searches(), SEARCHES)
        self.assertEqual(self.searches("--set", "tune.steps=1"), SEARCHES)
        self.assertEqual(self.searches("--set", "tune.steps=2"), SEARCHES)
        self.assertEqual(self.searches(data="other"), SEARCHES)
        self.assertEqual(self.searches("--repeat", "2"), SEARCHES, "the first seed's are there")


if __name__ == "__main__":
    unittest.main()
