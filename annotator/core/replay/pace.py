"""How many seconds a person takes over a solution: for starting it, for each step, and for each step's doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.core.intervals import Floats
from annotator.core.ragged import entropies
from annotator.core.replay.table import Fitted, Table

#: Annotations below which nothing is fitted.
FEWEST = 30
#: Times beyond this quantile are breaks rather than work.
LONGEST = 0.98


class TooFewTimes(ValueError):
    """Too little was measured, in a sentence for people."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds for a solution, for a judged step, and for each nat of a step's entropy by the scorer; over ``n``
    annotations."""

    per_solution: float
    per_step: float
    per_nat: float
    n: int


def fit_pace(seconds: Sequence[float], steps: Sequence[float], nats: Sequence[float]) -> Pace:
    """The pace with the least squared error over annotations; no part of it is below 0.

    ``steps`` were judged, ``nats`` is the sum of their entropies. Raises TooFewTimes.

    >>> pace = fit_pace([10 + 5 * n for n in range(1, 41)], list(range(1, 41)), [0.0] * 40)
    >>> round(pace.per_solution, 3), round(pace.per_step, 3), pace.per_nat
    (10.0, 5.0, 0.0)
    """
    known = np.asarray(seconds, dtype=np.float64)
    if len(known) < FEWEST:
        raise TooFewTimes(f"Only {len(known)} annotations have a measured time; a pace needs {FEWEST}.")
    use = known <= np.quantile(known, LONGEST)
    design = np.column_stack([np.ones(len(known)), steps, nats])[use]
    per_solution, per_step, per_nat = _not_negative(design, known[use]).tolist()
    return Pace(per_solution, per_step, per_nat, int(use.sum()))


def _not_negative(design: Floats, wanted: Floats) -> Floats:
    """Least squares; parts that come out below 0, or never vary, are left out one by one, the lowest first."""
    kept = [place for place in range(design.shape[1]) if design[:, place].any()]
    while kept:
        found = np.linalg.lstsq(design[:, kept], wanted, rcond=None)[0]
        if found.min() >= 0.0:
            break
        kept.pop(int(np.argmin(found)))
    whole = np.zeros(design.shape[1])
    if kept:
        whole[kept] = found
    return whole


def in_seconds(table: Table, given: Fitted, pace: Pace) -> Table:
    """The same solutions with costs in seconds; doubt is that of the given scorer."""
    return replace(
        table,
        step_cost=pace.per_step + pace.per_nat * entropies(given.value),
        base_cost=np.full(len(table), pace.per_solution),
    )
