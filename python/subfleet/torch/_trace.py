"""Which units of a module can be dropped together, and the smaller module of those that are kept.

    traced = trace(module, (torch.zeros(2, 3, 32, 32),))
    kept = {group.name: range(0, group.units, 2) for group in traced.groups if group.droppable}
    client = traced.smaller(kept, rescale=True)      # a genuinely smaller module
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

import torch
from torch import fx, nn
from torch.nn.modules.batchnorm import _NormBase

from . import _contractions, _rules_shapes  # noqa: F401: they have rules
from .._core import RequestError
from ._follow import copied, follow
from ._groups import Group, Part, Tensor, grouped, settle
from ._labels import Labeller
from ._rewrite import Rewriter, run_instead
from ._rules import FUNCTIONS
from ._rules_layers import resized, rule_of
from ._thin import FewerHeads, Scale, UnevenGroups, recurrence
from ._transformer import FORWARDS
from ._units import WHOLE, Value

__all__ = ["Group", "Part", "Tensor", "Traced", "trace"]


def trace(module: nn.Module, example: tuple) -> Traced:
    """`example`: what the module's forward is given, tensors with a batch of at least two. The module stays as it is.
    Raises Error for a module that cannot be followed."""
    work = copied(module)
    labeller = Labeller(work, FUNCTIONS, rule_of)
    graphs = []
    for training in (True, False):
        work.train(training)
        graphs.append(follow(work, example, _is_leaf))
    if _same(*graphs):
        del graphs[0]
    for graph in graphs:
        labeller.label(graph)
    return Traced(module, labeller, graphs)


def _is_leaf(module: nn.Module) -> bool:
    if type(module) in FORWARDS:
        return False
    inside = type(module).__module__.startswith("torch.nn") and not isinstance(module, nn.Sequential)
    return inside or rule_of(module) is not None


def _same(one: fx.Graph, other: fx.Graph) -> bool:
    def calls(graph: fx.Graph) -> list[str]:
        constants = {n: n.meta["example"] for n in graph.nodes if n.op == "get_attr" and "constant" in n.name}
        return [f"{n.name} {n.op} {n.target} {n.args} {n.kwargs} {constants.get(n)}" for n in graph.nodes]

    return calls(one) == calls(other)


class Traced:
    """What can be dropped of a module.

    `groups`: in the order in which the forward makes their units. `tensors`: what travels between server and client.
    `whole`: of each layer or call whose units are always whole, why.
    """

    groups: list[Group]
    tensors: list[Tensor]
    whole: dict[str, str]

    def __init__(self, module: nn.Module, labeller: Labeller, graphs: Sequence[fx.Graph]) -> None:
        self._module, self._graphs, self._values = module, graphs, labeller.values
        self._intakes, self._inputs = labeller.intakes, labeller.inputs
        units = labeller.units
        settle(units, labeller.all)
        self.groups, self._labels, parts = grouped(units, labeller.axes, labeller.all)
        self._axes, self._root, self._constants = labeller.axes, units.root, {}
        self.whole = dict(labeller.whole)
        for maker in units.makers:
            if maker in units.reasons and bool((units.root[units.maker == units.makers.index(maker)] == WHOLE).all()):
                self.whole.setdefault(maker, units.reasons[maker])
        for path, child in labeller.module.named_modules():
            if isinstance(child, _NormBase):
                prefix = f"{path}." if path else ""
                labeller.statistics.update(prefix + key for key in ("running_mean", "running_var"))
        self.tensors = []
        state = module.state_dict()
        for name, tensor in labeller.tensors.items():
            statistic = name in labeller.statistics
            if name in state and (statistic or tensor.requires_grad):
                axes = parts.get(name) or [[] for _ in tensor.shape]
                runs = tuple(tuple(runs or [Part(None, 1, size)]) for runs, size in zip(axes, tensor.shape))
                self.tensors.append(Tensor(name, tuple(tensor.shape), runs, statistic))
        order = {name: place for place, name in enumerate(state)}
        self.tensors.sort(key=lambda tensor: (tensor.statistic, order[tensor.name]))
        for graph in graphs:
            self._forget_examples(graph, labeller)
        for _, value in labeller.all:
            value.example = None

    def _forget_examples(self, graph: fx.Graph, labeller: Labeller) -> None:
        for node in graph.nodes:
            example = node.meta.get("example")
            if node.op == "get_attr" and isinstance(example, torch.Tensor) and id(example) not in labeller.names:
                name = f"_constant_{len(self._constants)}"
                self._constants[name] = example
                node.target = name
            node.meta["example"] = _without_tensors(example)

    def smaller(self, kept: Mapping[str, Sequence[int]], rescale: bool) -> nn.Module:
        """A copy of the module with the kept units of each group, in ascending order; all of a group that is not named.
        With `rescale`, where a layer mixes the units of a group, it is given them times units / kept."""
        keep, factor = self._kept(kept)
        tensors = {name: self._tensor(name) for name in self._axes}
        instead = {id(tensor): self._sliced(tensor, self._axes[name], keep) for name, tensor in tensors.items()}
        module = copied(self._module, {key: tensor for key, tensor in instead.items() if tensor is not None})

        def runs(labels: torch.Tensor) -> Optional[list[tuple[int, float]]]:
            roots = self._root[labels]
            factors, counts = torch.unique_consecutive(factor[roots[keep[roots]]], return_counts=True)
            if not rescale or bool((factors == 1).all()):
                return None
            return list(zip(counts.tolist(), factors.tolist()))

        rewriters = [Rewriter(graph, self._values, self._root, keep) for graph in self._graphs]
        changed = [rewriter.rewrite(self._intakes_of(graph), runs) for rewriter, graph in zip(rewriters, self._graphs)]
        self._resize(module, keep, runs)
        if any(changed):
            for name, tensor in self._constants.items():
                setattr(module, name, tensor)
            run_instead(module, [rewriter.graph for rewriter in rewriters])
        return module

    def _kept(self, kept: Mapping[str, Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Of each label: whether it is kept, and what it is rescaled by."""
        known = {group.name: index for index, group in enumerate(self.groups)}
        keep = torch.ones(len(self._root), dtype=torch.bool)
        factor = torch.ones(len(self._root))
        for name, chosen in kept.items():
            if name not in known:
                raise RequestError(f"kept: no group is called '{name}' (known: {', '.join(known)})")
            group = self.groups[known[name]]
            rows = [int(unit) for unit in chosen]
            ascending = all(a < b for a, b in zip(rows, rows[1:]))
            if not rows or not ascending or rows[0] < 0 or rows[-1] >= group.units:
                raise RequestError(f"kept: of {name}, at least one of the units 0 to {group.units - 1} in ascending order")
            labels = self._labels[known[name]]
            keep[labels] = False
            keep[labels[rows]] = True
            factor[labels] = group.units / len(rows)
        return keep, factor

    def _tensor(self, name: str) -> torch.Tensor:
        path, _, key = name.rpartition(".")
        return getattr(self._module.get_submodule(path), key)

    def _sliced(self, tensor: torch.Tensor, axes: Sequence[Any], keep: torch.Tensor) -> Optional[torch.Tensor]:
        """None where nothing is dropped."""
        made = tensor.detach()
        for axis, labels in enumerate(axes):
            rows = None if labels is None else keep[self._root[labels]]
            if rows is not None and not bool(rows.all()):
                made = made.index_select(axis, rows.nonzero().reshape(-1).to(made.device))
        if made.shape == tensor.shape:
            return None
        made = made.clone()
        return nn.Parameter(made, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else made

    def _intakes_of(self, graph: fx.Graph) -> list[Any]:
        return [intake for intake in self._intakes if intake.node.graph is graph]

    def _resize(self, module: nn.Module, keep: torch.Tensor, runs: Any) -> None:
        layers = dict(module.named_modules())
        scales: dict[str, dict[int, tuple[int, Any]]] = {}
        for intake in self._intakes:
            factors = runs(intake.labels)
            if intake.given is None and factors is not None:
                scales.setdefault(str(intake.node.target), {})[intake.index] = (intake.axis, factors)
        for path, layer in layers.items():
            resized(layer)
            if isinstance(layer, nn.TransformerEncoder):
                layer.enable_nested_tensor = layer.use_nested_tensor = False
            elif isinstance(layer, nn.Transformer):
                layer.d_model = layer.encoder.layers[0].linear2.weight.shape[0]
            value = self._inputs.get(path)
            if value is None:
                continue
            if isinstance(layer, nn.MultiheadAttention):
                self._fewer_heads(path, layer, keep, runs, scales.pop(path, {}))
            elif isinstance(layer, nn.GroupNorm):
                self._uneven(layer, value, keep)
            elif hasattr(layer, "normalized_shape"):
                shape = layer.normalized_shape
                layer.normalized_shape = tuple(self._left(value, i - len(shape), keep) for i in range(len(shape)))
            elif isinstance(layer, nn.Unflatten):
                self._unflatten(path, layer, keep)
            elif isinstance(layer, nn.RNNBase) and layer.num_layers > 1:
                self._recur(path, layer, runs)
        for path, axes in scales.items():
            layers[path].register_forward_pre_hook(Scale(axes))

    def _left(self, value: Value, axis: int, keep: torch.Tensor) -> int:
        labels = value.along(axis)
        return value.shape[axis] if labels is None else int(keep[self._root[labels]].sum())

    def _fewer_heads(self, path: str, layer: Any, keep: torch.Tensor, runs: Any, scales: Any) -> None:
        rows = self._axes[f"{path}.out_proj.weight"][1]
        heads = rows.reshape(layer.num_heads, -1)[:, 0] if rows is not None else torch.zeros(1, dtype=torch.long)
        layer.__class__ = FewerHeads
        layer.joint, layer._qkv_same_embed_dim = layer.in_proj_weight is not None, False
        layer.whole_heads = layer.num_heads
        layer.kept_heads = keep[self._root[heads]].nonzero().reshape(-1).tolist()
        layer.num_heads = len(layer.kept_heads)
        layer.embed_dim = layer.out_proj.weight.shape[0]
        layer.scales = {"qkv"[index]: factors for index, (_, factors) in scales.items()}
        leaving = None if rows is None else runs(rows)
        if leaving is not None:
            layer.scales["out"] = leaving

    def _uneven(self, layer: Any, value: Value, keep: torch.Tensor) -> None:
        labels = value.along(1)
        if labels is None or bool(keep[self._root[labels]].all()):
            return
        layer.__class__ = UnevenGroups
        layer.sizes = keep[self._root[labels]].reshape(layer.num_groups, -1).sum(1).tolist()
        layer.num_channels = sum(layer.sizes)

    def _unflatten(self, path: str, layer: Any, keep: torch.Tensor) -> None:
        made = next(value for node, value in self._values.items() if node.op == "call_module" and node.target == path)
        first = layer.dim % len(self._inputs[path].shape)
        sizes = [self._left(made, first + i, keep) for i in range(len(layer.unflattened_size))]
        layer.unflattened_size = tuple(size if old != -1 else -1 for size, old in zip(sizes, layer.unflattened_size))

    def _recur(self, path: str, layer: Any, runs: Any) -> None:
        labels = self._axes[f"{path}.weight_ih_l1"][1]
        between = None if labels is None else runs(labels)
        if between is not None:
            layer.__class__ = recurrence(type(layer))
            layer.between = between[0][1]


def _without_tensors(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return None
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return tuple(_without_tensors(one) for one in value)
    return value
