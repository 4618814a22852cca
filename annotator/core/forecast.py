"""How many labels a target takes, by the learning curve so far: a power law of the error, with an honest interval.

A curve of three points says little; then so does its interval, or there is none at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.core.intervals import Floats

#: Points with different numbers of labels below which no curve is drawn.
FEWEST = 3
#: Beyond this many times the most labels so far nobody knows the curve.
FURTHEST = 100.0
DRAWS = 2_000
#: Standard errors are half-widths of 95 % intervals over this.
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Point:
    """A quality in (0, 1), such as an F1, reached with so many labels, and its 95 % interval."""

    labels: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """Labels in all at which ``target`` is reached, with a 90 % interval; ``high`` None: perhaps never. ``labels``
    None: nothing can be said, and ``reason`` says why."""

    target: float
    labels: int | None
    low: int | None = None
    high: int | None = None
    reason: str = ""


def forecast(points: Sequence[Point], target: float, seed: int = 0) -> Forecast:
    """Where the curve 1 - value = a · labels^(-b) meets the target.

    Least squares on logarithms, each point weighed by its own interval; the interval redraws the points within
    theirs and fits again. Learning curves of classifiers follow power laws over the range that is bought (Hestness et
    al. 2017; Figueroa et al. 2012, who fit them so). Raises ValueError for a target outside (0, 1).

    >>> curve = [Point(n, 1 - n**-0.25, 0, 1) for n in (100, 200, 400)]
    >>> forecast(curve, 0.8).labels
    625
    >>> forecast(curve[:2], 0.8).reason
    'It takes 3 generations with different numbers of labels; there are 2.'
    """
    if not 0.0 < target < 1.0:
        raise ValueError(f"a target lies between 0 and 1, got {target!r}")
    usable = [one for one in points if one.labels > 0 and 0.0 < one.value < 1.0]
    sizes = {one.labels for one in usable}
    if len(sizes) < FEWEST:
        reason = f"It takes {FEWEST} generations with different numbers of labels; there are {len(sizes)}."
        return Forecast(target, None, reason=reason)
    best = max(usable, key=lambda one: one.labels)
    if best.value >= target:
        return Forecast(target, best.labels, best.labels, best.labels, "The target is reached.")
    drawn = _meets(usable, target, seed)
    middle = float(drawn[0])
    if not np.isfinite(middle) or middle > FURTHEST * best.labels:
        return Forecast(target, None, reason="The curve so far does not rise enough to say.")
    low, high = np.quantile(drawn[1:], [0.05, 0.95], method="inverted_cdf")  # no sum with the infinite
    known = bool(np.isfinite(high)) and high <= FURTHEST * best.labels
    low = min(max(float(low), float(best.labels)), middle)
    return Forecast(target, round(middle), round(low), round(max(high, middle)) if known else None)


def _meets(points: Sequence[Point], target: float, seed: int) -> Floats:
    """Labels at the target by the curve through the points, then through DRAWS redrawn ones; infinite: never."""
    at = np.log([one.labels for one in points])
    error = 1.0 - np.array([one.value for one in points])
    width = np.array([max(one.high - one.low, 1e-3) for one in points]) / (2 * _Z)
    random = np.random.default_rng(seed)
    moved = np.clip(error + width * random.standard_normal((DRAWS, len(points))), 1e-3, 0.999)
    logs = np.log(np.concatenate([error[None], moved]))
    weight = (error / width) ** 2  # of a logarithm whose variable has this width
    weight = weight / weight.sum()
    centre = (weight * at).sum()
    middle = logs @ weight
    slope = ((logs - middle[:, None]) * (weight * (at - centre))).sum(axis=1) / (
        weight * (at - centre) ** 2
    ).sum()
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        labels = np.exp(centre + (np.log(1.0 - target) - middle) / slope)
    return np.where(slope < -1e-6, labels, np.inf)
