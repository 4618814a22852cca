"""How many labels are wrong, from blind re-annotation of random audit items.

Values are stops (or classes), -1 for no error; each array has shape (n,), one entry an item.
"""

from __future__ import annotations

import numpy as np

from annotator.core.intervals import (
    DRAWS,
    Figure,
    Floats,
    Ints,
    Reason,
    bootstrap,
    mean,
    ratio,
    sums_by,
)


def noise_by_reannotation(first: Ints, blind: Ints, problem: Ints, draws: int = DRAWS) -> Figure:
    """Share of wrong labels, from how often a second, blind annotator differs: 1 - √(share that agree).

    If each is wrong with probability e, independently, and wrong answers never coincide, then they agree with
    probability (1 - e)². Where people share convincing errors they agree while wrong, so this is a lower bound;
    `noise_by_adjudication` has no such blind spot where the adjudicator looked at agreements too.

    >>> noise_by_reannotation(np.array([1, 2, -1, 0]), np.array([1, 2, -1, 3]), np.arange(4)).value.__round__(3)
    0.134
    """
    if not len(first):
        return Figure(None, 0, Reason.NO_DATA)
    rows = np.stack([(first == blind).astype(np.float64), np.ones(len(first))], axis=1)

    def combine(sums: Floats) -> Floats:
        return 1.0 - np.sqrt(np.maximum(ratio(sums), 0.0))

    bounds = bootstrap(sums_by(problem, rows), combine, draws) or (None, None)
    return Figure(float(combine(rows.sum(axis=0))), len(first), None, *bounds)


def noise_by_adjudication(label: Ints, adjudicated: Ints, problem: Ints, draws: int = DRAWS) -> Figure:
    """Share of labels that a blind adjudicator of the same random items did not confirm, with its interval."""
    return mean((label != adjudicated).astype(np.float64), problem, draws)
