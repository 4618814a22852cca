"""How each person agrees with the others: effects against the rest, shrunken where there is little to go by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotator.core.agreement.ratings import pairs
from annotator.core.intervals import Z95, Floats, Ints, totals


@dataclass(frozen=True, slots=True)
class PersonEffect:
    """``raw`` and ``shrunken`` difference from what is usual, in shares of agreeing pairs, and its 95 % interval.

    ``n`` counts units shared with somebody; with fewer than two everything but ``shrunken`` (0) is None.
    """

    rater: int
    n: int
    raw: float | None
    shrunken: float
    low: float | None
    high: float | None


def against_the_rest(unit: Ints, rater: Ints, value: Ints, level: Ints | None = None) -> list[PersonEffect]:
    """How much more or less often each person agrees with co-annotators than people do on such units.

    For each annotation y = share of co-annotators of its unit with the same value, minus the mean y of its
    ``level`` (n,), such as the number of steps, so that whoever was given hard work is not blamed for it. Means
    are shrunk by m·τ²/(τ² + s²), with s² the person's squared standard error (never below the pooled one) and τ²
    by the method of moments (DerSimonian and Laird 1986). A partner's mistakes touch both, so effects are smaller
    than differences in skill. All arrays have shape (n,); one result for each rater 0..max.

    >>> units, raters = np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40)
    >>> said = np.where((raters == 2) & (units % 2 == 0), 1, 0)
    >>> [round(each.raw, 2) for each in against_the_rest(units, raters, said)]
    [0.08, 0.08, -0.17]
    """
    shares, shared = _leave_one_out(unit, value)
    people = int(rater.max()) + 1 if len(rater) else 0
    group = np.zeros(len(unit), dtype=np.int64) if level is None else level
    usual = totals(group[shared], shares[shared], int(group.max(initial=0)) + 1)
    size = np.maximum(np.bincount(group[shared], minlength=len(usual)), 1)
    who, left = rater[shared], (shares - (usual / size)[group])[shared]
    n = np.bincount(who, minlength=people)
    means = totals(who, left, people) / np.maximum(n, 1)
    within = totals(who, (left - means[who]) ** 2, people)
    pooled = within.sum() / max(int((n - 1).clip(0).sum()), 1)
    errors = np.maximum(within / np.maximum(n - 1, 1), pooled) / np.maximum(n, 1)
    between = _between(means[n >= 2], errors[n >= 2])
    return [_effect(at, int(n[at]), float(means[at]), float(errors[at]), between) for at in range(people)]


def _effect(rater: int, n: int, raw: float, squared_error: float, between: float) -> PersonEffect:
    if n < 2:
        return PersonEffect(rater, n, None, 0.0, None, None)
    kept = between / (between + squared_error) if between + squared_error else 0.0
    reach = Z95 * float(np.sqrt(kept * squared_error))
    return PersonEffect(rater, n, raw, kept * raw, kept * raw - reach, kept * raw + reach)


def _leave_one_out(unit: Ints, value: Ints) -> tuple[Floats, Ints]:
    """Share of co-annotators with the same value (n,), and where there is any co-annotator."""
    first, second = pairs(unit)
    same = (value[first] == value[second]).astype(np.float64)
    agreed = totals(first, same, len(unit)) + totals(second, same, len(unit))
    others = np.bincount(first, minlength=len(unit)) + np.bincount(second, minlength=len(unit))
    return agreed / np.maximum(others, 1), np.flatnonzero(others)


def _between(means: Floats, squared_errors: Floats) -> float:
    """Variance of people's true effects: (Q - (k - 1)) / (Σw - Σw²/Σw), at least 0, w = 1 / s²."""
    if len(means) < 2 or not (squared_errors > 0).all():
        return 0.0
    weight = 1.0 / squared_errors
    centre = (weight * means).sum() / weight.sum()
    excess = (weight * (means - centre) ** 2).sum() - (len(means) - 1)
    return max(0.0, float(excess / (weight.sum() - (weight**2).sum() / weight.sum())))
