"""Many solutions' step values at once: what `uncertainty` says of one, of a million in seconds.

Rows of different lengths stand one after the other in one array. Each function names its twin in `uncertainty`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotator.core.intervals import Floats, Ints
from annotator.core.uncertainty import ACTPRM_PRED, ACTPRM_STD, Values

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """``flat`` (steps,): values row after row, NaN for none. ``row`` (steps,): which row each belongs to, from 0,
    rising. ``n`` rows; each has a step at least."""

    flat: Floats
    row: Ints
    n: int

    @staticmethod
    def of(flat: Floats, lengths: Ints) -> Rows:
        """From values (steps,) and the rows' lengths (n,)."""
        return Rows(flat, np.repeat(np.arange(len(lengths)), lengths), len(lengths))

    @staticmethod
    def of_lists(values: Sequence[Values]) -> Rows:
        """From lists with None for NaN."""
        flat = [np.nan if value is None else value for row in values for value in row]
        return Rows.of(
            np.array(flat, dtype=np.float64), np.array([len(row) for row in values], dtype=np.int64)
        )

    def like(self, flat: Floats) -> Rows:
        """Other values (steps,) for the same steps."""
        return Rows(flat, self.row, self.n)

    def mean(self, of: Bools, empty: float = 0.0) -> Floats:
        """Each row's mean over the chosen steps, (n,); ``empty`` where it has none."""
        counts = np.bincount(self.row[of], minlength=self.n)
        sums = np.bincount(self.row[of], self.flat[of], self.n)
        return np.where(counts > 0, sums / np.maximum(counts, 1), empty)

    def any(self, of: Bools) -> Bools:
        """Whether each row has such a step, (n,)."""
        return np.asarray(np.bincount(self.row[of], minlength=self.n) > 0)


def at_risk(values: Rows, threshold: Floats) -> Bools:
    """Judged steps up to and including the first below each row's threshold (n,): `uncertainty.at_risk`.

    >>> at_risk(Rows.of_lists([[0.9, None, 0.4, 0.1]]), np.array([0.5])).tolist()
    [True, False, True, False]
    """
    below = values.flat < threshold[values.row]
    before: Ints = np.cumsum(below) - below
    first = np.r_[True, values.row[1:] != values.row[:-1]] if len(below) else np.zeros(0, dtype=np.bool_)
    start: Ints = before[first]
    return np.asarray(~np.isnan(values.flat) & (before == start[values.row]))


def entropies(p: Floats) -> Floats:
    """`uncertainty.entropy` of each, NaN for NaN.

    >>> entropies(np.array([0.0, 0.5, 1.0])).round(4).tolist()
    [0.0, 0.6931, 0.0]
    """
    inside = (p > 0.0) & (p < 1.0)
    q = np.where(inside, p, 0.5)
    return np.where(np.isnan(p), np.nan, np.where(inside, -q * np.log(q) - (1.0 - q) * np.log1p(-q), 0.0))


def mean_entropies(probabilities: Rows, risk: Bools) -> Floats:
    """`uncertainty.mean_entropy` of each row, (n,), over the steps at risk (steps,)."""
    return probabilities.like(entropies(probabilities.flat)).mean(risk)


def products(probabilities: Rows) -> Floats:
    """`uncertainty.aggregate` by product of each row, (n,); NaN where no step is judged.

    >>> products(Rows.of_lists([[0.9, None, 0.5], [None]])).tolist()
    [0.45, nan]
    """
    judged = ~np.isnan(probabilities.flat)
    found = np.ones(probabilities.n)
    np.multiply.at(found, probabilities.row[judged], probabilities.flat[judged])
    return np.where(probabilities.any(judged), found, np.nan)


def certain(
    values: Rows, spread: Rows, risk: Bools, *, pred: float = ACTPRM_PRED, std: float = ACTPRM_STD
) -> Bools:
    """`uncertainty.is_certain` of each row, (n,): no step at risk is wide, of unknown spread, or between the two.

    >>> values, spread = Rows.of_lists([[0.99, 0.02], [0.9, 0.9]]), Rows.of_lists([[0.001, 0.004], [0.001, 0.001]])
    >>> certain(values, spread, at_risk(values, np.array([0.5, 0.5]))).tolist()
    [True, False]
    """
    sure = (spread.flat <= std) & ((values.flat >= pred) | (values.flat <= 1.0 - pred))
    return ~values.any(risk & ~sure)


def disagreements(scorers: Sequence[Rows], risks: Sequence[Bools]) -> Floats:
    """`uncertainty.disagreement` of each row, (n,), among the scorers that speak of it; NaN where fewer than two do.

    A scorer that says nothing of a row has NaN in all of its steps.

    >>> disagreements(*zip(*[(each, at_risk(each, np.array([0.5]))) for each in (
    ...     Rows.of_lists([[0.9, 1.0]]), Rows.of_lists([[0.9, 0.0]]))])).round(4).tolist()
    [0.3466]
    """
    first = scorers[0]
    sums, entropy, speaking = (np.zeros(len(first.flat)) for _ in range(3))
    all_at_risk, speakers = np.ones(len(first.flat), dtype=np.bool_), np.zeros(first.n, dtype=np.int64)
    for values, risk in zip(scorers, risks, strict=True):
        judged = ~np.isnan(values.flat)
        speaks = values.any(judged)
        speakers += speaks
        all_at_risk &= risk | ~speaks[values.row]
        sums += np.where(judged, values.flat, 0.0)
        entropy += np.where(judged, entropies(values.flat), 0.0)
        speaking += judged
    n = np.maximum(speaking, 1)
    each = np.maximum(entropies(np.minimum(sums / n, 1.0)) - entropy / n, 0.0)
    return np.where(speakers > 1, first.like(each).mean(all_at_risk & (speaking > 0)), np.nan)
