"""What several tests use."""

import os
import pathlib
import subprocess

import subfleet

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The program beside which the package is tested; scripts/python-test says which.
PROGRAM = os.environ.get("SUBFLEET_PROGRAM", "")

SMALL = {
    "model.name": "emnist-mlp",
    "data.writers": 12,
    "data.seed": 3,
    "code.family": "gold",
    "round.clients": 4,
    "run.rounds": 4,
    "run.eval_every": 2,
    "run.eval_samples": 200,
    "run.checkpoint_every": 2,
    "run.seed": 7,
}


def config(**more):
    """A run of a second; `code_family="cwc"` is the setting code.family."""
    settings = dict(SMALL)
    settings.update({name.replace("_", ".", 1): value for name, value in more.items()})
    return subfleet.Config(settings)


def run_program(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True).stdout
