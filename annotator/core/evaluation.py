"""How good a scorer is, against human first errors: ProcessBench F1, step AUC, Brier score and ECE.

A figure that is not defined is None with a reason (``no_data``, ``single_category``), never NaN. Step figures
run over steps *at risk*: up to and including the human first error, since later ones are undefined.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotator.core.intervals import Figure, Floats
from annotator.core.labels import NO_ERROR

ECE_BINS = 15


@dataclass(frozen=True, slots=True)
class ProcessBenchF1:
    """``erroneous``: share of exact stops among solutions with an error; ``correct``: share of -1 among those
    without; ``value``: their harmonic mean. All in [0, 1], or None where the reason applies."""

    value: float | None
    erroneous: float | None
    correct: float | None
    n_erroneous: int
    n_correct: int
    reason: str | None = None


def processbench_f1(predicted: Sequence[int], reference: Sequence[int]) -> ProcessBenchF1:
    """F1 = 2ab / (a + b) over solutions, from predicted and human stops (-1: no error).

    Zheng et al. 2024, ProcessBench: a is the share of exact matches where the human found an error, b the
    share of -1 where not. Undefined unless both kinds occur; 0 where a + b = 0. Raises ValueError on
    unequal lengths.

    >>> processbench_f1([2, 0, -1, -1], [2, 1, -1, -1]).value
    0.6666666666666666
    """
    pairs = list(zip(predicted, reference, strict=True))
    on_erroneous = [guess == stop for guess, stop in pairs if stop != NO_ERROR]
    on_correct = [guess == NO_ERROR for guess, stop in pairs if stop == NO_ERROR]
    erroneous = sum(on_erroneous) / len(on_erroneous) if on_erroneous else None
    correct = sum(on_correct) / len(on_correct) if on_correct else None
    value, reason = None, None
    if erroneous is None or correct is None:
        reason = "single_category" if pairs else "no_data"
    else:
        value = 2 * erroneous * correct / (erroneous + correct) if erroneous + correct else 0.0
    return ProcessBenchF1(value, erroneous, correct, len(on_erroneous), len(on_correct), reason)


def steps_at_risk(
    values: Iterable[Sequence[float | None]], stops: Iterable[int]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Values and correctness, both of shape (steps,), of judged steps up to and including each human stop.

    >>> steps_at_risk([[0.9, 0.2, 0.4], [None, 0.8]], [1, -1])
    (array([0.9, 0.2, 0.8]), array([ True, False,  True]))
    """
    kept: list[float] = []
    correct: list[bool] = []
    for row, stop in zip(values, stops, strict=True):
        end = len(row) if stop == NO_ERROR else stop + 1
        for index, value in enumerate(row[:end]):
            if value is not None:
                kept.append(value)
                correct.append(index != stop)
    return np.array(kept, dtype=np.float64), np.array(correct, dtype=np.bool_)


def auc(values: Sequence[float] | Floats, correct: Sequence[bool] | npt.NDArray[np.bool_]) -> Figure:
    """Probability that a correct step has a higher value than an incorrect one, ties counted half.

    Hanley and McNeil 1982, from midranks. ``values`` and ``correct`` have shape (steps,).

    >>> auc([0.9, 0.8, 0.3, 0.8], [True, True, False, False]).value
    0.875
    """
    score, truth = _paired(values, correct)
    positive, negative = int(truth.sum()), int((~truth).sum())
    if not positive or not negative:
        return Figure(None, len(score), "single_category" if len(score) else "no_data")
    _, where, counts = np.unique(score, return_inverse=True, return_counts=True)
    midranks = (np.cumsum(counts) - (counts - 1) / 2)[where]
    wins = midranks[truth].sum() - positive * (positive + 1) / 2
    return Figure(float(wins / (positive * negative)), len(score))


def brier(values: Sequence[float] | Floats, correct: Sequence[bool] | npt.NDArray[np.bool_]) -> Figure:
    """Mean squared difference between probability and outcome, in [0, 1], lower is better. Brier 1950.

    >>> brier([1.0, 0.5], [True, False]).value
    0.125
    """
    score, truth = _paired(values, correct)
    if not len(score):
        return Figure(None, 0, "no_data")
    return Figure(float(np.mean((score - truth) ** 2)), len(score))


def ece(
    values: Sequence[float] | Floats, correct: Sequence[bool] | npt.NDArray[np.bool_], bins: int = ECE_BINS
) -> Figure:
    """Expected calibration error: mean |share correct - mean probability| over equal-width bins, by size.

    Naeini et al. 2015; Guo et al. 2017 with 15 bins, each closed at its upper edge, the first at both.

    >>> ece([0.9, 0.9, 0.1], [True, False, False]).value
    0.3
    """
    score, truth = _paired(values, correct)
    if not len(score):
        return Figure(None, 0, "no_data")
    place = np.clip(np.ceil(score * bins).astype(np.int64) - 1, 0, bins - 1)
    gap = np.bincount(place, weights=truth - score, minlength=bins)
    return Figure(float(np.abs(gap).sum() / len(score)), len(score))


def _paired(
    values: Sequence[float] | Floats, correct: Sequence[bool] | npt.NDArray[np.bool_]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Both as arrays. Raises ValueError unless they have one shape and the values lie in [0, 1]."""
    score = np.asarray(values, dtype=np.float64)
    truth = np.asarray(correct, dtype=np.bool_)
    if score.shape != truth.shape or score.ndim != 1:
        raise ValueError(f"values of shape {score.shape} do not pair with outcomes of shape {truth.shape}")
    if not bool(np.all((score >= 0.0) & (score <= 1.0))):
        raise ValueError("a probability lies between 0 and 1")
    return score, truth
