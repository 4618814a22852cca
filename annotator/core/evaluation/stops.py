"""Predicted against human first errors: ProcessBench F1 and first-error accuracy. Stops are 0-based, -1 for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.core.intervals import Figure, Floats, Ints, Reason, bootstrap, divide, of_sums, ratio, sums_by
from annotator.core.labels import NO_ERROR


@dataclass(frozen=True, slots=True)
class ProcessBenchF1:
    """``erroneous``: share of exact stops among solutions with an error; ``correct``: share of -1 among those
    without; ``value``: their harmonic mean, with its 95 % interval. All in [0, 1], or None where the reason applies."""

    value: float | None
    erroneous: float | None
    correct: float | None
    n_erroneous: int
    n_correct: int
    reason: str | None = None
    low: float | None = None
    high: float | None = None

    @property
    def figure(self) -> Figure:
        """The F1 alone, over all solutions."""
        return Figure(self.value, self.n_erroneous + self.n_correct, self.reason, self.low, self.high)


def processbench_f1(
    predicted: Sequence[int], reference: Sequence[int], problem: Ints | None = None
) -> ProcessBenchF1:
    """F1 = 2ab / (a + b) over solutions, from predicted and human stops (-1: no error).

    Zheng et al. 2024, ProcessBench: a is the share of exact matches where the human found an error, b the
    share of -1 where not. Undefined unless both kinds occur; 0 where a + b = 0. With ``problem``, of shape
    (solutions,), it has an interval by resampling problems. Raises ValueError on unequal lengths.

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
    bounds = (None, None) if problem is None or value is None else _bounds(predicted, reference, problem)
    return ProcessBenchF1(value, erroneous, correct, len(on_erroneous), len(on_correct), reason, *bounds)


def _bounds(
    predicted: Sequence[int], reference: Sequence[int], problem: Ints
) -> tuple[float, float] | tuple[None, None]:
    return bootstrap(sums_by(problem, f1_rows(predicted, reference)), f1_of_sums) or (None, None)


def f1_rows(predicted: Sequence[int], reference: Sequence[int]) -> Floats:
    """What `f1_of_sums` adds up, (solutions, 4): erroneous and hit, erroneous, correct and hit, correct.

    >>> f1_rows([2, -1], [2, 1]).tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    """
    guess, stop = np.asarray(predicted, dtype=np.int64), np.asarray(reference, dtype=np.int64)
    wrong, hit = stop != NO_ERROR, guess == stop
    return np.stack([wrong & hit, wrong, ~wrong & hit, ~wrong], axis=1).astype(np.float64)


def f1_of_sums(sums: Floats) -> Floats:
    """ProcessBench F1 from sums (..., 4) of `f1_rows`; NaN where a kind is missing."""
    a, b = divide(sums[..., 0], sums[..., 1]), divide(sums[..., 2], sums[..., 3])
    return np.where(a + b == 0, 0.0, divide(2 * a * b, a + b))


def first_error_accuracy(
    predicted: Sequence[int], reference: Sequence[int], within: int = 0, problem: Ints | None = None
) -> Figure:
    """Share of solutions whose stop is predicted to within so many steps; none must be predicted as none.

    "No error" lies next to no step: -1 against 0 is a miss however wide the tolerance. With ``problem`` an
    interval by resampling problems. Raises ValueError on unequal lengths.

    >>> first_error_accuracy([2, 0, -1, -1], [1, 0, -1, 0], within=1).value
    0.75
    """
    if len(predicted) != len(reference):
        raise ValueError(f"{len(predicted)} predicted stops for {len(reference)} solutions")
    guess, stop = np.asarray(predicted, dtype=np.int64), np.asarray(reference, dtype=np.int64)
    both = (guess != NO_ERROR) & (stop != NO_ERROR)
    hit = (guess == stop) | (both & (np.abs(guess - stop) <= within))
    rows = np.stack([hit, np.ones(len(hit))], axis=1).astype(np.float64)
    return of_sums(rows, ratio, problem, Reason.NO_DATA)


def error_class_f1(predicted: Sequence[int], reference: Sequence[int]) -> Figure:
    """F1 of the class "first error": hits over predicted ones (precision) and over human ones (recall).

    F1 = 2 hits / (predicted + human), where a hit is the exact step. Undefined where neither names an error.
    Raises ValueError on unequal lengths.

    >>> error_class_f1([2, 0, -1, -1], [2, 1, 0, -1]).value
    0.4
    """
    pairs = list(zip(predicted, reference, strict=True))
    hits = sum(guess == stop != NO_ERROR for guess, stop in pairs)
    named = sum((guess != NO_ERROR) + (stop != NO_ERROR) for guess, stop in pairs)
    if not named:
        return Figure(None, len(pairs), Reason.SINGLE_CATEGORY if pairs else Reason.NO_DATA)
    return Figure(2 * hits / named, len(pairs))
