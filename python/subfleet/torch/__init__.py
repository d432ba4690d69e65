"""Coded federated dropout for PyTorch: your own nn.Module, the smaller module that a client trains, and the merge.

    net = TorchModel(my_module, input=(1, 28, 28))      # any module that torch.fx can follow
    run = net.run(clients=[(x, y), ...], test=(x, y), settings={"round.clients": 10}, out="runs/mine")
    run.train(progress=True)
    net.load(run.tested_weights)

or, by hand, for each client of a round:

    client = net.client_module(submodel, weights)       # a genuinely smaller module; train it as you like
    net.merge(sum, submodel, weights, client.state_dict(), examples)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np
import torch
from torch import nn

from .._core import JobMessage, Model, PartialSum, RequestError, SubModel, UpdateMessage
from ._layers import read_layers
from ._network import Network
from ._text import layers_text, tensors_text
from ._trace import trace
from ._train import right_classes, train_locally
from ..tensors import flat_weights, named_weights

if TYPE_CHECKING:
    from .._core import ProgramFleet, RateSearch, Run

__all__ = ["TorchModel", "as_input", "layered_model", "module_of", "right_classes", "train_job", "train_locally"]

Input = Union[Sequence[int], torch.Tensor, Sequence[torch.Tensor]]


class TorchModel:
    """A PyTorch module as a Subfleet model, `model`; the module stays yours."""

    def __init__(
        self,
        module: nn.Module,
        input: Input,
        name: str = "torch-module",
        droppable: Optional[Iterable[str]] = None,
    ) -> None:
        """`input`: the shape of one example, as channels, height and width, or (1, steps, 1) of a text; or a batch of two
        or more examples as the module takes them, a tuple of tensors for several inputs. `droppable`: the groups of units
        of which clients may hold a part, by the names of the modules that make them; by default all but the first, the
        last and those of layers whose outputs are added. Raises Error for a module that torch.fx cannot follow."""
        self.module = module
        self.example = _example(module, input)
        self.traced = trace(module, self.example)
        groups = _plain_names(group.name for group in self.traced.groups)
        if droppable is None:
            chosen = {group.name for group in self.traced.groups if group.droppable}
        else:
            chosen = {_named(groups, self.traced.whole, wanted) for wanted in droppable}
        self._droppable = [group.name for group in self.traced.groups if group.name in chosen]
        outputs = _outputs(module, self.example)
        self.model = Model(tensors_text(name, _sides(self.example[0]), outputs, self.traced, groups, chosen))

    def __reduce__(self) -> Any:
        return TorchModel, (self.module, self.example, self.model.name, self._droppable)

    def __repr__(self) -> str:
        return f"TorchModel({type(self.module).__name__}, {self.model.size} weights, {len(self._droppable)} droppable groups)"

    def as_input(self, inputs: np.ndarray) -> torch.Tensor:
        """A federation's examples (subfleet.Data) as the module takes them: of the shape and the type of its own example."""
        example = self.example[0]
        return torch.from_numpy(np.ascontiguousarray(inputs)).reshape(len(inputs), *example.shape[1:]).to(example.dtype)

    def weights(self) -> np.ndarray:
        """The flat weights of the module, and the running statistics of its normalisations; a copy."""
        return self._flat(self.model, self.module.state_dict())

    def load(self, weights: np.ndarray) -> None:
        """Puts flat weights of the whole model into the module."""
        _load(self.module, self.model, weights)

    def client_module(self, submodel: SubModel, weights: np.ndarray) -> nn.Module:
        """The smaller module of one client, out of the whole model's weights: a copy of the module whose layers have the
        kept units alone, and what they read is multiplied as `code.rescale` wants it."""
        return self.module_with(submodel, submodel.gather(weights))

    def module_with(self, submodel: SubModel, weights: np.ndarray) -> nn.Module:
        """The same with the sub-model's own weights."""
        smaller = self.traced.smaller(dict(zip(self._droppable, submodel.kept)), submodel.rescaled)
        _load(smaller, submodel.model, weights)
        return smaller

    def merge(
        self,
        sum: PartialSum,
        submodel: SubModel,
        weights: np.ndarray,
        trained: Mapping[str, torch.Tensor],
        examples: int,
    ) -> bool:
        """Adds what a client's module, given from `weights`, has learnt: `trained` is its state_dict. False, and nothing
        is added, if a value is not finite or absurd, or without examples."""
        return sum.add_difference(submodel, weights, self._flat(submodel.model, trained), examples)

    def _flat(self, model: Model, state: Mapping[str, torch.Tensor]) -> np.ndarray:
        missing = next((p.name for p in model.parameters if p.name not in state), None)
        if missing is not None:
            raise RequestError(f"{missing}: is missing among the trained tensors")
        return flat_weights(model, {p.name: _numpy(state[p.name]) for p in model.parameters})

    def fleet(self, clients: Any, **how: Any) -> "ProgramFleet":
        """Clients that train this module, for a Run; the arguments are those of run()."""
        from ._program import fleet_of

        return fleet_of(self, clients, **how)

    def run(self, clients: Any, settings: Any = None, out: Any = None, resume: bool = False, **how: Any) -> "Run":
        """A Run of this module. `clients`: subfleet.Data, or a pair (x, y) for each client, arrays or tensors, x a tuple of
        them for several inputs. `settings`, `out`: as of Run; code.family is `balanced` by default. `resume`: goes on with
        the run in `out`. `how`:
        test: a pair (x, y); of Data, its own test set.
        loss: loss(outputs, y), a mean over the batch; by default cross-entropy.
        right: right(outputs, y), the share that is right, from 0 to 1; by default, of whole numbers as y, how often the
        largest output is theirs.
        workers: so many processes train clients, each with one thread; 0: this process does.
        devices: where, as ["cuda:0", "cuda:1"]; workers take turns.
        threads: of PyTorch, per client; its last digits vary with them."""
        from ._program import run_of

        return run_of(self, clients, settings, out, resume, how)

    def tune(
        self, clients: Any, settings: Any, out: Any, resume: bool = False, progress: bool = False, **how: Any
    ) -> "RateSearch":
        """Searches the server's rate for such runs, as subfleet.tune; the arguments are those of run()."""
        from ._program import tune_of

        return tune_of(self, clients, settings, out, resume, progress, how)


def layered_model(
    module: nn.Module, input: Sequence[int], name: str = "torch-module", droppable: Optional[Iterable[str]] = None
) -> Model:
    """The model of Subfleet's layers that a chain of Linear, Conv2d, Embedding, LSTM, ReLU, pools, Flatten and Dropout is,
    which Subfleet's own trainers train; the flat weights are the module's. Anything else is refused in one line."""
    _refuse_shared_weights(module)
    layers = read_layers(module, _example(module, input)[0][:1])
    names = _plain_names(layer.path for layer in layers if layer.path)
    chosen = None if droppable is None else {_named(names, {}, wanted) for wanted in droppable}
    return Model(layers_text(name, input, layers, chosen))


def module_of(model: Union[Model, SubModel]) -> nn.Module:
    """A model of Subfleet's, or a client's part, as a module with the names of its layers; weights as PyTorch makes them. It
    gives a row of logits for each example or, where a model has them at every step of a sequence, classes x steps."""
    if isinstance(model, SubModel):
        return Network(model.model, model.channel_groups)
    return Network(model)


def as_input(model: Model, inputs: np.ndarray) -> torch.Tensor:
    """Examples of a federation as the module of such a model takes them: symbols as whole numbers, one row per text."""
    x = torch.from_numpy(np.ascontiguousarray(inputs))
    return x.reshape(len(x), -1).long() if model.layers[0].symbols else x.reshape(len(x), *model.input)


def train_job(job: JobMessage, inputs: np.ndarray, labels: np.ndarray, device: str = "cpu") -> UpdateMessage:
    """Does what a job asks for, in PyTorch, with these examples: what a client answers."""
    model = job.submodel().model
    module = module_of(job.submodel())
    given = named_weights(model, job.given_weights())
    module.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in given.items()})
    module.to(device)
    x, y = as_input(model, inputs).to(device), torch.from_numpy(labels.astype(np.int64)).to(device)

    def augment(examples: torch.Tensor, seen: int) -> torch.Tensor:
        augmented = job.augment(np.ascontiguousarray(_numpy(examples)).reshape(-1), seen)
        return torch.from_numpy(augmented).reshape(examples.shape).to(device)

    loss, accuracy = train_locally(
        module, x, y, job.client_lr, job.batch, job.example_orders(len(labels)),
        momentum=job.momentum, weight_decay=job.weight_decay, proximal=job.proximal,
        augment=augment if job.flip or job.crop else None,
    )  # fmt: skip
    trained = {name: _numpy(tensor) for name, tensor in module.state_dict().items()}
    return job.reply(flat_weights(model, trained), len(labels), loss, accuracy)


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to("cpu", torch.float32).numpy()


def _load(module: nn.Module, model: Model, weights: np.ndarray) -> None:
    tensors = named_weights(model, np.asarray(weights, np.float32))
    module.load_state_dict({key: torch.from_numpy(t.copy()) for key, t in tensors.items()}, strict=False)


def _plain_names(names: Iterable[str]) -> dict[str, str]:
    """Each as the name of a group, which is part of a setting's, so that no dot is in it; no two alike."""
    plain: dict[str, str] = {}
    for name in names:
        short = re.sub(r"[^0-9A-Za-z_-]", "_", name)
        while short in plain.values():
            short += "-2"
        plain[name] = short
    return plain


def _named(names: Mapping[str, str], whole: Mapping[str, str], wanted: str) -> str:
    """The name, or that of a module, as it is among these."""
    for name, plain in names.items():
        if wanted in (name, plain):
            return name
    if wanted in whole:
        raise RequestError(f"droppable: {wanted} is always whole: {whole[wanted]}")
    raise RequestError(f"droppable: no group of units is called '{wanted}' (known: {', '.join(names)})")


def _example(module: nn.Module, input: Input) -> tuple[torch.Tensor, ...]:
    """A batch of two, as a tuple of what forward() takes."""
    if isinstance(input, torch.Tensor):
        return (input,)
    if len(input) and all(isinstance(each, torch.Tensor) for each in input):
        return tuple(input)  # type: ignore[arg-type]
    if not len(input) or not all(isinstance(side, (int, np.integer)) and side > 0 for side in input):
        raise RequestError("input: must be the shape of an example, as in (1, 28, 28), or a batch of examples, as tensors")
    like = next(module.parameters(), torch.empty(0))
    if any(isinstance(child, nn.Embedding) for child in module.modules()) and len(input) == 3:
        return (torch.zeros((2, input[1]), dtype=torch.long, device=like.device),)
    return (torch.zeros((2, *input), dtype=like.dtype, device=like.device),)


def _sides(x: torch.Tensor) -> tuple[int, int, int]:
    """An example's shape as channels, height and width."""
    shape = tuple(int(side) for side in x.shape[1:])
    if len(shape) > 3:
        return (int(np.prod(shape)), 1, 1)
    return (*shape, 1, 1, 1)[:3]  # type: ignore[return-value]


def _outputs(module: nn.Module, example: tuple[torch.Tensor, ...]) -> int:
    """How many numbers it gives for an example: classes, if there are several axes."""
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            outputs = module(*example)
    finally:
        module.train(was_training)
    if not isinstance(outputs, torch.Tensor):
        return 1
    return int(outputs.shape[1]) if outputs.dim() > 1 else 1


def _refuse_shared_weights(module: nn.Module) -> None:
    names: dict[int, str] = {}
    for path, child in module.named_modules():
        for key, parameter in child.named_parameters(prefix=path, recurse=False):
            if names.setdefault(id(parameter), key) != key:
                raise RequestError(f"module: {key} is the same tensor as {names[id(parameter)]}; every layer has its own")
