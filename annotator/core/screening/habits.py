"""How a person works: speed beside what the work needs, the same key over and over, the same answer twice.

None of it pauses anybody: it tells a manager where to look.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

import numpy as np
import numpy.typing as npt

from annotator.core.intervals import Figure, Floats, Ints, Reason, proportion, totals

#: Iglewicz and Hoaglin's bound on a modified z.
OUTLIER = 3.5
#: Annotations that a person's usual speed counts as average for.
_PSEUDO_ANNOTATIONS = 5.0
#: The 95 % Wilson interval must lie below this sensitivity before a person looks like someone who just says correct.
LOW_SENSITIVITY = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """``z`` (n,): modified z of each annotation's log time, NaN with ``reason`` where there is no spread.
    ``person`` (raters,): how a person's usual time compares, as a factor (0.5: half of what others need)."""

    z: Floats
    person: Floats
    reason: Reason | None = None

    @property
    def too_fast(self) -> npt.NDArray[np.bool_]:
        return self.z < -OUTLIER

    @property
    def too_slow(self) -> npt.NDArray[np.bool_]:
        return self.z > OUTLIER


@dataclass(frozen=True, slots=True)
class Monotony:
    """``longest_run`` of one label, ``entropy`` of the labels in bits, ``modal_share`` of the commonest."""

    longest_run: int
    entropy: float
    modal_share: float


def modified_z(values: npt.ArrayLike) -> Floats | None:
    """0.6745 (x - median) / MAD of shape (n,), or None where half of the values or more are equal (`no_spread`).

    Iglewicz and Hoaglin 1993.

    >>> modified_z([1.0, 2.0, 3.0]).round(4).tolist()
    [-0.6745, 0.0, 0.6745]
    >>> modified_z([1.0, 1.0, 1.0]) is None
    True
    """
    array = np.asarray(values, dtype=np.float64)
    if not len(array):
        return None
    away = array - np.median(array)
    spread = float(np.median(np.abs(away)))
    return 0.6745 * away / spread if spread > 1e-12 else None


def pace(seconds: Floats, length: Floats, reached: Floats, rater: Ints) -> Pace:
    """Times beside what length, depth reached and the person lead to expect.

    log seconds = a + b·log length + c·log(reached + 1) + person, by least squares with a penalty on the persons'
    terms worth five annotations (Henderson 1975); what is left is put on the scale of `modified_z`. ``seconds``
    (n,) > 0, ``length`` (n,) in characters > 0, ``reached`` (n,) in judged steps. Raises ValueError.
    """
    if not (np.all(seconds > 0) and np.all(length > 0) and np.all(reached >= 0)):
        raise ValueError("times and lengths are above 0, depths not below it")
    if not len(seconds):
        return Pace(np.zeros(0), np.zeros(0), Reason.NO_DATA)
    people = int(rater.max()) + 1
    times = np.log(seconds)
    fixed = np.stack([np.ones(len(times)), np.log(length), np.log1p(reached)], axis=1)
    shrink = np.bincount(rater, minlength=people) + _PSEUDO_ANNOTATIONS
    # The persons' terms are eliminated: each is the shrunken mean of what the others leave (Frisch and Waugh 1933).
    sums = np.stack([totals(rater, column, people) for column in fixed.T], axis=1)
    normal = fixed.T @ fixed - (sums / shrink[:, None]).T @ sums
    target = fixed.T @ times - sums.T @ (totals(rater, times, people) / shrink)
    weights = np.linalg.lstsq(normal, target, rcond=None)[0]
    left = times - fixed @ weights
    person = totals(rater, left, people) / shrink
    z = modified_z(left - person[rater])
    if z is None:
        return Pace(np.full(len(times), np.nan), np.exp(person), Reason.NO_SPREAD)
    return Pace(z, np.exp(person))


def monotony(labels: npt.ArrayLike) -> Monotony:
    """Of labels in order, (n,) and not empty. A side figure: most steps truly are correct. Raises ValueError.

    >>> monotony([1, 1, -1, 1]).longest_run
    2
    """
    array = np.asarray(labels, dtype=np.int64)
    if not len(array):
        raise ValueError("monotony of no labels is not defined")
    ends = np.flatnonzero(np.concatenate([array[1:] != array[:-1], [True]]))
    runs = np.diff(np.concatenate([[-1], ends]))
    shares = np.unique(array, return_counts=True)[1] / len(array)
    return Monotony(int(runs.max()), -sum(p * log2(p) for p in shares.tolist()) or 0.0, float(shares.max()))


def says_only_correct(errors_caught: int, errors_reached: int) -> bool:
    """Straight-lining, judged by missed gold errors: the whole Wilson interval of sensitivity is below one half.

    >>> says_only_correct(0, 4), says_only_correct(0, 3), says_only_correct(4, 10)
    (True, False, False)
    """
    high = proportion(errors_caught, errors_reached, Reason.NO_GOLD).high
    return high is not None and high < LOW_SENSITIVITY


def self_consistency(first: Ints, repeat: Ints) -> Figure:
    """Share of repeats (n,) on which a person gave the same stop as long before, with its Wilson interval.

    >>> self_consistency(np.array([1, -1]), np.array([1, 2])).value
    0.5
    """
    return proportion(int((first == repeat).sum()), len(first), Reason.NO_OVERLAP)
