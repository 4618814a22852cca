"""Step values against human labels: AUC, Brier score, calibration, and errors found and raised falsely.

Arrays have shape (steps,) over the steps whose truth is known: in `first_error` those *at risk*, up to and including
the human first error, since later ones are undefined. With ``problem`` (steps,) a figure has an interval by resampling
problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotator.core.intervals import (
    Figure,
    Floats,
    Ints,
    Reason,
    divide,
    interval,
    of_sums,
    ratio,
    resampled_weights,
)
from annotator.core.labels import NO_ERROR

Bools = npt.NDArray[np.bool_]

ECE_BINS = 15
#: Resamples of the AUC that are weighed at once: 100 take 16 MB for 20,000 steps.
_AT_ONCE = 100
#: Beyond so many steps the AUC, which sums don't make, is resampled less often: 2 s instead of 10 for 100,000.
_MANY, _DRAWS_OF_MANY = 20_000, 400


def steps_at_risk(values: Iterable[Sequence[float | None]], stops: Iterable[int]) -> tuple[Floats, Bools]:
    """Values and correctness, both of shape (steps,), of judged steps up to and including each human stop.

    >>> steps_at_risk([[0.9, 0.2, 0.4], [None, 0.8]], [1, -1])
    (array([0.9, 0.2, 0.8]), array([ True, False,  True]))
    """
    rows = list(values)
    truths = [truth_of_stop(len(row), stop) for row, stop in zip(rows, stops, strict=True)]
    value, correct, _ = known_steps(rows, truths)
    return value, correct


def truth_of_stop(n_steps: int, stop: int) -> list[bool | None]:
    """Whether each step is correct, None after the first error.

    >>> truth_of_stop(4, 1)
    [True, False, None, None]
    """
    end = n_steps if stop == NO_ERROR else stop
    return [True] * end + [False] * (end < n_steps) + [None] * (n_steps - end - 1)


def known_steps(
    values: Iterable[Sequence[float | None]], truths: Iterable[Sequence[bool | None]]
) -> tuple[Floats, Bools, Ints]:
    """Values, correctness and the solution's place, each (steps,), of the steps that have a value and a truth.

    Raises ValueError where a solution's values and truths differ in length.

    >>> known_steps([[0.9, None, 0.4]], [[True, True, None]])
    (array([0.9]), array([ True]), array([0]))
    """
    kept: list[tuple[float, bool, int]] = []
    for place, (row, truth) in enumerate(zip(values, truths, strict=True)):
        for value, correct in zip(row, truth, strict=True):
            if value is not None and correct is not None:
                kept.append((value, correct, place))
    columns = list(zip(*kept, strict=True)) or [(), (), ()]
    return (
        np.array(columns[0], dtype=np.float64),
        np.array(columns[1], dtype=np.bool_),
        np.array(columns[2], dtype=np.int64),
    )


def auc(
    values: Sequence[float] | Floats, correct: Sequence[bool] | Bools, problem: Ints | None = None
) -> Figure:
    """Probability that a correct step has a higher value than an incorrect one, ties counted half.

    Hanley and McNeil 1982, from midranks.

    >>> auc([0.9, 0.8, 0.3, 0.8], [True, True, False, False]).value
    0.875
    """
    score, truth = _paired(values, correct)
    if not truth.any() or truth.all():
        return Figure(None, len(score), Reason.SINGLE_CATEGORY if len(score) else Reason.NO_DATA)
    value = float(_weighted_auc(score, truth, np.ones((1, len(score))))[0])
    if problem is None:
        return Figure(value, len(score))
    weights, place = resampled_weights(problem)
    draws = len(weights) if len(score) <= _MANY else _DRAWS_OF_MANY
    chunks = range(0, draws, _AT_ONCE)
    drawn = [
        _weighted_auc(score, truth, weights[start : min(start + _AT_ONCE, draws), place]) for start in chunks
    ]
    return Figure(value, len(score), None, *(interval(np.concatenate(drawn)) or (None, None)))


def _weighted_auc(score: Floats, truth: Bools, weight: Floats) -> Floats:
    """The AUC of each row of weights (draws, steps): shape (draws,), NaN where a class has no weight."""
    order = np.argsort(score, kind="stable")
    ordered = score[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    shown = weight[:, order]
    right = np.add.reduceat(shown * truth[order], starts, axis=1)
    wrong = np.add.reduceat(shown * ~truth[order], starts, axis=1)
    below = np.cumsum(wrong, axis=1) - wrong / 2
    return divide((right * below).sum(axis=1), right.sum(axis=1) * wrong.sum(axis=1))


def brier(
    values: Sequence[float] | Floats, correct: Sequence[bool] | Bools, problem: Ints | None = None
) -> Figure:
    """Mean squared difference between probability and outcome, in [0, 1], lower is better. Brier 1950.

    >>> brier([1.0, 0.5], [True, False]).value
    0.125
    """
    score, truth = _paired(values, correct)
    rows = np.stack([(score - truth) ** 2, np.ones(len(score))], axis=1)
    return of_sums(rows, ratio, problem, Reason.NO_DATA)


def ece(
    values: Sequence[float] | Floats,
    correct: Sequence[bool] | Bools,
    bins: int = ECE_BINS,
    problem: Ints | None = None,
) -> Figure:
    """Expected calibration error: mean |share correct - mean probability| over equal-width bins, by size.

    Naeini et al. 2015; Guo et al. 2017 with 15 bins, each closed at its upper edge, the first at both. Noise in a bin
    adds to it, in resamples more than in the data: the interval's upper end is on the cautious side.

    >>> ece([0.9, 0.9, 0.1], [True, False, False]).value
    0.3
    """
    score, truth = _paired(values, correct)
    rows = np.zeros((len(score), bins + 1))
    rows[np.arange(len(score)), _bin(score, bins)] = truth - score
    rows[:, -1] = 1.0
    return of_sums(rows, _ece_of_sums, problem, Reason.NO_DATA)


def _ece_of_sums(sums: Floats) -> Floats:
    return divide(np.abs(sums[..., :-1]).sum(axis=-1), sums[..., -1])


@dataclass(frozen=True, slots=True)
class Bin:
    """Steps whose value lies in (low, high]: their mean value, the share that people call correct, and how many."""

    low: float
    high: float
    said: float
    correct: float
    n: int

    @property
    def name(self) -> str:
        return f"{self.low:.2g}–{self.high:.2g}"


def reliability(
    values: Sequence[float] | Floats, correct: Sequence[bool] | Bools, bins: int = ECE_BINS
) -> list[Bin]:
    """The bins of a reliability diagram (DeGroot and Fienberg 1983) that hold a step, as `ece` cuts them.

    >>> reliability([0.9, 0.7, 0.2], [True, False, False], bins=2)[1]
    Bin(low=0.5, high=1.0, said=0.8, correct=0.5, n=2)
    """
    score, truth = _paired(values, correct)
    place = _bin(score, bins)
    return [
        Bin(at / bins, (at + 1) / bins, float(score[mine].mean()), float(truth[mine].mean()), int(mine.sum()))
        for at in range(bins)
        if (mine := place == at).any()
    ]


def _bin(score: Floats, bins: int) -> Ints:
    return np.clip(np.ceil(score * bins).astype(np.int64) - 1, 0, bins - 1)


@dataclass(frozen=True, slots=True)
class StepErrors:
    """Steps called errors: ``precision`` of the calls, ``recall`` of the human errors (the error detection rate), and
    PRMBench's ``prm_score``."""

    precision: Figure
    recall: Figure
    prm_score: Figure


def step_errors(
    values: Sequence[float] | Floats,
    correct: Sequence[bool] | Bools,
    threshold: float,
    problem: Ints | None = None,
) -> StepErrors:
    """Errors found and raised falsely, where a step below the threshold is called an error.

    Precision TP / (TP + FP) and recall TP / (TP + FN) of the error class. PRMScore = F1 / 2 + negative F1 / 2 over
    pooled steps, a valid step being positive (Song et al. 2025, PRMBench, section 4.1): 0 for a class that is
    never hit, undefined where only one class occurs.

    >>> found = step_errors([0.9, 0.2, 0.3, 0.8], [True, True, False, False], 0.5)
    >>> found.precision.value, found.recall.value, found.prm_score.value
    (0.5, 0.5, 0.5)
    """
    score, truth = _paired(values, correct)
    called = score < threshold
    rows = np.stack([called & ~truth, called & truth, ~called & ~truth, ~called & truth], axis=1)
    counts = rows.astype(np.float64)
    return StepErrors(
        *(
            of_sums(counts, each, problem, Reason.SINGLE_CATEGORY)
            for each in (_precision, _recall, _prm_score)
        )
    )


def _precision(sums: Floats) -> Floats:
    return divide(sums[..., 0], sums[..., 0] + sums[..., 1])


def _recall(sums: Floats) -> Floats:
    return divide(sums[..., 0], sums[..., 0] + sums[..., 2])


def _prm_score(sums: Floats) -> Floats:
    """From counts (..., 4): errors found, false alarms, errors missed, valid steps passed."""
    found, alarms, missed, passed = (sums[..., at] for at in range(4))
    positive = divide(2 * passed, 2 * passed + alarms + missed)
    negative = divide(2 * found, 2 * found + alarms + missed)
    both = (found + missed > 0) & (alarms + passed > 0)
    return np.where(both, (positive + negative) / 2, np.nan)


def _paired(values: Sequence[float] | Floats, correct: Sequence[bool] | Bools) -> tuple[Floats, Bools]:
    """Both as arrays. Raises ValueError unless they have one shape and the values lie in [0, 1]."""
    score = np.asarray(values, dtype=np.float64)
    truth = np.asarray(correct, dtype=np.bool_)
    if score.shape != truth.shape or score.ndim != 1:
        raise ValueError(f"values of shape {score.shape} do not pair with outcomes of shape {truth.shape}")
    if not bool(np.all((score >= 0.0) & (score <= 1.0))):
        raise ValueError("a probability lies between 0 and 1")
    return score, truth
