"""Run folders, as `subfleet train` and `Run(out=...)` write them, as arrays."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path
from typing import Any, Union

import numpy as np

from . import _core
from .tensors import named_weights

__all__ = ["RunFolder", "read_run"]


class RunFolder:
    """What a run folder holds. `rounds` has one array per column of the log, with a value per round."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        summary = _core.RunSummary(Path(folder))
        self.name: str = summary.name
        self.folder: Path = summary.folder
        self._records = summary.rounds
        self.rounds: dict[str, np.ndarray] = _columns(summary.rounds)
        #: Exchanged by the other candidates of the search that the run won.
        self.search_bytes: int = summary.search_bytes
        #: The data, the weights it began with, and every session that worked on it.
        self.provenance: Any = json.loads(summary.provenance)

    @property
    def config(self) -> _core.Config:
        """The run's settings."""
        return _core.load_run_config(self.folder)

    @property
    def settings(self) -> dict[str, Any]:
        """The same by their names."""
        return self.config.settings

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """The tensors of model.safetensors, which is there once the run was finished or stopped. Raises Error
        if the run has gone on since."""
        return named_weights(*_core.load_run_weights(self.folder))

    def to_pandas(self) -> Any:
        """`rounds` as a pandas.DataFrame, indexed by the round."""
        import pandas

        return pandas.DataFrame(self.rounds).set_index("round")

    def __repr__(self) -> str:
        return f"RunFolder({self.name}, {len(self.rounds['round'])} rounds)"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{_core.curve_html(self.name, self._records)}"


def read_run(folder: Union[str, "os.PathLike[str]"]) -> RunFolder:
    """Reads a run folder. Raises Error if it is no run folder, or if a file in it cannot be read."""
    return RunFolder(folder)


def _columns(records: list[_core.RoundRecord]) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {}
    for name in ("round", "bytes_down", "bytes_up"):
        columns[name] = np.array([getattr(r, name) for r in records], np.int64)
    for name in ("train_loss", "train_accuracy_median", "test_accuracy", "test_loss", "seconds"):
        columns[name] = np.array([_number(getattr(r, name)) for r in records], np.float64)
    for name in sorted({name for r in records for name in r.metrics}):
        columns[f"metric_{name}"] = np.array([r.metrics.get(name, float("nan")) for r in records], np.float64)
    for name in _core.JobOutcome.__members__:
        columns[name] = np.array([r.outcomes[name] for r in records], np.int64)
    return columns


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
