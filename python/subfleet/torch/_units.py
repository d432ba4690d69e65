"""Labels of features: which features of a module's tensors are the same unit and so are dropped together.

Every feature that could be dropped has a label. What the forward does with the features is done with their labels too, and
wherever two features must be kept or dropped together, their labels are joined.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable, Optional, Sequence

import torch

__all__ = ["WHOLE", "Units", "Value"]

WHOLE = 0  # the label of all that is never dropped


@dataclass(eq=False)
class Value:
    """The labels of one tensor. Each of `fields` has the tensor's rank and the tensor's size or 1 along every axis: along
    the axes where it is larger than 1, dropping a unit drops features. No two fields share such an axis."""

    shape: tuple[int, ...]
    fields: list[torch.Tensor] = field(default_factory=list)
    weight: bool = False  # made of the module's own tensors alone
    name: str = ""  # of such a tensor
    example: Optional[torch.Tensor] = None

    def along(self, axis: int) -> Optional[torch.Tensor]:
        """The labels along one axis, or None where all is whole; for a value that is settled."""
        axis = axis % len(self.shape)
        for labels in self.fields:
            if labels.shape[axis] > 1:
                return labels.reshape(-1)
        return None


class Units:
    """Labels, and which of them are one unit by now."""

    def __init__(self) -> None:
        self.root = torch.zeros(1, dtype=torch.long)  # of each label: the lowest label of its unit
        self.maker = torch.full((1,), -1)  # of each label: who makes its feature
        self.added = torch.zeros(1, dtype=torch.bool)  # of each label: whether two makers' features are added
        self.makers: list[str] = []
        self.reasons: dict[str, str] = {}  # of makers whose features became whole

    def fresh(self, count: int) -> torch.Tensor:
        labels = torch.arange(len(self.root), len(self.root) + count)
        self.root = torch.cat([self.root, labels])
        self.maker = torch.cat([self.maker, torch.full((count,), -1)])
        self.added = torch.cat([self.added, torch.zeros(count, dtype=torch.bool)])
        return labels

    def made_by(self, labels: torch.Tensor, name: str) -> None:
        if name not in self.makers:
            self.makers.append(name)
        labels = labels.reshape(-1)
        unmade = labels[self.maker[labels] < 0]
        self.maker[unmade[unmade != WHOLE]] = self.makers.index(name)

    def made(self) -> torch.Tensor:
        """Of each label: whether any feature of its unit has a maker."""
        result = torch.zeros(len(self.root), dtype=torch.bool)
        result[self.root[self.maker >= 0]] = True
        return result[self.root]

    def join(self, a: torch.Tensor, b: torch.Tensor, why: str) -> None:
        """Makes each feature of `a` the same unit as that of `b`, broadcasting."""
        a, b = (t.reshape(-1) for t in torch.broadcast_tensors(a, b))
        before = self.root == WHOLE
        changed = False
        while True:
            low, high = torch.minimum(self.root[a], self.root[b]), torch.maximum(self.root[a], self.root[b])
            differ = low != high
            if not differ.any():
                break
            changed = True
            self.root[high[differ]] = low[differ]  # one of them, where several go for the same; the others come next
            while True:
                further = self.root[self.root]
                if torch.equal(further, self.root):
                    break
                self.root = further
        if changed:
            for maker in self.maker[(self.root == WHOLE) & ~before].unique().tolist():
                if maker >= 0:
                    self.reasons.setdefault(self.makers[maker], why)

    def freeze(self, labels: torch.Tensor, why: str) -> None:
        self.join(labels, torch.tensor(WHOLE), why)

    def compact(self, labels: torch.Tensor, why: str) -> Optional[torch.Tensor]:
        """The labels without the axes that they do not depend on; None if they are whole. A unit that would be alone is
        made whole."""
        for axis in range(labels.dim()):
            if labels.shape[axis] > 1 and labels.stride(axis) == 0:
                labels = labels.narrow(axis, 0, 1)
        labels = self.root[labels]
        for axis in range(labels.dim()):
            first = labels.narrow(axis, 0, min(1, labels.shape[axis]))
            if labels.shape[axis] > 1 and bool((labels == first).all()):
                labels = first
        if labels.numel() == 1:
            self.freeze(labels, why)
            return None
        return labels if bool(labels.any()) else None

    def mix(self, labels: torch.Tensor, axis: int, why: str) -> Optional[torch.Tensor]:
        """Along this axis all features are kept or dropped together."""
        self.join(labels, labels.narrow(axis, 0, 1), why)
        return self.compact(labels, why)

    def mixed(self, value: Value, axes: Iterable[int], why: str) -> Value:
        """The value once nothing along these axes can be dropped on its own."""
        for axis in axes:
            for labels in value.fields:
                if labels.shape[axis] > 1:
                    self.mix(labels, axis, why)
        return self.refreshed(value, value.fields, why)

    def whole(self, value: Value, why: str) -> None:
        for labels in value.fields:
            self.freeze(labels, why)
        value.fields = []

    def refreshed(self, value: Value, fields: Sequence[torch.Tensor], why: str) -> Value:
        """The same tensor with these fields, as they are by now; where two share an axis, the later one is made whole."""
        kept: list[torch.Tensor] = []
        for labels in fields:
            compacted = self.compact(labels, why)
            if compacted is not None and any(_overlap(compacted, other) for other in kept):
                self.freeze(compacted, why)
            elif compacted is not None:
                kept.append(compacted)
        kept = [labels for labels in (self.compact(labels, why) for labels in kept) if labels is not None]
        return Value(value.shape, kept, value.weight, value.name, value.example)

    def joined(self, values: Sequence[Value], why: str) -> list[torch.Tensor]:
        """Broadcasts the values against one another, feature by feature: the fields of the result."""
        rank = max(len(value.shape) for value in values)
        shapes = [(1,) * (rank - len(value.shape)) + tuple(value.shape) for value in values]
        given = [
            [labels.reshape((1,) * (rank - labels.dim()) + tuple(labels.shape)) for labels in value.fields]
            for value in values
        ]
        fields: list[torch.Tensor] = []
        for labels in (labels for fields_of_one in given for labels in fields_of_one):
            fields = self._absorbed(fields, labels, why)
        for index in range(len(fields)):
            for shape, own in zip(shapes, given):
                for axis in range(rank):
                    now: Optional[torch.Tensor] = self.compact(fields[index], why)
                    if now is None or now.shape[axis] == 1 or shape[axis] == 1:
                        continue
                    mine = [self.compact(labels, why) for labels in own]
                    if not any(labels is not None and labels.shape[axis] > 1 for labels in mine):
                        self.mix(now, axis, why)
        return [labels for labels in (self.compact(labels, why) for labels in fields) if labels is not None]

    def _absorbed(self, fields: list[torch.Tensor], labels: torch.Tensor, why: str) -> list[torch.Tensor]:
        result: list[torch.Tensor] = []
        current = self.compact(labels, why)
        for other in fields:
            known = self.compact(other, why)
            if current is not None and known is not None and _overlap(known, current):
                if not self._keeps_outer_axis(known, current, why):
                    self.join(known, current, why)
                known, current = self.compact(known, why), self.compact(current, why)
                if current is not None and known is not None and _overlap(known, current):
                    current = None  # by now the same
            if known is not None:
                result.append(known)
        return result if current is None else [*result, current]

    def _keeps_outer_axis(self, a: torch.Tensor, b: torch.Tensor, why: str) -> bool:
        """Features over two axes, as heads x features of a head, meet a tensor of the module's own along the inner one:
        then the outer ones are the units, and along the inner axis nothing is dropped."""
        for wide, narrow in ((a, b), (b, a)):
            axes = [axis for axis in range(wide.dim()) if wide.shape[axis] > 1]
            along = [axis for axis in range(narrow.dim()) if narrow.shape[axis] > 1]
            if len(axes) > 1 and along == axes[-1:] and not self.made()[narrow].any():
                self.mix(wide, along[0], why)
                self.mix(narrow, along[0], why)
                return True
        return False


def _overlap(a: torch.Tensor, b: torch.Tensor) -> bool:
    return any(m > 1 and n > 1 for m, n in zip(a.shape, b.shape))
