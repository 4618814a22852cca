"""What a scorer's values are worth as probabilities: fitted on what people labelled, and applied to everything else.

Values (steps,) are a scorer's, truths (steps,) people's: whether the step is correct. Both maps rise, so the order of
steps never changes, only how sure the scorer seems. ``group`` (steps,) names each step's problem: steps of one problem
resemble each other, so a value is judged by a map that never saw its problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from annotator.core.intervals import Floats, Ints

#: Values beyond this count as this: a claim of certainty means little out there.
EDGE = 1e-4
#: Variance of the normal prior around the identity (slope 1, intercept 0), in logits.
PRIOR_VARIANCE = 4.0
#: Labelled solutions below which nothing is fitted.
MIN_SOLUTIONS = 50
#: Steps below which a step function follows noise (Niculescu-Mizil and Caruana 2005, section 4), and of each truth.
MIN_STEPS_ISOTONIC, MIN_OF_EACH = 1000, 5
FOLDS = 5
_IDENTITY = np.array([0.0, 1.0])


class Method(StrEnum):
    """PLATT: a line in logits, right for few labels. ISOTONIC: a rising step function, for many."""

    PLATT = "platt"
    ISOTONIC = "isotonic"


@dataclass(frozen=True, slots=True)
class Calibration:
    """A rising map from values to probabilities. ``at`` and ``to`` (knots,): intercept and slope for PLATT, else the
    step function's places and heights. Fitted on ``solutions`` with ``steps`` labelled steps."""

    method: Method
    at: tuple[float, ...]
    to: tuple[float, ...]
    solutions: int
    steps: int

    def apply(self, values: npt.ArrayLike) -> Floats:
        """Probabilities for values, of the same shape. NaN stays NaN."""
        given = np.asarray(values, dtype=np.float64)
        if self.method is Method.PLATT:
            return logistic(self.at[0] + self.to[0] * logit(given))
        return np.where(np.isnan(given), np.nan, np.interp(given, self.at, self.to))

    def as_json(self) -> dict[str, Any]:
        """For storing."""
        numbers = {"at": list(self.at), "to": list(self.to)}
        return {"method": self.method.value, **numbers, "solutions": self.solutions, "steps": self.steps}


def from_json(kept: Mapping[str, Any]) -> Calibration | None:
    """What `Calibration.as_json` made; None where nothing is kept."""
    if not kept:
        return None
    return Calibration(
        Method(kept["method"]), tuple(kept["at"]), tuple(kept["to"]), kept["solutions"], kept["steps"]
    )


def calibrate(
    values: npt.ArrayLike, correct: npt.ArrayLike, group: npt.ArrayLike, *, solutions: int
) -> Calibration | None:
    """The map that predicts unseen problems best, or None: fewer than 50 solutions, or hardly a step of one truth.

    Platt's line unless there are 1,000 steps and the step function has the smaller log loss over 5 folds of problems.

    >>> values, truths = [0.99] * 60 + [0.6] * 40, [True] * 48 + [False] * 12 + [True] * 20 + [False] * 20
    >>> found = calibrate(values, truths, range(100), solutions=100)
    >>> found.apply([0.99, 0.6]).round(1).tolist()
    [0.8, 0.5]
    >>> calibrate(values, truths, range(100), solutions=49) is None
    True
    """
    score, truth, problem = _checked(values, correct, group)
    right = int(truth.sum())
    if solutions < MIN_SOLUTIONS or min(right, len(truth) - right) < MIN_OF_EACH:
        return None
    method = Method.PLATT
    if len(score) >= MIN_STEPS_ISOTONIC:
        losses = {each: log_loss(_crossed(score, truth, problem, each), truth) for each in Method}
        method = min(losses, key=losses.__getitem__)
    at, to = _fit(score, truth, method)
    return Calibration(method, at, to, solutions, len(score))


def crossed(
    values: npt.ArrayLike, correct: npt.ArrayLike, group: npt.ArrayLike, method: Method = Method.PLATT
) -> Floats:
    """Each value as a map says that never saw its problem, shape (steps,): what calibration is worth, honestly.

    5 folds of problems; with a single problem the values as they come.
    """
    score, truth, problem = _checked(values, correct, group)
    return _crossed(score, truth, problem, method)


def log_loss(values: Floats, correct: npt.NDArray[np.bool_]) -> float:
    """Mean -ln of the probability given to what was true, in nats; NaN without steps. Good 1952.

    >>> round(log_loss(np.array([0.5, 0.5]), np.array([True, False])), 4)
    0.6931
    """
    if not len(values):
        return float("nan")
    inside = np.clip(values, EDGE, 1.0 - EDGE)
    return float(-np.log(np.where(correct, inside, 1.0 - inside)).mean())


def platt(score: Floats, truth: Floats) -> tuple[float, float]:
    """Intercept a and slope b of P(true) = 1 / (1 + exp(-(a + b s))) for scores s (n,) and truths in {0, 1} (n,).

    Platt 1999, with a weak normal prior around a = 0, b = 1; by Newton's steps, each halved until it gains, since full
    ones can swing for ever. A slope below 0 would turn the order round, so it is held at 0.

    >>> a, b = platt(np.array([-2.0, 2.0] * 500), np.array([0.0, 1.0] * 500))
    >>> b > 1.0
    True
    """
    design = np.stack([np.ones(len(score)), score], axis=1)
    weights = _IDENTITY.copy()
    for _ in range(50):
        chance = logistic(design @ weights)
        uphill = design.T @ (truth - chance) - (weights - _IDENTITY) / PRIOR_VARIANCE
        curve = (design * (chance * (1.0 - chance))[:, None]).T @ design + np.eye(2) / PRIOR_VARIANCE
        step = np.linalg.solve(curve, uphill)
        if float(np.abs(step).max()) < 1e-9:
            break
        now = _objective(design, truth, weights)
        while _objective(design, truth, weights + step) < now and float(np.abs(step).max()) > 1e-9:
            step = step / 2.0
        weights = weights + step
    if weights[1] < 0.0:
        return float(logit(np.array([truth.mean()]))[0]), 0.0
    return float(weights[0]), float(weights[1])


def isotonic(values: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """Places and heights, both (knots,), of the rising step function with the least squared error.

    Pool adjacent violators (Ayer et al. 1955; Zadrozny and Elkan 2002); between two places it is read along a line.
    Heights are (right + 1/2) / (n + 1) of their block, so that none claims certainty.

    >>> at, to = isotonic(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 1.0, 0.0, 1.0]))
    >>> at.tolist(), to.tolist()
    ([0.1, 0.2, 0.3, 0.4], [0.25, 0.5, 0.5, 0.75])
    """
    order = np.argsort(values, kind="stable")
    blocks: list[list[float]] = []  # right, n, first place, last place
    for place, right in zip(values[order].tolist(), truth[order].tolist(), strict=True):
        blocks.append([right, 1.0, place, place])
        while len(blocks) > 1 and _out_of_order(blocks[-2], blocks[-1]):
            last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + last[0], blocks[-1][1] + last[1], blocks[-1][2], last[3]]
    heights = np.maximum.accumulate([(right + 0.5) / (n + 1.0) for right, n, _, _ in blocks])
    at = [place for _, _, first, last in blocks for place in ((first, last) if first < last else (first,))]
    to = np.repeat(heights, [2 if first < last else 1 for _, _, first, last in blocks])
    return np.array(at, dtype=np.float64), np.asarray(to, dtype=np.float64)


def _out_of_order(before: list[float], after: list[float]) -> bool:
    """A later block that lies lower, or one of the very same place."""
    return before[0] / before[1] >= after[0] / after[1] or before[3] == after[2]


def logit(values: Floats) -> Floats:
    """ln(p / (1 - p)), p held off 0 and 1 by EDGE."""
    inside = np.clip(values, EDGE, 1.0 - EDGE)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def logistic(scores: Floats) -> Floats:
    """1 / (1 + exp(-s)): `logit`'s inverse."""
    return np.asarray(1.0 / (1.0 + np.exp(-scores)))


def _objective(design: Floats, truth: Floats, weights: Floats) -> float:
    scores = design @ weights
    likelihood = float((truth * scores - np.logaddexp(0.0, scores)).sum())
    return likelihood - float(((weights - _IDENTITY) ** 2).sum()) / (2.0 * PRIOR_VARIANCE)


def _fit(
    score: Floats, truth: npt.NDArray[np.bool_], method: Method
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if method is Method.PLATT:
        intercept, slope = platt(logit(score), truth.astype(np.float64))
        return (intercept,), (slope,)
    at, to = isotonic(score, truth.astype(np.float64))
    return tuple(at.tolist()), tuple(to.tolist())


def _crossed(score: Floats, truth: npt.NDArray[np.bool_], problem: Ints, method: Method) -> Floats:
    found = score.copy()
    folds = np.unique(problem, return_inverse=True)[1] % FOLDS
    for fold in range(FOLDS):
        mine = folds == fold
        if mine.any() and not mine.all():
            at, to = _fit(score[~mine], truth[~mine], method)
            found[mine] = Calibration(method, at, to, 0, 0).apply(score[mine])
    return found


def _checked(
    values: npt.ArrayLike, correct: npt.ArrayLike, group: npt.ArrayLike
) -> tuple[Floats, npt.NDArray[np.bool_], Ints]:
    """All three as arrays. Raises ValueError unless they have one shape and the values lie in [0, 1]."""
    score, truth = np.asarray(values, dtype=np.float64), np.asarray(correct, dtype=np.bool_)
    problem = np.asarray(group, dtype=np.int64)
    if not score.shape == truth.shape == problem.shape or score.ndim != 1:
        raise ValueError(f"values of shape {score.shape} do not pair with {truth.shape} and {problem.shape}")
    if not bool(np.all((score >= 0.0) & (score <= 1.0))):
        raise ValueError("a probability lies between 0 and 1")
    return score, truth, problem
