"""Clients that train a module in PyTorch, for a Run: here or in processes of their own."""

from __future__ import annotations

import hashlib
import multiprocessing
import pathlib
import pickle
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence

import numpy as np
import torch

from .._core import ClientJob, Config, Data, ProgramFleet, RateSearch, RequestError, Run, SubModel, whole_model
from ..work import tune
from ._train import _cross_entropy, inputs_of, right_classes, rows_of, train_locally

__all__ = ["fleet_of", "run_of", "tune_of"]

TEST_BATCH = 500
MOST_MOVE = np.float32(60)  # of a statistic in a round: an update of 64 counts as diverged


@dataclass
class _How:
    """What workers need besides the module."""

    loss: Optional[Callable[[Any, torch.Tensor], torch.Tensor]]
    right: Callable[[Any, torch.Tensor], float]
    devices: Sequence[str]
    threads: int


@dataclass
class _Work:
    """A client's round."""

    submodel: SubModel
    weights: np.ndarray
    x: Any
    y: torch.Tensor
    orders: list[np.ndarray]
    seed: int
    sgd: dict[str, float]


def _train(net: Any, how: _How, device: str, work: _Work) -> tuple[np.ndarray, int, float, float]:
    before = torch.get_num_threads()
    torch.set_num_threads(how.threads)
    try:
        devices = [torch.device(device)] if device.startswith("cuda") else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(work.seed)
            module = net.module_with(work.submodel, work.weights).to(device)
            x = tuple(each.to(device) for each in inputs_of(work.x))
            loss, right = train_locally(
                module, x, work.y.to(device), orders=work.orders, loss=how.loss, right=how.right, **work.sgd)  # type: ignore[arg-type]
    finally:
        torch.set_num_threads(before)
    trained = net._flat(work.submodel.model, module.state_dict())
    for parameter in work.submodel.model.parameters:
        if parameter.statistic:
            part = slice(parameter.offset, parameter.offset + parameter.size)
            np.clip(trained[part], work.weights[part] - MOST_MOVE, work.weights[part] + MOST_MOVE, out=trained[part])
    return trained, len(work.y), loss, right


_of_worker: Any = None


def _begin_worker(net: Any, how: _How, numbers: Any) -> None:
    global _of_worker
    number = numbers.get()
    _of_worker = (net, how, how.devices[number % len(how.devices)])


def _check_travels(how: _How) -> None:
    for name, function in (("loss", how.loss), ("right", how.right)):
        try:
            pickle.dumps(function)
        except Exception as error:
            why = str(error).splitlines()[0]
            raise RequestError(f"{name}: goes to the worker processes, so it must be a function of a file, no lambda ({why})") from None


def _work(work: _Work) -> tuple[np.ndarray, int, float, float]:
    return _train(*_of_worker, work)


class _Clients:
    """Their examples, as tensors."""

    def __init__(self, net: Any, clients: Any, test: Any) -> None:
        self._as_input = net.as_input
        if isinstance(clients, Data):
            self.count = clients.clients
            self._pairs: Any = clients
            self.test = self._of_data(clients.test_set()) if test is None else _pair("test", test)
        else:
            self._pairs = [_pair(f"clients[{i}]", pair) for i, pair in enumerate(clients)]
            self.count = len(self._pairs)
            self.test = None if test is None else _pair("test", test)
        if self.count == 0:
            raise RequestError("clients: there is none")

    def __getitem__(self, client: int) -> tuple[Any, torch.Tensor]:
        if isinstance(self._pairs, Data):
            return self._of_data(self._pairs.train(client))
        return self._pairs[client]

    def _of_data(self, pair: tuple[np.ndarray, np.ndarray]) -> tuple[Any, torch.Tensor]:
        return self._as_input(pair[0]), torch.from_numpy(pair[1]).long()

    def fingerprint(self) -> int:
        digest = hashlib.blake2b(digest_size=8)
        pairs = [self[client] for client in range(self.count)] + ([self.test] if self.test else [])
        for x, y in pairs:
            for tensor in (*inputs_of(x), y):
                digest.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
                digest.update(np.ascontiguousarray(tensor.cpu().numpy()).tobytes())
        return int.from_bytes(digest.digest(), "little")


class TorchProgram:
    """What a ProgramFleet asks, done in PyTorch."""

    def __init__(self, net: Any, clients: _Clients, how: _How, workers: int) -> None:
        self._net, self._data, self._how = net, clients, how
        self.folder = tempfile.TemporaryDirectory(prefix="subfleet-")
        self.model_file = pathlib.Path(self.folder.name) / f"{net.model.name}.toml"
        self.model_file.write_text(net.model.toml())
        self.clients, self.input, self.classes = clients.count, net.model.input, net.model.classes
        self.data_fingerprint = clients.fingerprint()
        self.initial_weights = net.weights()
        self.device, self.workers = how.devices[0], workers
        self.jobs_at_once = max(1, 2 * workers)
        self._pool: Optional[ProcessPoolExecutor] = None
        if workers:
            _check_travels(how)
            context = multiprocessing.get_context("spawn")
            numbers = context.Queue()
            for number in range(workers):
                numbers.put(number)
            self._pool = ProcessPoolExecutor(workers, context, _begin_worker, (net, how, numbers))

    def train(self, jobs: list[ClientJob]) -> list[tuple[np.ndarray, int, float, float]]:
        work = [self._work_of(job) for job in jobs]
        if self._pool is not None:
            return list(self._pool.map(_work, work))
        return [_train(self._net, self._how, self._how.devices[0], each) for each in work]

    def _work_of(self, job: ClientJob) -> _Work:
        x, y = self._data[job.client]
        sgd = {"lr": job.client_lr, "batch": job.batch, "momentum": job.momentum, "weight_decay": job.weight_decay,
               "proximal": job.proximal}  # fmt: skip
        return _Work(job.submodel, np.array(job.weights), x, y, job.example_orders(len(y)), job.random_seed, sgd)

    def test(self, weights: np.ndarray) -> tuple[int, int, float]:
        if self._data.test is None:
            return 0, 0, 0.0
        x, y = self._data.test
        device = self._how.devices[0]
        module = self._net.module_with(whole_model(self._net.model), weights).to(device).eval()
        loss = right = 0.0
        with torch.no_grad():
            for rows in torch.arange(len(y)).split(TEST_BATCH):
                examples = tuple(each.to(device) for each in rows_of(x, rows))
                outputs, wanted = module(*examples), y[rows].to(device)
                loss += float((self._how.loss or _cross_entropy(examples[0]))(outputs, wanted)) * len(rows)
                right += float(self._how.right(outputs, wanted)) * len(rows)
        return len(y), round(right), loss


def _program_of(
    net: Any,
    clients: Any,
    *,
    test: Any = None,
    loss: Optional[Callable[[Any, torch.Tensor], torch.Tensor]] = None,
    right: Callable[[Any, torch.Tensor], float] = right_classes,
    workers: int = 0,
    devices: Sequence[str] = ("cpu",),
    threads: int = 1,
) -> TorchProgram:
    devices = [devices] if isinstance(devices, str) else list(devices)
    for device in devices:
        try:
            torch.empty(0, device=device)
        except Exception as error:
            raise RequestError(f"devices: PyTorch has no '{device}' here ({str(error).splitlines()[0]})") from None
    return TorchProgram(net, _Clients(net, clients, test), _How(loss, right, devices, threads), workers)


def _fleet(program: TorchProgram) -> ProgramFleet:
    return ProgramFleet(program, "torch", f"{torch.__version__} {program.device}", max(1, program.workers))


def fleet_of(net: Any, clients: Any, **how: Any) -> ProgramFleet:
    return _fleet(_program_of(net, clients, **how))


def run_of(net: Any, clients: Any, settings: Any, out: Any, resume: bool, how: dict[str, Any]) -> Run:
    program = _program_of(net, clients, **how)
    if resume:
        return Run.resume(out, dict(settings or {}), fleet=_fleet(program))
    if out is not None and (pathlib.Path(out) / "config.toml").exists():
        raise RequestError(f"{out}: holds a run already; go on with it by resume=True, or name another folder")
    return Run(_config(program, settings), fleet=_fleet(program), init=program.initial_weights, out=out)


def tune_of(net: Any, clients: Any, settings: Any, out: Any, resume: bool, progress: bool, how: dict[str, Any]) -> RateSearch:
    program = _program_of(net, clients, **how)
    return tune(_config(program, settings), out, fleet=_fleet(program), resume=resume, progress=progress)


def _config(program: TorchProgram, settings: Any) -> Config:
    config = Config({"code.family": "balanced"})  # which takes groups of any size
    config.update(dict(settings or {}))
    if config["round.flip"] or config["round.crop"]:
        raise RequestError("round.flip, round.crop: a module of your own sees its examples as they are; turn them in it")
    config["model.file"] = program.model_file
    return config


def _pair(whose: str, pair: Any) -> tuple[Any, torch.Tensor]:
    try:
        x, y = pair
    except (TypeError, ValueError):
        raise RequestError(f"{whose}: must be a pair (x, y)") from None
    inputs = tuple(_tensor(whose, each) for each in inputs_of(x))
    y = _tensor(whose, y)
    if not y.is_floating_point():
        y = y.long()
    if any(len(each) != len(y) for each in inputs):
        raise RequestError(f"{whose}: {', '.join(str(len(each)) for each in inputs)} examples and {len(y)} answers")
    return inputs if len(inputs) > 1 else inputs[0], y


def _tensor(whose: str, values: Any) -> torch.Tensor:
    try:
        tensor = torch.as_tensor(np.asarray(values) if not isinstance(values, torch.Tensor) else values)
    except Exception as error:
        raise RequestError(f"{whose}: is no array of numbers ({str(error).splitlines()[0]})") from None
    if tensor.dim() == 0:
        raise RequestError(f"{whose}: is a single number, not an array of examples")
    return tensor.float() if tensor.dtype == torch.float64 else tensor
