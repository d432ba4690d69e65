"""The paper's search for the best value of a setting, with anybody's rounds."""

from __future__ import annotations

from typing import Callable, Sequence

from ._core import Candidate, RateSearch, SearchPlan

__all__ = ["search"]


def search(
    plan: SearchPlan, round_function: Callable[[Sequence[float]], Sequence[tuple[float, float]]]
) -> RateSearch:
    """Searches for the value whose training reaches plan.target in the fewest rounds.

    `round_function(values)` does one more round of training with each of these values, each a training of its own that
    is told by its value and goes on from where it was, and returns (accuracy, loss) for each: the training accuracy of
    the round, and its loss. What is not finite has diverged. All begin from the same weights.

    Returns the search when it is over: `candidates[best].value` is what it found, if `found`.
    """
    going = RateSearch(plan)
    while running := going.running():
        candidates: Sequence[Candidate] = going.candidates
        going.record(list(round_function([candidates[index].value for index in running])))
    return going
