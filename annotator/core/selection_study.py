"""What a way of choosing would have found, replayed on solutions whose human first errors are known.

Human stops are 0-based, -1 for none; values are a scorer's, one list a solution. Only steps at risk count: up to
and including the human stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotator.core.labels import NO_ERROR
from annotator.core.uncertainty import EVEN_ODDS, Values, is_certain

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Effort:
    """For each solution, shape (solutions,): how many steps a person judges, and on how many the scorer errs."""

    judged: Ints
    misjudged: Ints


def ensemble(rows: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """Mean and population standard deviation per step over scorers; ``rows`` has shape (scorers, steps).

    >>> ensemble([[0.5, 1.0], [1.0, 1.0]])
    ([0.75, 1.0], [0.25, 0.0])
    """
    values = np.asarray(rows, dtype=np.float64)
    return values.mean(axis=0).tolist(), values.std(axis=0).tolist()


def certain_shares(
    solutions: Sequence[tuple[Values, Values]], preds: Sequence[float], stds: Sequence[float]
) -> Floats:
    """Share of solutions that ActPRM's rule calls certain, for each pair of thresholds: shape (preds, stds).

    >>> certain_shares([([0.99], [0.0]), ([0.9], [0.1])], preds=[0.8, 0.95], stds=[0.0, 0.1]).tolist()
    [[0.5, 1.0], [0.5, 0.5]]
    """
    table = np.zeros((len(preds), len(stds)))
    for row, pred in enumerate(preds):
        for column, std in enumerate(stds):
            table[row, column] = np.mean(
                [is_certain(values, spread, delta_pred=pred, delta_std=std) for values, spread in solutions]
            )
    return table


def overlooked(
    values: Sequence[Values], stops: Sequence[int], level: float = EVEN_ODDS
) -> npt.NDArray[np.bool_]:
    """Whether the scorer rates the human first error at ``level`` or above: it would let it pass. (solutions,)

    Solutions without a human error are False.

    >>> overlooked([[0.9, 0.8], [0.9, 0.1], [0.9]], [1, 1, -1]).tolist()
    [True, False, False]
    """
    found = np.zeros(len(stops), dtype=np.bool_)
    for index, (row, stop) in enumerate(zip(values, stops, strict=True)):
        value = row[stop] if stop != NO_ERROR else None
        found[index] = value is not None and value >= level
    return found


def effort(values: Sequence[Values], stops: Sequence[int], threshold: float = EVEN_ODDS) -> Effort:
    """Steps that a person judges, and those among them where the scorer's call at ``threshold`` is wrong.

    >>> effort([[0.9, 0.8], [0.4, 0.9]], [1, -1])
    Effort(judged=array([2, 2]), misjudged=array([1, 1]))
    """
    judged, wrong = [], []
    for row, stop in zip(values, stops, strict=True):
        end = len(row) if stop == NO_ERROR else stop + 1
        calls = [
            (value < threshold) != (index == stop)
            for index, value in enumerate(row[:end])
            if value is not None
        ]
        judged.append(len(calls))
        wrong.append(sum(calls))
    return Effort(np.array(judged, dtype=np.int64), np.array(wrong, dtype=np.int64))


def found_by_budget(order: Sequence[int] | Ints, spent: Effort, budgets: Sequence[float]) -> Floats:
    """Share of all misjudged steps found once a share of all steps is judged in that order: shape (budgets,).

    A solution counts when it is judged to its end within the budget. 0 where nothing is misjudged.

    >>> done = Effort(judged=np.array([1, 1, 2]), misjudged=np.array([0, 1, 1]))
    >>> found_by_budget([1, 2, 0], done, [0.25, 0.75, 1.0]).tolist()
    [0.5, 1.0, 1.0]
    """
    places = np.asarray(order, dtype=np.int64)
    cost, found = np.cumsum(spent.judged[places]), np.cumsum(spent.misjudged[places])
    reached = np.searchsorted(cost, np.asarray(budgets) * spent.judged.sum() + 1e-9, side="right")
    return np.asarray(np.r_[0, found][reached] / max(int(spent.misjudged.sum()), 1), dtype=np.float64)
