"""What picking the best-scored of several solutions to a problem is worth: best-of-N, by aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.core.intervals import Figure, Floats, Ints, Reason, of_sums, ratio
from annotator.core.uncertainty import Aggregate, Values, aggregate


@dataclass(frozen=True, slots=True)
class BestOfN:
    """Share of problems whose picked candidate has a right answer. ``by``: for each aggregation of the steps'
    values; ``lot``: one drawn by lot; ``best``: any of them is right. ``n`` candidates a problem on average."""

    by: dict[Aggregate, Figure]
    lot: Figure
    best: Figure
    n: float


def best_of_n(
    values: Sequence[Values], answer_right: Sequence[bool | None], problem: Sequence[int] | Ints
) -> BestOfN:
    """Aggregate per candidate, take the maximum, look at its answer; a tie counts by the share of right ones in it.

    Cobbe et al. 2021, section 4; Lightman et al. 2023 multiply the steps' values. Problems with fewer than two
    candidates of known answer are left out. Intervals resample problems. Raises ValueError on unequal lengths.

    >>> found = best_of_n([[0.9, 0.4], [0.6, 0.6]], [False, True], [0, 0])
    >>> found.by[Aggregate.MIN].value, found.by[Aggregate.MEAN].value, found.lot.value
    (1.0, 0.0, 0.5)
    """
    candidates: dict[int, list[tuple[Values, bool]]] = {}
    for row, right, code in zip(values, answer_right, problem, strict=True):
        if right is not None and any(value is not None for value in row):
            candidates.setdefault(int(code), []).append((row, right))
    several = [each for each in candidates.values() if len(each) > 1]
    rights = [np.array([right for _, right in each]) for each in several]
    by = {how: _figure([_picked(each, how) for each in several]) for how in Aggregate}
    lot, best = [float(right.mean()) for right in rights], [float(right.any()) for right in rights]
    n = float(np.mean([len(each) for each in several])) if several else 0.0
    return BestOfN(by, _figure(lot), _figure(best), n)


def _picked(candidates: Sequence[tuple[Values, bool]], how: Aggregate) -> float:
    """The share of right answers among the candidates of the highest score."""
    scores: Floats = np.array([aggregate(row, how) for row, _ in candidates], dtype=np.float64)
    right = np.array([right for _, right in candidates])
    return float(right[scores == scores.max()].mean())


def _figure(shares: Sequence[float]) -> Figure:
    """Their mean over problems, with an interval."""
    rows = np.stack([np.array(shares, dtype=np.float64), np.ones(len(shares))], axis=1)
    return of_sums(rows, ratio, np.arange(len(shares)), Reason.NO_DATA)
