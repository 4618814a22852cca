"""Figures with their intervals: a proportion by Wilson, anything made of sums by resampling problems.

Steps of one solution and solutions of one problem resemble each other, so problems are resampled, never steps or
solutions. A figure that is not defined is None with a reason, never NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: The two-sided 95 % quantile of the normal distribution, about 1.96.
Z95 = NormalDist().inv_cdf(0.975)
DRAWS = 2000

MOST_CLUSTERS = 500
#: An interval needs a statistic that is defined in nearly every resample.
_MOSTLY_DEFINED = 0.95


class Reason(StrEnum):
    """Why a figure has no value."""

    SINGLE_CATEGORY = "single_category"
    NO_OVERLAP = "no_overlap"
    NO_PAIRABLE_UNITS = "no_pairable_units"
    NO_DATA = "no_data"
    NO_GOLD = "no_gold"
    UNEQUAL_RATERS = "unequal_raters_use_alpha"
    NO_SPREAD = "no_spread"


@dataclass(frozen=True, slots=True)
class Figure:
    """``value`` over ``n`` items with its 95 % interval, or None and the reason why it is not defined.

    ``low`` and ``high`` are None where no interval can be had: a single problem, or data that did not vary.
    """

    value: float | None
    n: int
    reason: str | None = None
    low: float | None = None
    high: float | None = None


def wilson(successes: int, trials: int, z: float = Z95) -> tuple[float, float] | None:
    """The score interval of a proportion, or None without trials.

    (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n). Wilson 1927; Newcombe 1998, method 3. Raises ValueError
    unless 0 <= successes <= trials.

    >>> [round(bound, 4) for bound in wilson(17, 20)]
    [0.6396, 0.9476]
    >>> wilson(0, 0) is None
    True
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if not trials:
        return None
    share = successes / trials
    middle = share + z * z / (2 * trials)
    reach = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if successes == 0 else max(0.0, (middle - reach) / scale)
    high = 1.0 if successes == trials else min(1.0, (middle + reach) / scale)
    return low, high


def proportion(successes: int, trials: int, missing: Reason = Reason.NO_DATA) -> Figure:
    """A share with its Wilson interval; ``missing`` is the reason given without trials.

    >>> proportion(9, 10).value, proportion(0, 0, Reason.NO_GOLD).reason.value
    (0.9, 'no_gold')
    """
    bounds = wilson(successes, trials)
    if bounds is None:
        return Figure(None, 0, missing)
    return Figure(successes / trials, trials, None, *bounds)


def totals(index: Ints, weights: Floats, size: int) -> Floats:
    """Weights (n,) added up by index (n,), of shape (size,).

    >>> totals(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [4.0, 0.0, 2.0]
    """
    return np.asarray(np.bincount(index, weights, size), dtype=np.float64)


def sums_by(cluster: Ints, rows: Floats) -> Floats:
    """Rows of shape (items, k) added up within clusters (items,), to (clusters, k). Clusters of zeros are left out.

    >>> sums_by(np.array([0, 1, 0]), np.array([[1.0], [2.0], [3.0]])).tolist()
    [[4.0], [2.0]]
    """
    if not len(rows):
        return np.zeros((0, rows.shape[1]))
    size = int(cluster.max()) + 1
    added = np.stack([totals(cluster, column, size) for column in rows.T], axis=1)
    return added[added.any(axis=1)]


def resample(sums: Floats, draws: int = DRAWS, seed: int = 0) -> Floats:
    """Totals (draws, k) of ``draws`` samples with replacement from the clusters' sums (clusters, k).

    Efron 1979, on clusters. Beyond 500 problems every 500th is tied together, so that the work stays the same
    however large the project: ties are independent too, and 500 give a standard error to within 3 %.
    """
    if len(sums) > MOST_CLUSTERS:
        short = -len(sums) % MOST_CLUSTERS
        padded = np.concatenate([sums, np.zeros((short, sums.shape[1]))])
        sums = padded.reshape(-1, MOST_CLUSTERS, sums.shape[1]).sum(axis=0)
    return _weights(len(sums), draws, seed) @ sums


@lru_cache(maxsize=2)
def _weights(clusters: int, draws: int, seed: int) -> Floats:
    """`_times_drawn` as numbers that can be multiplied; a report asks dozens of times for the same, of 8 MB."""
    return _times_drawn(clusters, draws, seed).astype(np.float64)


@lru_cache(maxsize=16)
def _times_drawn(clusters: int, draws: int, seed: int) -> npt.NDArray[np.uint8]:
    """How often each sample holds each cluster, of shape (draws, clusters). At most 1 MB for the default draws."""
    picked = np.random.default_rng(seed).integers(0, clusters, (draws, clusters), dtype=np.int64)
    picked += (np.arange(draws) * clusters)[:, None]
    return np.bincount(picked.ravel(), minlength=draws * clusters).reshape(draws, clusters).astype(np.uint8)


def bootstrap(
    sums: Floats, statistic: Callable[[Floats], Floats], draws: int = DRAWS, seed: int = 0
) -> tuple[float, float] | None:
    """The percentile interval of ``statistic``, which maps totals (..., k) to values (...), NaN where undefined.

    ``sums`` has one row a problem. None where there are fewer than two problems, where the statistic is undefined
    in more than one resample in twenty, or where it never varies: no width would look like certainty. The seed is
    fixed, so that a page shows the same interval twice.
    """
    if len(sums) < 2 or draws < 1:
        return None
    return interval(statistic(resample(sums, draws, seed)))


def interval(drawn: Floats) -> tuple[float, float] | None:
    """The middle 95 % of resampled values (draws,), NaN where undefined. None where `bootstrap` has none.

    >>> interval(np.arange(1001.0))
    (25.0, 975.0)
    """
    values = drawn[np.isfinite(drawn)]
    if len(values) < max(1, _MOSTLY_DEFINED * len(drawn)) or np.ptp(values) < 1e-12:
        return None
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def of_sums(
    rows: Floats, statistic: Callable[[Floats], Floats], problem: Ints | None, missing: Reason
) -> Figure:
    """``statistic`` of the sums of rows (items, k), with an interval by resampling problems (items,) where given.

    Where it is NaN there is no value, by the reason ``missing``, or `NO_DATA` without rows.

    >>> of_sums(np.array([[1.0, 1.0], [0.0, 1.0]]), ratio, None, Reason.SINGLE_CATEGORY).value
    0.5
    """
    value = float(statistic(rows.sum(axis=0))) if len(rows) else float("nan")
    if not np.isfinite(value):
        return Figure(None, len(rows), missing if len(rows) else Reason.NO_DATA)
    bounds = bootstrap(sums_by(problem, rows), statistic) if problem is not None else None
    return Figure(value, len(rows), None, *(bounds or (None, None)))


def resampled_weights(problem: Ints, draws: int = DRAWS, seed: int = 0) -> tuple[Floats, Ints]:
    """How often each resample of `bootstrap` holds each problem, (draws, k), and each item's of the k, (items,).

    For statistics that no sums make, such as ranks. Raises ValueError without items.
    """
    if not len(problem):
        raise ValueError("nothing can be resampled from nothing")
    place = np.unique(problem, return_inverse=True)[1].astype(np.int64) % MOST_CLUSTERS
    return _weights(int(place.max()) + 1, draws, seed), place


def row_sums(rows: Floats) -> Floats:
    """Sums (n,) of each row of (n, k): for a small k many times as fast as numpy's own reduction."""
    return rows @ np.ones(rows.shape[1])


def ratio(sums: Floats) -> Floats:
    """First column over second, NaN where the second is 0: the mean, when the second counts."""
    return divide(sums[..., 0], sums[..., 1])


def divide(above: Floats, below: Floats) -> Floats:
    """above / below, NaN where below is 0 (to rounding)."""
    usable = np.abs(below) > 1e-12
    return np.where(usable, above / np.where(usable, below, 1.0), np.nan)


def mean(values: Floats, problem: Ints, draws: int = DRAWS, seed: int = 0) -> Figure:
    """The plain mean over solutions (n,) with an interval by resampling their problems (n,).

    For the audit prefix and the holdout: from an ordered queue no plain mean estimates anything.

    >>> figure = mean(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 2]))
    >>> figure.value, figure.n
    (0.75, 4)
    """
    if not len(values):
        return Figure(None, 0, Reason.NO_DATA)
    rows = np.stack([values, np.ones(len(values))], axis=1).astype(np.float64)
    bounds = bootstrap(sums_by(problem, rows), ratio, draws, seed) or (None, None)
    return Figure(float(np.mean(values)), len(values), None, *bounds)
