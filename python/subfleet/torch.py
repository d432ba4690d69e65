"""Coded federated dropout for PyTorch: your own nn.Module, the smaller module that a client trains, and the merge.

    net = TorchModel(my_module, input=(1, 28, 28))      # my_module: a chain of the usual layers
    weights = net.weights()
    client = net.client_module(submodel, weights)       # a genuinely smaller module; train it as you like
    net.merge(sum, submodel, weights, client.state_dict(), examples)

A module may have Linear, Conv2d, Embedding, LSTM, ReLU, MaxPool2d, AdaptiveAvgPool2d(1), Flatten and Dropout, as modules or
as functions of its forward, each called once and one after the other. Anything else is refused in one line.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np
import torch
from torch import nn

from ._core import JobMessage, Layer, Model, PartialSum, RequestError, SubModel, UpdateMessage
from ._torch_layers import ReadLayer, read_layers
from ._torch_modules import Network
from .tensors import flat_weights, named_weights

__all__ = ["TorchModel", "as_input", "module_of", "train_job", "train_locally"]


class TorchModel:
    """A PyTorch module as a Subfleet model, `model`; the module stays yours."""

    def __init__(
        self,
        module: nn.Module,
        input: Sequence[int],
        name: str = "torch-module",
        droppable: Optional[Iterable[str]] = None,
    ) -> None:
        """`input`: channels, height and width of one example, or (1, steps, 1) of a text. `droppable`: the modules, by
        their names, of which clients may hold a part; by default every one with weights but the first and the last.
        Raises Error for a module that is no chain of the usual layers."""
        self.module = module
        _refuse_shared_weights(module)
        layers = read_layers(module, _example(module, input))
        self._paths = [layer.path for layer in layers if layer.path]
        if droppable is not None:
            names = {path.replace(".", "_"): path for path in self._paths}  # as model.droppable has them
            droppable = [names.get(path, path) for path in droppable]
            for path in droppable:
                if path not in self._paths:
                    raise RequestError(f"droppable: no layer is called '{path}' (known: {', '.join(self._paths)})")
        self.model: Model = Model(_toml(name, input, layers, droppable))

    def weights(self) -> np.ndarray:
        """The flat weights of the module; a copy."""
        return self._flat(self.model, self.module.state_dict())

    def load(self, weights: np.ndarray) -> None:
        """Puts flat weights of the whole model into the module."""
        self.module.load_state_dict(self._state(self.model, weights), strict=False)

    def client_module(self, submodel: SubModel, weights: np.ndarray) -> nn.Module:
        """The smaller module of one client: a copy of the module whose layers have the kept units alone, with their
        weights, and what leaves them multiplied as `code.rescale` wants it."""
        smaller = copy.deepcopy(self.module)
        layers = [layer for layer in submodel.model.layers if layer.units]
        tensors = self._state(submodel.model, submodel.gather(weights))
        for path, layer in zip(self._paths, layers):
            parent, _, name = path.rpartition(".")
            old = smaller.get_submodule(path)
            new = _resized(old, {key: t.shape for key, t in tensors.items() if key.startswith(path + ".")}, path)
            for key, parameter in new.named_parameters():
                parameter.requires_grad_(old.get_parameter(key).requires_grad)
            setattr(smaller.get_submodule(parent), name, new)
            _rescale(new, layer)
        smaller.load_state_dict(tensors, strict=False)
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
        keys = self._keys()
        missing = next((key for key in keys if key not in state), None)
        if missing is not None:
            raise RequestError(f"{missing}: is missing among the trained tensors")
        return flat_weights(model, {p.name: _numpy(state[key]) for p, key in zip(model.parameters, keys)})

    def _state(self, model: Model, weights: np.ndarray) -> dict[str, torch.Tensor]:
        tensors = named_weights(model, np.asarray(weights, np.float32))
        return {key: torch.from_numpy(t.copy()) for key, t in zip(self._keys(), tensors.values())}

    def _keys(self) -> list[str]:
        """The module's names of the model's parameters, in order."""
        paths = {path.replace(".", "_"): path for path in self._paths}
        split = [p.name.split(".", 1) for p in self.model.parameters]
        return [f"{paths[layer]}.{tensor}" for layer, tensor in split]


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


def train_locally(
    module: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    lr: float,
    batch: int,
    orders: Iterable[np.ndarray],
    *,
    momentum: float = 0,
    weight_decay: float = 0,
    proximal: float = 0,
    augment: Optional[Callable[[torch.Tensor, int], torch.Tensor]] = None,
) -> tuple[float, float]:
    """SGD, an epoch for each order of the examples (subfleet.example_orders); `proximal` is FedProx's mu, and
    augment(examples, seen) makes of a batch what the module sees, where so many examples were seen before. A module with
    logits at every step of a text learns the next symbol at each. Returns the running mean of loss and accuracy, as it
    trains."""
    module.train()
    sgd = torch.optim.SGD(module.parameters(), lr=lr, momentum=momentum, weight_decay=weight_decay)
    given = [p.detach().clone() for p in module.parameters()] if proximal else []
    loss_sum, correct, seen = 0.0, 0, 0
    for order in orders:
        rows = torch.from_numpy(order.astype(np.int64))
        for first in range(0, len(rows), batch):
            chosen = rows[first : first + batch]
            sgd.zero_grad()
            examples, labels = x[chosen], y[chosen]
            logits = module(examples if augment is None else augment(examples, seen))
            of_steps = logits.dim() == 3
            targets = torch.cat([examples[:, 1:], labels[:, None]], 1) if of_steps else labels
            loss = nn.functional.cross_entropy(logits, targets)
            loss.backward()
            for parameter, start in zip(module.parameters(), given):
                parameter.grad.add_(parameter.detach() - start, alpha=proximal)
            sgd.step()
            loss_sum += float(loss.detach()) * len(chosen)
            last = logits.detach()[..., -1] if of_steps else logits.detach()
            correct += int((last.argmax(1) == labels).sum())
            seen += len(chosen)
    return loss_sum / max(seen, 1), correct / max(seen, 1)


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


class _Scale:
    """Multiplies what leaves a module; of an LSTM, not what it remembers."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, module: nn.Module, inputs: Any, output: Any) -> Any:
        if isinstance(output, tuple):
            return (output[0] * self.factor, *output[1:])
        return output * self.factor


def _rescale(module: nn.Module, layer: Layer) -> None:
    if layer.output_scale != 1:
        module.register_forward_hook(_Scale(layer.output_scale))


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().to("cpu", torch.float32).numpy()


def _example(module: nn.Module, input: Sequence[int]) -> torch.Tensor:
    if len(input) != 3:
        raise RequestError("input: must be (channels, height, width), as in (1, 28, 28), or (1, steps, 1) of a text")
    like = next(module.parameters(), torch.empty(0))
    if any(isinstance(child, nn.Embedding) for child in module.modules()):
        return torch.zeros((1, input[1]), dtype=torch.long, device=like.device)
    return torch.zeros((1, *input), dtype=like.dtype, device=like.device)


def _refuse_shared_weights(module: nn.Module) -> None:
    names: dict[int, str] = {}
    for path, child in module.named_modules():
        for key, parameter in child.named_parameters(prefix=path, recurse=False):
            if names.setdefault(id(parameter), key) != key:
                raise RequestError(f"module: {key} is the same tensor as {names[id(parameter)]}; every layer has its own")


def _toml(name: str, input: Sequence[int], layers: list[ReadLayer], droppable: Optional[Iterable[str]]) -> str:
    lines = [f'name = "{name}"', f"input = [{', '.join(str(int(side)) for side in input)}]"]
    for layer in layers:
        lines += ["[[layer]]", f'type = "{layer.type}"']
        if layer.path:
            lines.append(f'name = "{layer.path.replace(".", "_")}"')
            if droppable is not None:
                lines.append(f"droppable = {'true' if layer.path in droppable else 'false'}")
        lines += [f"{key} = {str(value).lower()}" for key, value in layer.keys.items()]
    return "\n".join(lines) + "\n"


def _resized(old: Any, shapes: Mapping[str, Sequence[int]], path: str) -> nn.Module:
    """A module like the old one, of other sizes."""
    weight = shapes.get(f"{path}.weight", ())
    like = {"dtype": next(old.parameters()).dtype, "device": next(old.parameters()).device}
    if isinstance(old, nn.Linear):
        return nn.Linear(weight[1], weight[0], **like)
    if isinstance(old, nn.Conv2d):
        return nn.Conv2d(weight[1], weight[0], old.kernel_size, old.stride, old.padding, **like)
    if isinstance(old, nn.Embedding):
        return nn.Embedding(weight[0], weight[1], **like)
    rows, columns = shapes[f"{path}.weight_ih_l0"]
    return nn.LSTM(columns, rows // 4, batch_first=True, **like)
