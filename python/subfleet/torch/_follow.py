"""Follows the forward of a module: a graph of its calls, with what each of them gives for the example."""

from __future__ import annotations

import contextlib
import copy
import inspect
import operator
import types
from typing import Any, Callable, Iterator, Optional

import torch
from torch import fx, nn
from torch.fx.proxy import Attribute
from torch.nn.utils import rnn

from .._core import RequestError
from ._transformer import FORWARDS

__all__ = ["call_name", "copied", "first_line", "follow", "own_reason"]

# Where an nn.Module keeps what is called besides its forward.
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
# What makes a tensor of given sizes, and other functions that are not told apart by what they are given.
MAKERS = ("arange", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "tril_indices", "zeros")
PACKING = (rnn.pack_padded_sequence, rnn.pad_packed_sequence)


def first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def own_reason(module: nn.Module) -> str:
    """Why a module has to stay as it is, with all that it holds; empty if it does not have to."""
    if any(getattr(module, kind, None) for kind in HOOKS):
        return "has hooks, as weight_norm and prune make them"
    if hasattr(module, "parametrizations"):
        return "has parametrizations"
    return "is compiled" if isinstance(module, torch.jit.ScriptModule) else ""


def copied(module: nn.Module, instead: Optional[dict[int, Any]] = None) -> nn.Module:
    """A deepcopy, with other tensors in place of those whose id is in `instead`."""
    memo: dict[int, Any] = dict(instead or {})
    for child in module.modules():
        for value in vars(child).values():  # what weight_norm computes cannot be copied with its history
            if isinstance(value, torch.Tensor) and value.grad_fn is not None:
                memo.setdefault(id(value), value.detach().clone())
    return copy.deepcopy(module, memo)


def call_name(node: fx.Node) -> str:
    """What a message calls it."""
    if node.op == "call_module":
        return str(node.target)
    target = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
    path = node.meta.get("where", "")
    return f"{path}.{target}" if path else target


def follow(module: nn.Module, example: tuple, leaf: Callable[[nn.Module], bool]) -> fx.Graph:
    """The calls of module.forward(*example), down to the modules that are a leaf. A module that cannot be followed becomes
    one. Every node's meta has its `example`. The module should be a copy: it is called in eval mode."""
    tracer = _Tracer(example, leaf)
    devices = {one.device.index for one in module.parameters() if one.is_cuda}
    try:
        with _calls_recorded(module), torch.no_grad(), torch.random.fork_rng(devices=sorted(devices)):
            graph = tracer.trace(module)
    except Exception as error:
        raise RequestError(f"module: its forward cannot be followed: {first_line(error)}") from None
    for node in graph.nodes:
        node.meta.pop("is_wrapped", None)  # of functions that were gone into
    _without_idle_sizes(graph)
    return graph


def _without_idle_sizes(graph: fx.Graph) -> None:
    for node in reversed(list(graph.nodes)):
        value = node.meta.get("example")
        idle = node.op in ("call_function", "call_method") and not node.users and not node.meta.get("seen")
        if idle and value is not None and (node.target is operator.getitem or not holds_tensor(value)):
            graph.erase_node(node)


def holds_tensor(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(holds_tensor(one) for one in value)
    if isinstance(value, dict):
        return any(holds_tensor(one) for one in value.values())
    return isinstance(value, torch.Tensor)


class _Known:
    """A proxy for something of which the value is known for the example: sizes can be looked at."""

    def __getattr__(self, name: str) -> Any:
        return _KnownAttribute(self, name)

    def __bool__(self) -> bool:
        return bool(self._seen())

    def __int__(self) -> int:
        return int(self._seen())

    def __index__(self) -> int:
        return int(self._seen())

    def __float__(self) -> float:
        return float(self._seen())

    def __len__(self) -> int:
        return len(self.node.meta["example"])

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.tracer.create_proxy("call_function", operator.setitem, (self, index, value), {})

    def __contains__(self, item: Any) -> bool:
        return item in self._seen()

    def _seen(self) -> Any:
        value = self.node.meta["example"]
        if holds_tensor(value):
            raise fx.proxy.TraceError("what it does depends on the values of its input")
        self.node.meta["seen"] = True
        return value


class _KnownProxy(_Known, fx.Proxy):
    pass


class _KnownAttribute(_Known, Attribute):
    pass


class _Tracer(fx.Tracer):
    proxy_buffer_attributes = True

    def __init__(self, example: tuple, leaf: Callable[[nn.Module], bool]) -> None:
        super().__init__(autowrap_functions=PACKING)
        self.example, self.leaf = example, leaf
        self.inputs = iter([one.clone() if isinstance(one, torch.Tensor) else one for one in example])
        self.evaluating = False
        self.where: list[str] = []
        self.opaque: dict[nn.Module, str] = {}

    def create_args_for_root(self, root_fn: Any, is_module: bool, concrete_args: Any = None) -> tuple[Any, list[Any]]:
        names = [name for name, parameter in inspect.signature(root_fn).parameters.items()
                 if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)][1:]
        names += [f"input_{i}" for i in range(len(names), len(self.example))]
        return FORWARDS.get(type(self.root), root_fn), [self.root, *(self.create_proxy("placeholder", name, (), {})
                                      for name, _ in zip(names, self.example))]

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return _KnownProxy(node, self)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        return attr_val if self.evaluating else super().getattr(attr, attr_val, {})

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return m in self.opaque or bool(own_reason(m)) or self.leaf(m)

    def call_module(self, m: nn.Module, forward: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if self.evaluating:
            return forward(*args, **kwargs)
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        try:
            inside = FORWARDS.get(type(m))
            return self._inside(path, (lambda *a, **k: inside(m, *a, **k)) if inside else forward, args, kwargs)
        except Exception as error:
            self.opaque[m] = f"cannot be followed: {first_line(error)}"
        proxy = self.create_proxy("call_module", path, args, kwargs)
        proxy.node.meta["opaque"] = self.opaque[m]
        return proxy

    def create_proxy(self, kind: str, target: Any, args: tuple, kwargs: dict[str, Any], *more: Any, **named: Any) -> Any:
        """Goes into functions that are not PyTorch's."""
        foreign = isinstance(target, types.FunctionType) and not (target.__module__ or "").startswith("torch.")
        if kind == "call_function" and foreign and not self.evaluating and target.__name__ != "stochastic_depth":
            with contextlib.suppress(Exception):
                return self._inside(self.where[-1] if self.where else "", target, args, kwargs)
        return super().create_proxy(kind, target, args, kwargs, *more, **named)

    def _inside(self, path: str, call: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        """Follows a call; where that fails, nothing of it is left in the graph."""
        last = next(iter(reversed(self.graph.nodes)), None)
        self.where.append(path)
        try:
            return call(*args, **kwargs)
        except Exception:
            for node in list(reversed(self.graph.nodes)):
                if node is last:
                    break
                self.graph.erase_node(node)
            raise
        finally:
            self.where.pop()

    def create_node(self, kind: str, target: Any, args: tuple, kwargs: dict[str, Any], *more: Any, **named: Any) -> fx.Node:
        node = super().create_node(kind, target, args, kwargs, *more, **named)
        node.meta["where"] = self.where[-1] if self.where else ""
        if kind != "output":
            node.meta["example"] = self._evaluated(node)
        return node

    def _evaluated(self, node: fx.Node) -> Any:
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda one: one.meta["example"])
        was, self.evaluating = self.evaluating, True
        try:
            if node.op == "placeholder":
                return next(self.inputs)
            if node.op == "get_attr":
                return _attribute(self.root, node.target)
            if node.op == "call_method":
                return getattr(args[0], node.target)(*args[1:], **kwargs)
            if node.op == "call_function":
                return node.target(*args, **kwargs)
            called = self.root.get_submodule(node.target)
            training = {child: child.training for child in called.modules()}
            called.eval()
            result = called(*args, **kwargs)
            for child, mode in training.items():
                child.training = mode
            return result
        finally:
            self.evaluating = was


def _attribute(root: Any, path: str) -> Any:
    for name in path.split("."):
        root = getattr(root, name)
    return root


@contextlib.contextmanager
def _calls_recorded(module: nn.Module) -> Iterator[None]:
    """Where what makes a tensor is given a size that is in the graph, the call is too; and so is len() in a forward."""
    forwards = {id(home): home for home in (getattr(type(m).forward, "__globals__", {}) for m in module.modules())
                if "len" not in home and not str(home.get("__name__", "torch")).startswith("torch.")}
    originals = [(torch, name, getattr(torch, name)) for name in MAKERS]
    originals += [(rnn, function.__name__, function) for function in PACKING]
    try:
        for home, name, original in originals:
            setattr(home, name, _recorded(original))
        for names in forwards.values():
            names["len"] = _recorded(len)
        yield
    finally:
        for names in forwards.values():
            del names["len"]
        for home, name, original in originals:
            setattr(home, name, original)


def _recorded(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        found: list[fx.Proxy] = []

        def look(value: Any) -> None:
            if isinstance(value, fx.Proxy):
                found.append(value)
            elif isinstance(value, (tuple, list)):
                for one in value:
                    look(one)

        look(args)
        look(tuple(kwargs.values()))
        return found[0].tracer.create_proxy("call_function", original, args, kwargs) if found else original(*args, **kwargs)

    return call
