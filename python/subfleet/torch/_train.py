"""SGD of one client, in PyTorch."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Optional

import numpy as np
import torch
from torch import nn

__all__ = ["inputs_of", "right_classes", "rows_of", "train_locally"]


def right_classes(outputs: torch.Tensor, y: torch.Tensor) -> float:
    """How often the largest output is that of the class y; of a text with outputs at every step, at the last. 0 where y
    are no classes."""
    if y.is_floating_point() or y.dim() != 1 or outputs.dim() < 2:
        return 0.0
    last = outputs[..., -1] if outputs.dim() == 3 else outputs
    return float((last.argmax(1) == y).float().mean())


def inputs_of(x: Any) -> tuple[torch.Tensor, ...]:
    """A module's inputs, of which there may be one or a tuple of several."""
    return x if isinstance(x, tuple) else (x,)


def rows_of(x: Any, rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """These examples of them."""
    return tuple(each[rows] for each in inputs_of(x))


def train_locally(
    module: nn.Module,
    x: Any,
    y: torch.Tensor,
    lr: float,
    batch: int,
    orders: Iterable[np.ndarray],
    *,
    momentum: float = 0,
    weight_decay: float = 0,
    proximal: float = 0,
    augment: Optional[Callable[[torch.Tensor, int], torch.Tensor]] = None,
    loss: Optional[Callable[[Any, torch.Tensor], torch.Tensor]] = None,
    right: Callable[[Any, torch.Tensor], float] = right_classes,
) -> tuple[float, float]:
    """SGD, an epoch for each order of the examples (subfleet.example_orders). `x`: the module's input, or a tuple of several.
    `proximal` is FedProx's mu, and augment(examples, seen) makes of a batch what the module sees, where so many examples
    were seen before. `loss` and `right`: as of TorchModel.run; without a loss, cross-entropy, and a module with logits at
    every step of a text learns the next symbol at each. Returns the running mean of loss and accuracy, as it trains."""
    module.train()
    learnt = [p for p in module.parameters() if p.requires_grad]
    sgd = torch.optim.SGD(learnt, lr=lr, momentum=momentum, weight_decay=weight_decay)
    given = [p.detach().clone() for p in learnt] if proximal else []
    loss_sum, right_sum, seen = 0.0, 0.0, 0
    for order in orders:
        rows = torch.from_numpy(order.astype(np.int64))
        for first in range(0, len(rows), batch):
            chosen = rows[first : first + batch].to(y.device)
            sgd.zero_grad()
            examples, wanted = rows_of(x, chosen), y[chosen]
            if augment is not None:
                examples = (augment(examples[0], seen), *examples[1:])
            outputs = module(*examples)
            value = (loss or _cross_entropy(examples[0]))(outputs, wanted)
            value.backward()
            for parameter, start in zip(learnt, given):
                if parameter.grad is not None:
                    parameter.grad.add_(parameter.detach() - start, alpha=proximal)
            sgd.step()
            loss_sum += float(value.detach()) * len(chosen)
            with torch.no_grad():
                right_sum += float(right(outputs, wanted)) * len(chosen)
            seen += len(chosen)
    return loss_sum / max(seen, 1), right_sum / max(seen, 1)


def _cross_entropy(x: torch.Tensor) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Of classes; where there are outputs at every step of a text x, of the next symbol at each."""

    def loss(outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        of_steps = outputs.dim() == 3 and y.dim() == 1
        return nn.functional.cross_entropy(outputs, torch.cat([x[:, 1:], y[:, None]], 1) if of_steps else y)

    return loss
