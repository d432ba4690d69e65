"""Reads the layers of a PyTorch module: a chain of layers that Subfleet has, in the order in which they are called."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import torch
from torch import fx, nn
from torch.nn import functional as F

from .._core import RequestError

__all__ = ["ReadLayer", "read_layers"]

SUPPORTED = (
    "Linear, Conv2d, Embedding, LSTM, ReLU, MaxPool2d, AdaptiveAvgPool2d(1), AvgPool2d over everything, Flatten, "
    "Dropout and Identity, one after the other"
)
# Where an nn.Module keeps what is called besides its forward.
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
AFTER_LSTM = "follows an LSTM, of which the last step is to be taken first: x[:, -1]"


@dataclass
class ReadLayer:
    """One layer as a model file has it, and where its weights are in the module."""

    type: str
    path: str = ""  # of the nn.Module; empty for layers without weights
    keys: dict[str, Any] = field(default_factory=dict)


def refuse(where: str, why: str) -> RequestError:
    return RequestError(f"{where}: {why}")


def read_layers(module: nn.Module, example: torch.Tensor) -> list[ReadLayer]:
    """The layers, in order; `example` is a batch of one. Raises Error, naming the call, for what is no such chain."""
    try:
        graph = fx.symbolic_trace(module)
    except Exception as error:
        raise refuse("module", f"its forward cannot be followed ({_first_line(error)}); it may have {SUPPORTED}") from None
    was_training = module.training
    try:
        module.eval()
        with torch.no_grad():
            _Shapes(graph).run(example)
    except Exception as error:
        raise refuse("module", f"does not take an input of {list(example.shape[1:])}: {_first_line(error)}") from None
    finally:
        module.train(was_training)
    return _Chain(graph).read()


class _Shapes(fx.Interpreter):
    """Notes the shape of every tensor."""

    def run_node(self, n: fx.Node) -> Any:
        result = super().run_node(n)
        if isinstance(result, torch.Tensor):
            n.meta["shape"] = tuple(result.shape)
        return result


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


class _Chain:
    def __init__(self, graph: fx.GraphModule) -> None:
        self.graph = graph
        self.modules = dict(graph.named_modules())
        self.layers: list[ReadLayer] = []
        self.at: Optional[fx.Node] = None  # whose value goes on
        self.sizes: set[fx.Node] = set()  # numbers that come from a shape
        self.sequence = ""  # of an LSTM: "tuple" before [0], "steps" after it

    def read(self) -> list[ReadLayer]:
        for node in self.graph.graph.nodes:
            if node.op == "placeholder":
                if self.at is not None and node.users:
                    raise refuse(node.name, "a second input; a model has one")
                self.at = self.at or node
            elif node.op == "output":
                if node.args[0] is not self.at:
                    raise refuse("module", "must return the numbers of its classes alone")
            elif node.users:
                self.read_call(node)
        return self.layers

    def read_call(self, node: fx.Node) -> None:
        if self.is_size(node):
            self.sizes.add(node)
            return
        inputs = [other for other in node.all_input_nodes if other not in self.sizes]
        if inputs != [self.at]:
            raise refuse(_call(node), "does not take what the layer before made, and nothing else; a model is a chain")
        if node.op == "call_module":
            self.read_module(node, self.modules[str(node.target)])
        elif node.target is operator.getitem and self.sequence:
            self.read_getitem(node)
        elif self.sequence:
            raise refuse(_call(node), AFTER_LSTM)
        else:
            name = node.target if isinstance(node.target, str) else FUNCTIONS.get(node.target, "")
            reader = CALLS.get(str(name))
            if reader is None:
                raise refuse(_call(node), f"is not supported; a module may have {SUPPORTED}")
            reader(self, node)
        self.at = node

    def is_size(self, node: fx.Node) -> bool:
        """Whether it only asks for a shape, as x.size(0) and x.shape[0] do."""
        if node.target == "size" or (node.target is getattr and node.args[1] == "shape"):
            return True
        return node.target is operator.getitem and node.args[0] in self.sizes

    def read_module(self, node: fx.Node, module: nn.Module) -> None:
        reader = MODULES.get(type(module))
        if reader is None:
            raise refuse(_call(node), f"a {type(module).__name__} is not supported; a module may have {SUPPORTED}")
        if any(True for _ in module.parameters()) and any(getattr(module, kind, None) for kind in HOOKS):
            raise refuse(_call(node), "has hooks, as weight_norm and prune make them, which a smaller layer would not have")
        path = str(node.target)
        if any(layer.path == path for layer in self.layers):
            raise refuse(_call(node), "is called twice; every layer has weights of its own")
        if self.sequence and type(module) not in (nn.LSTM, nn.Dropout, nn.Identity):
            raise refuse(_call(node), AFTER_LSTM)
        reader(self, node, module)

    def read_getitem(self, node: fx.Node) -> None:
        index = node.args[1]
        if self.sequence == "tuple" and index == 0:
            self.sequence = "steps"
        elif self.sequence == "steps" and index in ((slice(None), -1), (slice(None), -1, slice(None))):
            self.layers[-1].keys["last_step"] = True
            self.sequence = ""
        else:
            raise refuse(_call(node), "of an LSTM's result, [0] and then [:, -1] can be taken")

    def add(self, kind: str, path: str = "", **keys: Any) -> None:
        self.layers.append(ReadLayer(kind, path, keys))


def _call(node: fx.Node) -> str:
    target = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
    return f"module: {target}"


def _both(value: Any) -> Any:
    """The one number that both sides have, or None."""
    if isinstance(value, (tuple, list)):
        return value[0] if len(set(value)) == 1 else None
    return value


def _argument(node: fx.Node, position: int, name: str, default: Any = None) -> Any:
    return node.args[position] if len(node.args) > position else node.kwargs.get(name, default)


def _linear(chain: _Chain, node: fx.Node, m: Any) -> None:
    if m.bias is None:
        raise refuse(_call(node), "a Linear needs bias=True")
    chain.add("dense", str(node.target), units=m.out_features)


def _conv2d(chain: _Chain, node: fx.Node, m: Any) -> None:
    kernel, stride, padding = _both(m.kernel_size), _both(m.stride), m.padding
    if padding == "same" and stride == 1:
        padding = (kernel or 0) // 2
    plain = m.groups == 1 and _both(m.dilation) == 1 and m.padding_mode == "zeros" and m.bias is not None
    if not plain or not kernel or kernel % 2 == 0 or not stride or _both(padding) != kernel // 2:
        raise refuse(_call(node), "a Conv2d needs a square odd kernel, padding=kernel // 2, a bias and nothing special")
    chain.add("conv2d", str(node.target), units=m.out_channels, kernel=kernel, stride=stride)


def _embedding(chain: _Chain, node: fx.Node, m: Any) -> None:
    if m.max_norm is not None or m.padding_idx is not None or m.scale_grad_by_freq or m.sparse:
        raise refuse(_call(node), "an Embedding can have no max_norm, padding_idx, scale_grad_by_freq and sparse")
    chain.add("embedding", str(node.target), units=m.embedding_dim, symbols=m.num_embeddings)


def _lstm(chain: _Chain, node: fx.Node, m: Any) -> None:
    if m.num_layers != 1 or m.bidirectional or m.proj_size or not m.bias or not m.batch_first or len(node.args) > 1:
        raise refuse(_call(node), "an LSTM needs one layer, one direction, a bias, batch_first=True and no given state")
    chain.add("lstm", str(node.target), units=m.hidden_size)
    chain.sequence = "tuple"


def _maxpool(chain: _Chain, node: fx.Node, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: Any) -> None:
    side = _both(kernel)
    if not side or _both(kernel if stride is None else stride) != side or _both(padding) or _both(dilation) != 1 or ceil:
        raise refuse(_call(node), "a max-pool needs a square window, the same stride, and nothing special")
    chain.add("maxpool", kernel=side)


def _maxpool_call(chain: _Chain, node: fx.Node) -> None:
    get = [_argument(node, i + 1, name, default) for i, (name, default) in enumerate(
        (("kernel_size", None), ("stride", None), ("padding", 0), ("dilation", 1), ("ceil_mode", False)))]
    _maxpool(chain, node, *get)


def _average(chain: _Chain, node: fx.Node) -> None:
    shape = node.meta["shape"]
    if any(side != 1 for side in shape[2:]):
        raise refuse(_call(node), "an average is over all positions of a channel: AdaptiveAvgPool2d(1)")
    chain.add("avgpool")


def _flatten(chain: _Chain, node: fx.Node) -> None:
    before, after = node.args[0].meta["shape"], node.meta["shape"]
    if len(after) != 2 or after[0] != before[0]:
        raise refuse(_call(node), "only a flatten from dimension 1 on is supported: x.flatten(1)")
    numbers = [size for size in node.args[1:] if isinstance(size, int)]
    if node.target in ("view", "reshape") and numbers != [-1]:
        raise refuse(_call(node), "names sizes that a smaller module does not have; x.flatten(1) does not")
    if len(before) == 2:
        return
    chain.add("flatten")


def _relu(chain: _Chain, node: fx.Node) -> None:
    chain.add("relu")


def _nothing(chain: _Chain, node: fx.Node) -> None:
    """Dropout is the module's own; Subfleet's trainers do without."""


def _of_call(reader: Callable[[_Chain, fx.Node], None]) -> Callable[[_Chain, fx.Node, Any], None]:
    return lambda chain, node, module: reader(chain, node)


MODULES: dict[type, Callable[[_Chain, fx.Node, Any], None]] = {
    nn.Linear: _linear,
    nn.Conv2d: _conv2d,
    nn.Embedding: _embedding,
    nn.LSTM: _lstm,
    nn.MaxPool2d: lambda chain, node, m: _maxpool(
        chain, node, m.kernel_size, m.stride, m.padding, m.dilation, m.ceil_mode),
    nn.AvgPool2d: _of_call(_average),
    nn.AdaptiveAvgPool2d: _of_call(_average),
    nn.Flatten: _of_call(_flatten),
    nn.ReLU: _of_call(_relu),
    nn.Dropout: _of_call(_nothing),
    nn.Dropout2d: _of_call(_nothing),
    nn.Identity: _of_call(_nothing),
}
# By the names of the methods of a tensor; functions are told apart by what they are.
CALLS: dict[str, Callable[[_Chain, fx.Node], None]] = {
    "relu": _relu,
    "max_pool2d": _maxpool_call,
    "avg_pool2d": _average,
    "adaptive_avg_pool2d": _average,
    "flatten": _flatten,
    "view": _flatten,
    "reshape": _flatten,
    "dropout": _nothing,
}
FUNCTIONS: dict[Any, str] = {
    F.relu: "relu",
    torch.relu: "relu",
    F.max_pool2d: "max_pool2d",
    torch.max_pool2d: "max_pool2d",
    F.avg_pool2d: "avg_pool2d",
    F.adaptive_avg_pool2d: "adaptive_avg_pool2d",
    torch.flatten: "flatten",
    torch.reshape: "reshape",
    F.dropout: "dropout",
}
