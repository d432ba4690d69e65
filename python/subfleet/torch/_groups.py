"""Groups of units, and how the axes of a module's tensors follow them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

import torch

from ._units import WHOLE, Units, Value

__all__ = ["Group", "Part", "Tensor", "grouped", "settle"]


@dataclass(frozen=True)
class Part:
    """A stretch of an axis: `outer` times all units of the group, each of them `inner` neighbouring features wide.
    Without a group: `inner` features that are always there."""

    group: Optional[str]
    outer: int
    inner: int


@dataclass(frozen=True)
class Group:
    """Units that can be dropped one by one; `droppable` is the default choice."""

    name: str
    units: int
    droppable: bool


@dataclass(frozen=True)
class Tensor:
    """What travels between server and client: a parameter or, if `statistic`, a running mean or variance."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[tuple[Part, ...], ...]
    statistic: bool


def settle(units: Units, values: Sequence[tuple[str, Value]]) -> None:
    """Leaves every field of every value with one axis: that along which most units can be dropped. What no layer
    makes is whole."""
    why = "its features are spread over several axes"
    before = None
    while before is None or not torch.equal(before, units.root):
        before = units.root.clone()
        for call, value in values:
            value.fields = units.refreshed(value, value.fields, f"{call}: {why}").fields
            for labels in value.fields:
                _one_axis(units, labels, f"{call}: {why}")
        units.freeze(torch.arange(len(units.root))[~units.made()], "no layer makes it")


def _one_axis(units: Units, labels: torch.Tensor, why: str) -> None:
    axes = [axis for axis in range(labels.dim()) if labels.shape[axis] > 1]
    if len(axes) < 2:
        return
    root, reasons, best = units.root, units.reasons, (1, -1)
    for axis in axes:
        units.root, units.reasons = root.clone(), {}
        _take_together(units, labels, axis, why)
        left = units.root[labels].unique()
        best = max(best, (int((left != WHOLE).sum()), -axis))
    units.root, units.reasons = root, reasons
    if best[0] > 1:
        _take_together(units, labels, -best[1], why)
    else:
        units.freeze(labels, why)


def _take_together(units: Units, labels: torch.Tensor, axis: int, why: str) -> None:
    """Leaves this axis as the only one."""
    for other in range(labels.dim()):
        if other != axis and labels.shape[other] > 1:
            units.join(labels, labels.narrow(other, 0, 1), why)


class _Sets:
    """Which units are in one group."""

    def __init__(self, units: Units) -> None:
        self.units = units
        self.group = torch.full((len(units.root),), -1)  # of each unit, by its lowest label
        self.count = 0

    def by_use(self, axes: Sequence[torch.Tensor]) -> None:
        """Units that are on the same axes, equally often, may be one group."""
        sign = torch.zeros(len(self.units.root), dtype=torch.long)
        random = torch.Generator().manual_seed(1)
        for labels in axes:
            of_axis = torch.randint(1, 2**62, (1,), generator=random)
            sign.index_add_(0, self.units.root[labels], of_axis.expand(len(labels)))
        roots = self.units.root.unique()
        roots = roots[roots != WHOLE]
        _, self.group[roots] = sign[roots].unique(return_inverse=True)
        self.count = int(self.group.max()) + 1

    def members(self, group: int) -> list[int]:
        return (self.group == group).nonzero().reshape(-1).tolist()

    def split(self, members: Sequence[int]) -> None:
        self.group[torch.tensor(members)] = self.count
        self.count += 1

    def freeze(self, group: int, why: str) -> None:
        members = torch.tensor(self.members(group))
        self.units.freeze(members, why)
        self.group[members] = -1


def _parts(sets: _Sets, labels: torch.Tensor, where: str) -> Optional[list[tuple[int, int, int]]]:
    """(group, outer, inner) of each stretch; None if the groups had to be changed."""
    values, widths = (t.tolist() for t in torch.unique_consecutive(sets.units.root[labels], return_counts=True))
    of = sets.group[torch.tensor(values)].tolist()
    parts: list[tuple[int, int, int]] = []
    at = 0
    while at < len(values):
        if values[at] == WHOLE:
            parts.append((-1, 1, widths[at]))
            at += 1
            continue
        group = of[at]
        members = sets.members(group)
        end, seen = at, set()
        while end < len(values) and of[end] == group and widths[end] == widths[at] and values[end] not in seen:
            seen.add(values[end])
            end += 1
        stretch = values[at:end]
        if len(members) < 2:
            sets.freeze(group, f"{where}: a unit of its own, of which nothing can be dropped")
            return None
        falls = [place for place in range(1, len(stretch)) if stretch[place] < stretch[place - 1]]
        if falls and falls[0] > 1:
            stretch = stretch[: falls[0]]
        elif falls:
            sets.freeze(group, f"{where}: its units come in another order")
            return None
        if stretch != members:
            sets.split(stretch)
            return None
        last = parts[-1] if parts else None
        if last is not None and last[0] == group and last[2] == widths[at]:
            parts[-1] = (group, last[1] + 1, last[2])
        else:
            parts.append((group, 1, widths[at]))
        at = end
    return parts


def grouped(
    units: Units, axes: dict[str, list[Optional[torch.Tensor]]], values: Sequence[tuple[str, Value]]
) -> tuple[list[Group], list[torch.Tensor], dict[str, list[list[Part]]]]:
    """The groups in the order of their makers, the units of each as labels, and the parts of every axis of the tensors
    whose labels are `axes`; a None has parts of no use."""
    of_values = [labels.reshape(-1) for _, value in values for labels in value.fields]
    of_tensors = [(f"{name}, axis {i}", labels) for name, all in axes.items() for i, labels in enumerate(all)
                  if labels is not None]
    sets = _Sets(units)
    sets.by_use([*of_values, *(labels for _, labels in of_tensors)])
    while True:
        parsed = {}
        for where, labels in of_tensors:
            parsed[where] = _parts(sets, labels, where)
            if parsed[where] is None:
                break
        else:
            break

    found = sorted({int(group) for group in sets.group[sets.group >= 0].tolist()}, key=lambda group: sets.members(group)[0])
    first = units.root[(units.maker == 0).nonzero().reshape(-1)]
    groups, labels_of, names = [], [], {}
    order = []
    for group in found:
        members = torch.tensor(sets.members(group))
        of_group = torch.isin(units.root, members)
        makers = units.maker[of_group & (units.maker >= 0)]
        if len(members) < 2 or not len(makers):
            sets.freeze(group, "nothing of it can be dropped")
            continue
        fixed = bool(units.added[of_group].any()) or bool(torch.isin(members, first).any())
        order.append((int(makers.min()), int(members[0]), group, members, not fixed))
    for maker, _, group, members, droppable in sorted(order, key=lambda one: one[:2]):
        name = units.makers[maker]
        same = sum(other.name == name or other.name.startswith(f"{name}:") for other in groups)
        names[group] = name if not same else f"{name}:{same + 1}"
        groups.append(Group(names[group], len(members), droppable))
        labels_of.append(members)

    parts: dict[str, list[list[Part]]] = {}
    for name, all in axes.items():
        parts[name] = []
        for i, labels in enumerate(all):
            runs: list[Part] = []
            for group, outer, inner in (parsed[f"{name}, axis {i}"] or []) if labels is not None else []:
                if group in names:
                    runs.append(Part(names[group], outer, inner))
                elif runs and runs[-1].group is None:
                    runs[-1] = Part(None, 1, runs[-1].inner + outer * inner)
                else:
                    runs.append(Part(None, 1, inner))
            parts[name].append(runs)
    return groups, labels_of, parts
