"""Curves over budgets, averaged over seeds, and how much less budget one order needs than another.

Arrays of curves have shape (seeds, budgets); row k of every order comes from the same split and the same draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.core.intervals import DRAWS, Floats, Ints, interval

#: Where a share of the total budget is looked at; 0 is where nothing is bought.
BUDGETS = (0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0)
#: Random's budgets whose quality another order is to reach.
LEVELS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True, slots=True)
class Band:
    """A curve's mean over seeds, and the middle 95 % of resampled means; each (budgets,)."""

    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True, slots=True)
class Level:
    """The smallest budgets that reach ``quality``, as shares of all, and their ratio with a paired 95 % interval.

    ``valid``: random still rises there, so a smaller budget means something. ``ratio`` is None where the order never
    reaches it.
    """

    quality: float
    random_budget: float
    budget: float | None
    ratio: float | None
    low: float | None
    high: float | None
    valid: bool


def band(curves: Floats) -> Band:
    """Mean and interval over seeds of curves (seeds, budgets); with one seed there is no interval but the curve."""
    means = curves[_drawn(len(curves))].mean(axis=1) if len(curves) > 1 else curves
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return Band(curves.mean(axis=0).tolist(), low.tolist(), high.tolist())


def rising(curves: Floats) -> Floats:
    """The rising curves with the least squared error: isotonic regression along the last axis, of the same shape.

    Robertson, Wright and Dykstra 1988, 1.4: max over a <= i of the min over b >= i of the mean of a..b.

    >>> rising(np.array([1.0, 3.0, 2.0, 4.0])).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    size = curves.shape[-1]
    sums = np.concatenate([np.zeros((*curves.shape[:-1], 1)), np.cumsum(curves, axis=-1)], axis=-1)
    first, last = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    means = (sums[..., last + 1] - sums[..., first]) / np.maximum(last - first + 1, 1)
    means = np.where(last >= first, means, np.inf)
    from_here_on = np.minimum.accumulate(means[..., ::-1], axis=-1)[..., ::-1]
    lowest = np.where(last >= first, from_here_on, -np.inf)
    return np.asarray(np.maximum.accumulate(lowest, axis=-2)[..., np.arange(size), np.arange(size)])


def smallest_budget(budgets: Floats, curve: Floats, quality: float) -> float:
    """Where a rising curve (budgets,) first reaches the quality, along straight lines; NaN where it never does.

    >>> smallest_budget(np.array([0.1, 0.2, 0.4]), np.array([0.5, 0.6, 0.6]), 0.55).__round__(3)
    0.15
    """
    at = int(np.searchsorted(curve, quality - 1e-12))
    if at == len(curve):
        return float("nan")
    if at == 0:
        return float(budgets[0])
    share = (quality - curve[at - 1]) / (curve[at] - curve[at - 1])
    return float(budgets[at - 1] + share * (budgets[at] - budgets[at - 1]))


def level(budgets: Sequence[float], random: Floats, other: Floats, random_budget: float) -> Level:
    """How much of random's budget the other order needs for what random reaches at ``random_budget``.

    Mean curves are made rising first. Seeds are resampled for both at once, so that a lucky split counts for both.
    """
    grid = np.asarray(budgets, dtype=np.float64)
    mean = rising(random.mean(axis=0))
    quality = float(np.interp(random_budget, grid, mean))
    reached = smallest_budget(grid, mean, quality)
    budget = smallest_budget(grid, rising(other.mean(axis=0)), quality)
    bounds: tuple[float, float] | None = None
    if len(random) > 1:
        bounds = interval(_ratios(grid, random, other, random_budget))
    known = bool(np.isfinite(budget))
    return Level(
        quality=quality,
        random_budget=reached,
        budget=budget if known else None,
        ratio=budget / reached if known else None,
        low=bounds[0] if bounds else None,
        high=bounds[1] if bounds else None,
        valid=still_rises(grid, random, random_budget),
    )


def _ratios(grid: Floats, random: Floats, other: Floats, random_budget: float) -> Floats:
    """The ratio in each resample of the seeds. An order that never gets there counts as needing everything."""
    drawn = _drawn(len(random))
    one, two = rising(random[drawn].mean(axis=1)), rising(other[drawn].mean(axis=1))
    found = []
    for mean, curve in zip(one, two, strict=True):
        quality = float(np.interp(random_budget, grid, mean))
        budget = smallest_budget(grid, curve, quality)
        found.append((budget if np.isfinite(budget) else grid[-1]) / smallest_budget(grid, mean, quality))
    return np.array(found, dtype=np.float64)


def still_rises(grid: Floats, random: Floats, random_budget: float) -> bool:
    """Whether random's quality at the whole budget lies above that at ``random_budget``, by more than the seeds' noise:
    the lower 95 % bound of the paired difference is above 0. With one seed, whether it is above at all."""
    here = np.array([np.interp(random_budget, grid, curve) for curve in rising(random)])
    gain = rising(random)[:, -1] - here
    if len(gain) < 2:
        return bool(gain[0] > 0.0)
    return bool(np.quantile(gain[_drawn(len(gain))].mean(axis=1), 0.025) > 0.0)


def share_of_oracle(
    random: Floats, other: Floats, oracle: Floats
) -> tuple[float, float | None, float | None]:
    """(found - random) / (oracle - random) at one budget, from values (seeds,), with a paired 95 % interval."""
    drawn = _drawn(len(random))
    value = _gain(random.mean(), other.mean(), oracle.mean())
    means = [each[drawn].mean(axis=1) for each in (random, other, oracle)]
    bounds = interval(_gain(*means)) if len(random) > 1 else None
    return float(value), *(bounds or (None, None))


def _gain(random: Floats, other: Floats, oracle: Floats) -> Floats:
    room = oracle - random
    return np.where(room > 1e-12, (other - random) / np.where(room > 1e-12, room, 1.0), np.nan)


def _drawn(seeds: int) -> Ints:
    """Resamples of the seeds (draws, seeds)."""
    return np.random.default_rng(7).integers(0, seeds, (DRAWS // 2, seeds))
