"""What a person's judging a solution is worth, and what it takes, by a scorer's calibrated values: of many at once.

Divided by the steps that a person will probably judge, each worth orders a queue: labels are paid for by the step, and
a person stops at the first error. What each order finds is told in docs/ordering.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotator.core.intervals import Floats, Ints
from annotator.core.ragged import Rows

#: Probabilities are kept so far from 0 and 1 where their logarithm is taken, or where they divide.
EDGE = 1e-9
#: Chance of a right final answer after an error. In ProcessBench (Zheng et al. 2024) .03 on gsm8k, .16 on math.
RIGHT_BY_LUCK = 0.1
#: p (1 - p) counts as at least this, so that a sure step with a trace of spread does not come first.
_LEAST_VARIANCE = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Endings:
    """How judging may go, by calibrated values and independent steps. ``reached`` (steps,): probability that a person
    gets to the step; ``wrong`` (steps,): that the first error is there; ``none`` (n,): that there is no error. Context
    is never reached."""

    rows: Rows
    reached: Floats
    wrong: Floats
    none: Floats

    @property
    def steps(self) -> Floats:
        """How many steps a person will judge of each row, (n,): up to the first error.

        >>> endings(Rows.of_lists([[0.5, 0.8, 0.9]])).steps.round(2).tolist()
        [1.9]
        """
        return _sums(self.rows, self.reached)


def endings(probabilities: Rows, answer: Ints | None = None, right_by_luck: float = RIGHT_BY_LUCK) -> Endings:
    """P(first error at t) = (1 - p_t) prod_{i < t} p_i, P(none) = prod_i p_i, over judged steps.

    ``answer`` (n,): 1 where the final answer is known to be right, 0 where it is wrong, -1 where nobody knows. By
    Bayes: a wrong answer leaves no room for "none", and after an error an answer is right with ``right_by_luck``.

    >>> found = endings(Rows.of_lists([[0.5, 0.8]] * 2), np.array([-1, 0]))
    >>> found.none.round(2).tolist(), found.wrong.round(2).tolist()
    ([0.4, 0.0], [0.5, 0.1, 0.83, 0.17])
    """
    judged = ~np.isnan(probabilities.flat)
    logs = np.log(np.where(judged, np.maximum(probabilities.flat, EDGE), 1.0))
    before = np.cumsum(logs) - logs
    first = np.r_[True, probabilities.row[1:] != probabilities.row[:-1]][: len(before)]
    reached = np.where(judged, np.exp(before - before[first][probabilities.row]), 0.0)
    wrong = reached * np.nan_to_num(1.0 - probabilities.flat)
    none = np.maximum(1.0 - _sums(probabilities, wrong), 0.0)
    if answer is None:
        return Endings(probabilities, reached, wrong, none)
    if_none = np.where(answer == 0, 0.0, 1.0)
    if_wrong = np.select([answer == 1, answer == 0], [right_by_luck, 1.0 - right_by_luck], 1.0)
    whole = np.maximum(if_wrong * (1.0 - none) + if_none * none, EDGE)
    beyond = (reached - none[probabilities.row]) * if_wrong[probabilities.row]
    reached = np.where(judged, beyond + (if_none * none)[probabilities.row], 0.0) / whole[probabilities.row]
    return Endings(
        probabilities,
        np.maximum(reached, 0.0),
        wrong * (if_wrong / whole)[probabilities.row],
        if_none * none / whole,
    )


def expected_mistakes(values: Rows, found: Endings, threshold: Floats) -> Floats:
    """How many of those steps the scorer misjudges, (n,), where it calls a value below its threshold (n,) an error.

    A step called an error is none with probability p, so the call is wrong with p, which is above one half where the
    threshold is tuned for rare errors: sum_i (reached_i - wrong_i) over called steps, wrong_i over the others.

    >>> rows = Rows.of_lists([[0.9, 0.6]])
    >>> expected_mistakes(rows, endings(rows), np.array([0.7])).round(2).tolist()
    [0.64]
    """
    called = values.flat < threshold[values.row]
    return _sums(values, np.where(called, found.reached - found.wrong, found.wrong))


def wrong_stop(found: Endings) -> Floats:
    """Probability that the most probable ending is not the true one, (n,): least confidence.

    Lewis and Gale 1994; for sequences Culotta and McCallum 2005.

    >>> wrong_stop(endings(Rows.of_lists([[0.9, 0.6]]))).round(2).tolist()
    [0.46]
    """
    best = found.none.copy()
    np.maximum.at(best, found.rows.row, found.wrong)
    return 1.0 - best


def information(found: Endings, spread: Rows) -> Floats:
    """What the labels of those steps will tell of the scorer's own numbers, (n,), in nats.

    Mutual information of a label and the ensemble (BALD, Houlsby et al. 2011), H(mean p) - mean H(p), to second order
    s^2 / (2 p (1 - p)) with the members' standard deviation s. 0 where a scorer has no spread.

    >>> information(endings(Rows.of_lists([[0.5]])), Rows.of_lists([[0.1]])).round(3).tolist()
    [0.02]
    """
    p = found.rows.flat
    told = spread.flat**2 / (2.0 * np.maximum(p * (1.0 - p), _LEAST_VARIANCE))
    return _sums(found.rows, found.reached * np.minimum(np.nan_to_num(told), np.log(2.0)))


def _sums(rows: Rows, steps: Floats) -> Floats:
    """Values of steps (steps,) added up by row (n,)."""
    return np.asarray(np.bincount(rows.row, steps, rows.n), dtype=np.float64)
