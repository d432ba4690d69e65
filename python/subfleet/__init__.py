"""Subfleet: federated learning in which every device trains a different, coded sub-model.

The words are those of the C++ API and of the program `subfleet`; docs/python.md shows them by example.
Every error is a `subfleet.Error` with one line that says what is wrong and what would be right.
"""

import collections.abc
import copyreg

from . import _core
from ._core import (
    Arrival,
    BookQuality,
    Candidate,
    ClientJob,
    ClientResult,
    Codec,
    Config,
    Data,
    Diverged,
    Error,
    Evaluation,
    Fleet,
    JobMessage,
    JobOutcome,
    JobResult,
    JobRunner,
    Layer,
    LocalFleet,
    Model,
    Parameter,
    PartialSum,
    ProgramFleet,
    RateSearch,
    RemoteFleet,
    RequestError,
    RoundMasks,
    RoundRecord,
    Run,
    SearchPlan,
    ServerOptimizer,
    SubModel,
    UpdateMessage,
    code_book,
    code_families,
    code_quality,
    code_weight,
    codec_names,
    data_source_names,
    device_names,
    example_orders,
    load_safetensors,
    model_names,
    optimizer_names,
    register_code_family,
    register_metric,
    register_schedule,
    register_server_optimizer,
    sample_clients,
    save_safetensors,
    version,
    whole_model,
)
from ._signatures import show_signatures
from .folder import RunFolder, read_run
from .rate_search import search
from .tensors import flat_weights, named_weights
from .work import report, reproduce, sweep, tune

__version__ = version()
for _error in (Error, RequestError, Diverged):
    _error.__module__ = "subfleet"
collections.abc.Mapping.register(Config)
for _kind in (Config, _core.RunConfig):  # a copy of a run's settings can be changed
    copyreg.pickle(_kind, lambda config: (Config, (config.settings,)))
show_signatures(globals())

__all__ = [
    "Arrival",
    "BookQuality",
    "Candidate",
    "ClientJob",
    "ClientResult",
    "Codec",
    "Config",
    "Data",
    "Diverged",
    "Error",
    "Evaluation",
    "Fleet",
    "JobMessage",
    "JobOutcome",
    "JobResult",
    "JobRunner",
    "Layer",
    "LocalFleet",
    "Model",
    "Parameter",
    "PartialSum",
    "ProgramFleet",
    "RateSearch",
    "RemoteFleet",
    "RequestError",
    "RoundMasks",
    "RoundRecord",
    "Run",
    "RunFolder",
    "SearchPlan",
    "ServerOptimizer",
    "SubModel",
    "UpdateMessage",
    "code_book",
    "code_families",
    "code_quality",
    "code_weight",
    "codec_names",
    "data_source_names",
    "device_names",
    "example_orders",
    "flat_weights",
    "load_safetensors",
    "model_names",
    "named_weights",
    "optimizer_names",
    "read_run",
    "register_code_family",
    "register_metric",
    "register_schedule",
    "register_server_optimizer",
    "report",
    "reproduce",
    "sample_clients",
    "save_safetensors",
    "search",
    "sweep",
    "tune",
    "version",
    "whole_model",
]
