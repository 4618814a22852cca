"""What a person's judging a solution is worth, and what it takes, by a scorer's calibrated values: of many at once.

Divided by the steps that a person will probably judge, each worth orders a queue: labels are paid for by the step, and
a person stops at the first error. What each order finds is told in docs/ordering.md.
"""

from __future__ import annotations

import numpy as np

from annotator.core.intervals import Floats
from annotator.core.ragged import Rows

#: Probabilities are kept so far from 0 and 1 where their logarithm is taken, or where they divide.
EDGE = 1e-9
#: p (1 - p) counts as at least this, so that a sure step with a trace of spread does not come first.
_LEAST_VARIANCE = 0.01


def reached(probabilities: Rows) -> Floats:
    """Probability that a person gets to each step (steps,): the product of the values before it; 0 for context.

    >>> reached(Rows.of_lists([[0.5, None, 0.8, 0.9], [0.9]])).round(2).tolist()
    [1.0, 0.0, 0.5, 0.4, 1.0]
    """
    judged = ~np.isnan(probabilities.flat)
    logs = np.log(np.where(judged, np.maximum(probabilities.flat, EDGE), 1.0))
    before = np.cumsum(logs) - logs
    first = np.r_[True, probabilities.row[1:] != probabilities.row[:-1]][: len(before)]
    return np.where(judged, np.exp(before - before[first][probabilities.row]), 0.0)


def expected_steps(probabilities: Rows) -> Floats:
    """How many steps a person will judge of each row, (n,): up to the first error.

    >>> expected_steps(Rows.of_lists([[0.5, 0.8, 0.9]])).round(2).tolist()
    [1.9]
    """
    return _sums(probabilities, reached(probabilities))


def expected_mistakes(values: Rows, probabilities: Rows, threshold: Floats) -> Floats:
    """How many of those steps the scorer misjudges, (n,), where it calls a value below its threshold (n,) an error.

    A step called an error is none with probability p, so the call is wrong with p, which is above one half where the
    threshold is tuned for rare errors: sum_i reached_i (p_i where the value is below the threshold, else 1 - p_i).

    >>> rows = Rows.of_lists([[0.9, 0.6]])
    >>> expected_mistakes(rows, rows, np.array([0.7])).round(2).tolist()
    [0.64]
    """
    called = values.flat < threshold[values.row]
    wrong = np.where(called, probabilities.flat, 1.0 - probabilities.flat)
    return _sums(probabilities, reached(probabilities) * np.nan_to_num(wrong))


def wrong_stop(probabilities: Rows) -> Floats:
    """Probability that the most probable stop is not the human one, (n,). Least confidence (Lewis and Gale 1994).

    The stop is t with probability reached_t (1 - p_t), and none with the product of all p.

    >>> wrong_stop(Rows.of_lists([[0.9, 0.6]])).round(2).tolist()
    [0.46]
    """
    chance = reached(probabilities) * np.nan_to_num(1.0 - probabilities.flat)
    best = np.maximum(1.0 - _sums(probabilities, chance), 0.0)
    np.maximum.at(best, probabilities.row, chance)
    return 1.0 - best


def information(probabilities: Rows, spread: Rows) -> Floats:
    """What the labels of those steps will tell of the scorer's own numbers, (n,), in nats.

    Mutual information of a label and the ensemble (BALD, Houlsby et al. 2011), H(mean p) - mean H(p), to second order
    s^2 / (2 p (1 - p)) with the members' standard deviation s. 0 where a scorer has no spread.

    >>> information(Rows.of_lists([[0.5]]), Rows.of_lists([[0.1]])).round(3).tolist()
    [0.02]
    """
    p = probabilities.flat
    told = spread.flat**2 / (2.0 * np.maximum(p * (1.0 - p), _LEAST_VARIANCE))
    return _sums(probabilities, reached(probabilities) * np.minimum(np.nan_to_num(told), np.log(2.0)))


def _sums(rows: Rows, steps: Floats) -> Floats:
    """Values of steps (steps,) added up by row (n,)."""
    return np.asarray(np.bincount(rows.row, steps, rows.n), dtype=np.float64)
