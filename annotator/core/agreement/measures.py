"""How a statistic of agreement becomes a figure: sums over units, added up by problem, combined, resampled.

Each statistic is a function of sums over units, so that one pass gives its value, its interval and its value in
each group (depth, domain, subject, generator, month).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotator.core.agreement.ratings import Ratings
from annotator.core.intervals import DRAWS, Figure, Floats, Ints, Reason, bootstrap, row_sums, sums_by


@dataclass(frozen=True, slots=True)
class Measure:
    """``rows`` maps counts (units, categories) to (units, k); ``combine`` maps totals (..., k) to values (...).

    ``combine`` gives NaN where the statistic is not defined; then all labels were of a single category.
    """

    rows: Callable[[Floats], Floats]
    combine: Callable[[Floats], Floats]
    equal_raters: bool = False


def figure(these: Ratings, measure: Measure, draws: int = DRAWS) -> Figure:
    """The figure of one measure; ``draws`` = 0 leaves the interval out."""
    counts = these.counts()
    reason = why_undefined(counts, measure)
    if reason:
        return Figure(None, 0, reason)
    return _figure(measure, measure.rows(counts), row_sums(counts) >= 2, these.solution, these.problem, draws)


def by_group(these: Ratings, measure: Measure, group: Ints, draws: int = DRAWS) -> dict[int, Figure]:
    """The figure of each group of units; ``group`` has shape (units,), a negative one belongs nowhere."""
    counts = these.counts()
    paired = row_sums(counts) >= 2
    rows = measure.rows(counts)
    figures = {}
    for name in np.unique(group[(group >= 0) & (row_sums(counts) > 0)]).tolist():
        mine = group == name
        reason = why_undefined(counts[mine], measure)
        figures[name] = (
            Figure(None, 0, reason)
            if reason
            else _figure(measure, rows[mine], paired[mine], these.solution[mine], these.problem[mine], draws)
        )
    return figures


def from_counts(counts: npt.ArrayLike, measure: Measure) -> Figure:
    """The figure of a table of counts (units, categories), without an interval; n counts units.

    >>> from annotator.core.agreement.many_raters import PERCENT
    >>> from_counts([[2, 0], [1, 1]], PERCENT).value
    0.5
    """
    table = np.asarray(counts, dtype=np.float64)
    reason = why_undefined(table, measure)
    if reason:
        return Figure(None, 0, reason)
    units = np.arange(len(table))
    return _figure(measure, measure.rows(table), row_sums(table) >= 2, units, units, 0)


def why_undefined(counts: Floats, measure: Measure) -> Reason | None:
    """The reason that can be told from the counts alone."""
    raters = row_sums(counts) if counts.ndim == 2 else np.zeros(0)
    if not raters.any():
        return Reason.NO_DATA
    if not (raters >= 2).any():
        return Reason.NO_PAIRABLE_UNITS
    used = raters[raters > 0]
    if measure.equal_raters and bool((used != used[0]).any()):
        return Reason.UNEQUAL_RATERS
    return None


def summarise(
    rows: Floats, combine: Callable[[Floats], Floats], n: int, problem: Ints, draws: int = DRAWS
) -> Figure:
    """A figure from sums a unit (units, k), with an interval by resampling problems (units,)."""
    value = float(combine(rows.sum(axis=0)))
    if not np.isfinite(value):
        return Figure(None, n, Reason.SINGLE_CATEGORY)
    bounds = bootstrap(sums_by(problem, rows), combine, draws) if draws else None
    return Figure(value, n, None, *(bounds or (None, None)))


def _figure(
    measure: Measure,
    rows: Floats,
    paired: npt.NDArray[np.bool_],
    solution: Ints,
    problem: Ints,
    draws: int,
) -> Figure:
    seen = np.zeros(int(solution.max()) + 1, dtype=np.bool_)
    seen[solution[paired]] = True
    return summarise(rows, measure.combine, int(seen.sum()), problem, draws)
