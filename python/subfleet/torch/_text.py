"""Modules as texts of model files."""

from __future__ import annotations

import math
from typing import Iterable, Mapping, Optional, Sequence

from .._core import RequestError
from ._layers import ReadLayer
from ._trace import Part, Tensor, Traced

__all__ = ["layers_text", "tensors_text"]


def layers_text(name: str, input: Sequence[int], layers: list[ReadLayer], droppable: Optional[Iterable[str]]) -> str:
    lines = [f'name = "{name}"', f"input = [{', '.join(str(int(side)) for side in input)}]"]
    for layer in layers:
        lines += ["[[layer]]", f'type = "{layer.type}"']
        if layer.path:
            lines.append(f'name = "{layer.path.replace(".", "_")}"')
            if droppable is not None:
                lines.append(f"droppable = {'true' if layer.path in droppable else 'false'}")
        lines += [f"{key} = {str(value).lower()}" for key, value in layer.keys.items()]
    return "\n".join(lines) + "\n"


def tensors_text(
    name: str, input: Sequence[int], outputs: int, traced: Traced, names: Mapping[str, str], droppable: Iterable[str]
) -> str:
    """`names` are those of the groups as settings have them."""
    lines = [f'name = "{name}"', f"input = [{', '.join(map(str, input))}]", f"outputs = {outputs}"]
    lines += ["group = ["]
    for group in traced.groups:
        kind = "true" if group.name in droppable else "false"
        lines.append(f'  {{ name = "{names[group.name]}", units = {group.units}, droppable = {kind} }},')
    lines += ["]", "tensor = ["]
    for tensor in traced.tensors:
        keys = [f'name = "{tensor.name}"', f"shape = [{', '.join(map(str, tensor.shape))}]"]
        keys += [f"{axis} = {_parts(parts, names)}" for axis, parts in _axes(tensor).items()]
        keys += ["statistic = true"] if tensor.statistic else []
        lines.append(f"  {{ {', '.join(keys)} }},")
    return "\n".join(lines + ["]"]) + "\n"


def _axes(tensor: Tensor) -> dict[str, list[Part]]:
    """The axes that follow groups, as rows and columns: each with the whole axes before it, as repeats. If there is one, it is
    the columns, behind rows that are whole, so that what is kept lies in long stretches."""
    follow = [axis for axis, parts in enumerate(tensor.axes) if any(part.group for part in parts)]
    if len(follow) > 2:
        raise RequestError(f"{tensor.name}: units are dropped along {len(follow)} of its axes; two at most")
    if len(follow) == 1 and follow[0] > 0:
        rows = math.prod(tensor.shape[: follow[0]])
        return {"rows": [Part(None, 1, rows)], "columns": list(tensor.axes[follow[0]])}
    axes, begin = {}, 0
    for kind, axis in zip(("rows", "columns"), follow):
        times = math.prod(tensor.shape[begin:axis])
        parts = tensor.axes[axis]
        if times == 1:
            axes[kind] = list(parts)
        elif len(parts) == 1:
            axes[kind] = [Part(parts[0].group, times * parts[0].outer, parts[0].inner)]
        else:
            axes[kind] = list(parts) * times
        begin = axis + 1
    return axes


def _parts(parts: Sequence[Part], names: Mapping[str, str]) -> str:
    texts = []
    for part in parts:
        if part.group is None:
            texts.append(f"{{ inner = {part.outer * part.inner} }}")
            continue
        outer = f", outer = {part.outer}" if part.outer != 1 else ""
        inner = f", inner = {part.inner}" if part.inner != 1 else ""
        group = f'"{names[part.group]}"'
        texts.append(f"{{ group = {group}{outer}{inner} }}" if outer or inner else group)
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
