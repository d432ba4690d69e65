"""Work of many runs, as the program's commands do it: searches, sweeps, reproductions, reports. Started again with the same
folder, a sweep and a reproduction leave out what is finished; a search goes on with resume=True."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from . import _core
from ._core import Config, Fleet, RateSearch, Run

__all__ = ["report", "reproduce", "sweep", "tune"]

Path = Union[str, "os.PathLike[str]"]


def _say(progress: bool) -> Any:
    return (lambda line: print(line, flush=True)) if progress else None


def tune(
    config: Union[Config, Mapping[str, Any], None],
    out: Path,
    *,
    fleet: Optional[Fleet] = None,
    device: str = "cpu",
    threads: int = 0,
    init: Optional[Path] = None,
    resume: bool = False,
    train: bool = False,
    progress: bool = False,
) -> RateSearch:
    """Searches for the server's rate, or another number, as the settings tune.* say: `subfleet tune`. The search is written
    to `out`. With `train`, the winner's run goes on there to run.rounds; without, Run.resume does it later."""
    wanted = config if isinstance(config, Config) else Config(dict(config or {}))
    return _core.tune(wanted, out, fleet, device, threads, init, resume, train, _say(progress))


def sweep(
    file: Path,
    out: Path,
    settings: Optional[Mapping[str, Any]] = None,
    *,
    only: Iterable[str] = (),
    seeds: int = 0,
    device: str = "cpu",
    threads: int = 0,
    together: int = 1,
    progress: bool = False,
) -> dict[str, Any]:
    """Trains the runs of a sweep file with each of its seeds into `out` and returns what is in its results.json: `subfleet
    sweep`. `settings` are over the file's; `together`: so many seeds of a run side by side."""
    _core.sweep(file, out, dict(settings or {}), list(only), seeds, device, threads, together, _say(progress))
    return _results(out)


def reproduce(
    what: Union[str, Sequence[str]],
    out: Path = "runs/reproduce",
    settings: Optional[Mapping[str, Any]] = None,
    *,
    experiments: Path = "experiments",
    seeds: int = 0,
    device: str = "cpu",
    threads: int = 0,
    together: int = 1,
    progress: bool = False,
) -> dict[str, Any]:
    """Makes tables of the paper, "all", "beyond" or by name, from the experiments' folder, and returns what is in
    results.json: `subfleet reproduce`."""
    names = [what] if isinstance(what, str) else list(what)
    _core.reproduce(names, out, experiments, dict(settings or {}), seeds, device, threads, together, _say(progress))
    return _results(out)


def report(runs: Union[Path, Run, Iterable[Union[Path, Run]]], out: Path = "report.html", *, accuracy: Optional[float] = None) -> Any:
    """Writes one HTML page that compares runs, the one to compare with first, and returns its table: `subfleet report`."""
    each = [runs] if isinstance(runs, (str, os.PathLike, Run)) else list(runs)
    folders = [run.folder if isinstance(run, Run) else run for run in each]
    return json.loads(_core.report([pathlib.Path(str(folder)) for folder in folders], out, accuracy))


def _results(out: Path) -> dict[str, Any]:
    return json.loads((pathlib.Path(out) / "results.json").read_text())
