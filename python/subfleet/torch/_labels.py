"""Goes through a followed graph, call by call, and labels what each gives; the rules of the calls are in tables."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import torch
from torch import fx, nn
from torch.nn.utils.rnn import PackedSequence

from ._follow import call_name, holds_tensor, own_reason
from ._units import Units, Value

__all__ = ["Intake", "Labeller", "each_value", "plain_name"]

Fields = list  # of labels: one field per axis that something can be dropped along


@dataclass
class Intake:
    """Where units of a value are mixed by weights: what is to be rescaled."""

    node: fx.Node
    given: Optional[fx.Node]  # the argument of a function; None for a layer
    index: int  # the argument of a layer
    axis: int
    labels: torch.Tensor


class Labeller:
    """`functions` and `layers`: the rules, which have the parameters of what they follow and return the fields of what it
    gives: a list of fields, a tuple of them where it gives several tensors, or None where all is whole."""

    def __init__(
        self, module: nn.Module, functions: dict[str, Callable[..., Any]],
        layers: Callable[[nn.Module], Optional[Callable[..., Any]]],
    ) -> None:
        self.module, self.functions, self.layers = module, functions, layers
        self.units = Units()
        self.names: dict[int, str] = {}  # of tensors, by id; a shared one has one name
        self.axes: dict[str, list[Optional[torch.Tensor]]] = {}
        self.tensors: dict[str, torch.Tensor] = {}
        self.statistics: set[str] = set()
        self.whole: dict[str, str] = {}
        self.intakes: list[Intake] = []
        self.inputs: dict[str, Value] = {}  # of layers that have sizes of their own: what each was given
        self.values: dict[fx.Node, Any] = {}
        self.all: list[tuple[str, Value]] = []  # every value with the name of its call
        for path, child in module.named_modules():
            prefix = f"{path}." if path else ""
            for key, tensor in [*child._parameters.items(), *child._buffers.items()]:
                if tensor is not None and self.names.setdefault(id(tensor), prefix + key) == prefix + key:
                    self.tensors[prefix + key] = tensor
        self.node: fx.Node
        self.call = self.path = ""

    # what rules use

    def tensor(self, name: str) -> Optional[Value]:
        """A parameter or buffer of the layer that is called."""
        tensor = getattr(self.module.get_submodule(self.path), name, None)
        return None if tensor is None else self.own(tensor)

    def own(self, tensor: torch.Tensor) -> Value:
        """The labels of a tensor of the module's: those of every axis on its own."""
        name = self.names[id(tensor)]
        if name not in self.axes:
            self.axes[name] = [self.units.fresh(size) if size > 1 else None for size in tensor.shape]
        fields = []
        for axis, labels in enumerate(self.axes[name]):
            if labels is not None:
                fields.append(labels.reshape([-1 if i == axis else 1 for i in range(tensor.dim())]))
        return Value(tuple(tensor.shape), fields, True, name, tensor)

    def vector(self, value: Value, axis: int) -> torch.Tensor:
        """The labels along one axis, which depend on no other by now."""
        axis %= len(value.shape)
        why = self.why("its features are spread over several axes")
        for labels in self.units.refreshed(value, value.fields, why).fields:
            if labels.shape[axis] > 1:
                for other in range(labels.dim()):
                    if other != axis and labels.shape[other] > 1:
                        self.units.mix(labels, other, why)
                place = [slice(None) if i == axis else 0 for i in range(labels.dim())]
                return self.units.root[labels[tuple(place)]]
        return torch.zeros(value.shape[axis], dtype=torch.long)

    def field(self, value: Value, axis: int, labels: torch.Tensor, shape: Optional[Sequence[int]] = None) -> torch.Tensor:
        """Labels along an axis as a field of a tensor of the value's rank."""
        rank = len(shape or value.shape)
        return labels.reshape([-1 if i == axis % rank else 1 for i in range(rank)])

    def meet(self, value: Value, axis: int, labels: torch.Tensor) -> None:
        """Along this axis, the value's features are the same units as the labels."""
        axis %= len(value.shape)
        along = Value((len(labels),) + (1,) * (len(value.shape) - axis - 1), [])
        along.fields = [labels.reshape(along.shape)]
        value.fields = self.units.joined([value, along], self.why("joined with what is always whole"))

    def mixed(self, value: Value, axes: Any, why: str) -> Value:
        """Takes together what is along these axes."""
        rank = len(value.shape)
        return self.units.mixed(value, [axis % rank for axis in axes], self.why(why))

    def joined(self, *values: Optional[Value]) -> Fields:
        """Of an elementwise call."""
        return self.units.joined([v for v in values if isinstance(v, Value)], self.why("joined with what is always whole"))

    def moved(self, value: Value, move: Callable[[torch.Tensor], Any]) -> Any:
        """Of a call that moves features or leaves some out: the same is done with their labels."""
        made = [move(labels.expand(value.shape)) for labels in value.fields]
        out = self.node.meta["example"]
        if isinstance(out, torch.Tensor):
            return made
        return tuple([one[index] for one in made] for index in range(len(out)))

    def taken(self, value: Value, index: int, axis: int, labels: torch.Tensor) -> None:
        """Notes that weights mix what the value has along an axis. `index`: of the argument, for a layer."""
        given = None
        if self.node.op != "call_module":
            given = next((node for node in self.node.all_input_nodes if self.values.get(node) is value), None)
            if given is None:
                return
        self.intakes.append(Intake(self.node, given, index, axis % len(value.shape) - len(value.shape), labels))

    def made(self, labels: torch.Tensor, name: str = "") -> None:
        self.units.made_by(labels, name or self.call)

    def opaque(self, reason: str, *values: Any) -> None:
        """All that goes into the call stays whole."""
        for value in values:
            for one in each_value(value):
                self.units.whole(one, f"{self.call}: {reason}")

    def why(self, reason: str) -> str:
        return f"{self.call}: {reason}"

    # the way through the graph

    def label(self, graph: fx.Graph) -> None:
        for node in graph.nodes:
            self.node, self.call, self.path = node, call_name(node), ""
            if node.op == "output":
                for one in each_value(self._arguments(node)):
                    self.units.whole(one, "the module gives them")
                continue
            made = self._label_node(node)
            self.values[node] = made
            self.all += [(self.call, value) for value in each_value(made)]

    def _arguments(self, node: fx.Node) -> tuple[tuple, dict[str, Any]]:
        def value(one: fx.Node) -> Any:
            known = self.values.get(one)
            return one.meta["example"] if known is None else known

        return fx.node.map_arg((node.args, node.kwargs), value)

    def _label_node(self, node: fx.Node) -> Any:
        example = node.meta["example"]
        if node.op == "placeholder":
            return _valued(example, None)
        if node.op == "get_attr":
            own = isinstance(example, torch.Tensor) and id(example) in self.names
            return self.own(example) if own else _valued(example, None)
        args, kwargs = self._arguments(node)
        given = list(each_value((args, kwargs)))
        for value in given:
            value.fields = self.units.refreshed(value, value.fields, self.why("joined with what is always whole")).fields
        if node.op == "call_module":
            fields = self._layer(node, args, kwargs, given)
        elif node.target is operator.getitem and not isinstance(args[0], Value):
            return args[0][args[1]] if given else _valued(example, None)
        elif hasattr(node.target, "_fields"):
            return tuple(args)
        elif node.target is getattr and isinstance(args[0], tuple) and args[1] in getattr(args[0], "_fields", ()):
            return getattr(args[0], args[1])
        elif not holds_tensor(example) and node.target is not operator.setitem:
            fields = self._number(node, given)
        else:
            rule = self.functions.get(plain_name(node.target))
            if rule is None:
                fields = self.opaque("is a call that no units are followed through", given)
            else:
                fields = rule(self, *args, **kwargs)
        made = _valued(example, fields)
        weight = bool(given) and all(value.weight for value in given)
        for value in each_value(made):
            value.weight = weight and node.op != "call_module"
            value.name = given[0].name if weight else ""
            value.fields = self.units.refreshed(value, value.fields, self.why("mixes units")).fields
        return made

    def _layer(self, node: fx.Node, args: tuple, kwargs: dict[str, Any], given: list[Value]) -> Any:
        self.path = str(node.target)
        layer = self.module.get_submodule(self.path)
        follow = self.layers(layer)
        reason = node.meta.get("opaque") or next(filter(None, map(own_reason, layer.modules())), "")
        if not reason and follow is None:
            reason = f"a {type(layer).__name__} is a layer that no units are followed through"
        if not reason and given and not args and not isinstance(layer, nn.MultiheadAttention):
            reason = "is called with names instead of positions"
        if not reason:
            sized = hasattr(layer, "normalized_shape") or isinstance(
                layer, (nn.GroupNorm, nn.MultiheadAttention, nn.RNNBase, nn.Unflatten))
            first = args[0] if args and sized and isinstance(args[0], Value) else None
            if first is not None and self.path in self.inputs:
                before = self.inputs[self.path]
                if len(before.shape) == len(first.shape):
                    for axis in range(len(first.shape)):
                        if before.shape[axis] == first.shape[axis] and any(f.shape[axis] > 1 for f in before.fields):
                            self.meet(first, axis, self.vector(before, axis))
            elif first is not None:
                self.inputs[self.path] = first
            return follow(self, layer, *args, **kwargs)
        return self.keep(layer, reason, given)

    def keep(self, layer: nn.Module, reason: str, given: Any) -> None:
        """The layer stays as it is."""
        self.opaque(reason, given)
        self.inputs.pop(self.path, None)
        self.whole.setdefault(self.call, reason)
        for tensor in [*layer.parameters(), *layer.buffers()]:
            if id(tensor) in self.names:
                self.units.whole(self.own(tensor), f"{self.call}: {reason}")
        return None

    def _number(self, node: fx.Node, given: list[Value]) -> None:
        if plain_name(node.target) not in ("size", "dim", "ndimension", "is_floating_point", "len", "get_device", "getattr",
                                           "is_complex", "assert", "numel", "nelement"):
            self.opaque("makes a number of them", given)


def plain_name(target: Any) -> str:
    """One name for a function, a method and an operator that do the same; empty for what is not PyTorch's."""
    if isinstance(target, str):
        name = target
    else:
        name = getattr(target, "__name__", "")
        home = getattr(target, "__module__", None) or "torch"
        known = home.split(".")[0] in ("torch", "_operator", "operator", "math", "builtins")
        if not known and not (home.startswith("torchvision.ops") and name == "stochastic_depth"):
            return ""
    name = name.strip("_") if name != "_assert" else name
    short = {"iadd": "add", "isub": "sub", "imul": "mul", "itruediv": "truediv", "radd": "add", "rmul": "mul",
             "rsub": "sub", "rtruediv": "truediv", "rmatmul": "matmul", "imatmul": "matmul"}
    return short.get(name, name)


def _valued(example: Any, fields: Any) -> Union[Value, tuple, None]:
    """Values for the tensors of an example."""
    if isinstance(example, torch.Tensor):
        return Value(tuple(example.shape), list(fields or []), example=example)
    if isinstance(example, PackedSequence):
        return Value(tuple(example.data.shape), list(fields or []))
    if isinstance(example, (tuple, list)) and not isinstance(example, torch.Size) and holds_tensor(example):
        return tuple(_valued(one, fields[index] if fields else None) for index, one in enumerate(example))
    if isinstance(example, dict) and holds_tensor(example):
        return {key: _valued(one, None) for key, one in example.items()}
    return None


def each_value(value: Any) -> Iterator[Value]:
    if isinstance(value, Value):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from each_value(one)
    elif isinstance(value, dict):
        yield from each_value(tuple(value.values()))
    elif isinstance(value, slice):
        yield from each_value((value.start, value.stop, value.step))
