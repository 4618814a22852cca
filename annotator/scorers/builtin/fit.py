"""Fits the built-in scorer by numpy alone: an ensemble of ridge logistic regressions, a threshold beside it.

Trained on steps up to and including the human first error: 1 before it, 0 at it. Steps after it are undefined
and left out. The same examples and seed give the same weights. `study` fits what ships, and says how good it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotator.core.labels import NO_ERROR
from annotator.core.solutions import Step
from annotator.core.uncertainty import EVEN_ODDS
from annotator.scorers.builtin.features import FEATURES, solution_features
from annotator.scorers.builtin.model import CLIP, Model, Weights
from annotator.scorers.builtin.training_data import Table, normalised

__all__ = ["Example", "Model", "NothingToLearn", "Weights", "features", "fit"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to fit. ``l2`` and ``l2_words`` are ridge penalties on standardised features; ``words`` adds hashed
    words; ``members`` are bootstrap resamples over problems."""

    members: int = 12
    l2: float = 30.0
    l2_words: float = 1000.0
    words: bool = False
    folds: int = 10
    seed: int = 20260101

    def penalty(self, width: int) -> Floats:
        """The ridge penalty of each feature: named ones first, then hashed words."""
        penalty = np.full(width, self.l2_words)
        penalty[: len(FEATURES)] = self.l2
        return penalty


@dataclass(frozen=True, slots=True)
class Example:
    """One solution to learn from.

    ``targets`` has one entry per step over all steps: the probability in [0, 1] that the step is correct (1 and 0
    where people agree, a posterior where not), None where it is undefined: context, and what follows the first
    error. ``group`` names the problem: resampling keeps a group together. ``weight`` multiplies every step.
    ``rows`` may hold what `features` returned, so that a solution is read only once.
    """

    problem: str
    steps: tuple[Step, ...]
    targets: tuple[float | None, ...]
    weight: float = 1.0
    group: str = ""
    rows: Floats | None = field(default=None, compare=False, repr=False)


class NothingToLearn(ValueError):
    """The examples hold no judged step, or only one kind; the message says which."""


def features(problem: str, steps: Sequence[Step]) -> Floats:
    """What `fit` and `Model.score_features` read of a solution: shape (judged steps, features), in order."""
    judged = np.array([step.judged for step in steps], dtype=np.bool_)
    return solution_features(problem, steps, hashed=True)[judged]


def fit(
    examples: Sequence[Example], *, seed: int = 0, warm: Weights | None = None, members: int = 12
) -> Weights:
    """An ensemble fitted on the examples, with a threshold from their out-of-bag values.

    ``warm``: start from these weights, and stay near them where the examples say little; None starts cold.
    1,000 solutions with ``rows`` take about a second. Raises NothingToLearn.
    """
    rows, targets, weight, owner, groups = _stacked(examples)
    _, numbers = np.unique(groups, return_inverse=True)
    settings = Settings(members=members, seed=seed, words=True)
    fitted = fit_ensemble(rows, targets, weight, numbers, settings, warm)
    return fitted.weights.with_threshold(_out_of_bag_threshold(fitted.held_out, targets, owner))


class Ensemble(NamedTuple):
    """``held_out``: for each row the mean over the members that never saw its problem, NaN where all did."""

    weights: Weights
    held_out: Floats


def fit_ensemble(
    rows: Floats,
    targets: Floats,
    weight: Floats,
    group: Ints,
    settings: Settings,
    warm: Weights | None = None,
) -> Ensemble:
    """Members fitted on bootstrap resamples of the groups. ``rows``: (steps, features); the rest (steps,)."""
    if warm is not None:
        warm = warm.widened(rows.shape[1])
    mean, scale = (rows.mean(axis=0), rows.std(axis=0)) if warm is None else (warm.mean, warm.scale)
    scale = np.where(scale < 1e-6, 1.0, scale)
    standard = np.clip((rows - mean) / scale, -CLIP, CLIP)
    penalty = settings.penalty(rows.shape[1])
    random = np.random.default_rng(settings.seed)
    count = int(group.max()) + 1
    whole = fit_logistic(standard, targets, weight, penalty, None if warm is None else warm.member(0))
    fitted, sums, seen = [], np.zeros(len(rows)), np.zeros(len(rows))
    for number in range(settings.members):
        drawn = np.bincount(random.choice(count, size=count), minlength=count)[group]
        prior = None if warm is None else warm.member(number)
        beta, intercept = fit_logistic(standard, targets, weight * drawn, penalty, prior, whole)
        fitted.append((beta, intercept))
        sums += (drawn == 0) / (1 + np.exp(-np.clip(standard @ beta + intercept, -30.0, 30.0)))
        seen += drawn == 0
    weights = Weights(
        hashed=rows.shape[1] > len(FEATURES),
        mean=mean,
        scale=scale,
        coefficients=np.array([beta for beta, _ in fitted]),
        intercepts=np.array([intercept for _, intercept in fitted]),
    )
    return Ensemble(weights, np.divide(sums, seen, out=np.full(len(rows), np.nan), where=seen > 0))


def fit_members(table: Table, chosen: npt.NDArray[np.bool_], settings: Settings) -> Weights:
    """An ensemble on the solutions where ``chosen`` (shape (solutions,)) is true."""
    return fit_chosen(table, chosen, settings).weights


def fit_chosen(table: Table, chosen: npt.NDArray[np.bool_], settings: Settings) -> Ensemble:
    """As `fit_members`, with the held-out values of the steps at risk of the chosen solutions."""
    use = table.risk & chosen[table.owner]
    _, group = np.unique(table.group[table.owner[use]], return_inverse=True)
    return fit_ensemble(table.rows[use], table.correct[use], np.ones(int(use.sum())), group, settings)


def fit_logistic(
    rows: Floats,
    correct: Floats,
    weight: Floats,
    penalty: Floats,
    prior: tuple[Floats, float] | None = None,
    start: tuple[Floats, float] | None = None,
) -> tuple[Floats, float]:
    """Ridge logistic regression by Newton's method (IRLS): coefficients of shape (features,), and intercept.

    Minimises sum_i w_i log-loss_i + 1/2 sum_j penalty_j (beta_j - prior_j)^2; the intercept is free, or held
    near the prior's by the least penalty. ``rows`` has shape (steps, features); from a near ``start``
    the curvature is kept while that converges. Hastie, Tibshirani and Friedman 2009, 4.4.1.
    """
    design = np.column_stack([rows, np.ones(len(rows))])
    ridge = np.append(penalty, 1e-6)
    beta, centre = np.zeros(design.shape[1]), np.zeros(design.shape[1])
    base = np.clip(np.average(correct, weights=weight), 1e-3, 1 - 1e-3) if weight.any() else 0.5
    beta[-1] = np.log(base / (1 - base))
    if prior is not None:
        centre = np.append(prior[0], prior[1])
        beta = centre.copy()
        ridge[-1] = penalty.min(initial=1.0)
    if start is not None:
        beta = np.append(start[0], start[1])
    curvature, size = None, np.inf
    for _ in range(60):
        p = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -30.0, 30.0)))
        gradient = design.T @ (weight * (p - correct)) + ridge * (beta - centre)
        if curvature is None:
            curvature = (design * (weight * p * (1 - p))[:, None]).T @ design
            curvature[np.diag_indices_from(curvature)] += ridge
        move = np.linalg.solve(curvature, gradient)
        beta -= move
        last, size = size, float(np.abs(move).max())
        if size < 1e-6:
            break
        if start is None or size > 0.3 * last:
            curvature = None
    return beta[:-1], float(beta[-1])


def folds(table: Table, settings: Settings) -> Ints:
    """The fold of each solution, (solutions,), drawn by problem."""
    random = np.random.default_rng(settings.seed + 1)
    order = random.permutation(int(table.group.max()) + 1)
    return np.asarray(order % settings.folds)[table.group]


def by_solution(table: Table, values: Floats) -> list[list[float]]:
    """Step values, (steps,), as one list for each solution."""
    counts = np.bincount(table.owner, minlength=len(table.stops))
    return [part.tolist() for part in np.split(values, np.cumsum(counts)[:-1])]


def tune_threshold(
    rows: Sequence[Sequence[float]], stops: Sequence[int], part: Sequence[int] | None = None
) -> float:
    """The threshold of the highest ProcessBench F1, the middle of the best plateau on a grid of 0.005.

    ``rows`` holds each solution's values. A solution with stop t is right where the threshold is above its value
    at t and not above any before; one without an error where it is not above any. ``part``: which benchmark each
    solution is of; then the unweighted mean of their F1 counts.
    """
    grid = np.round(np.arange(0.3, 0.991, 0.005), 3)
    least = [
        min(row[: len(row) if stop == NO_ERROR else stop], default=1.0)
        for row, stop in zip(rows, stops, strict=True)
    ]
    at = [0.0 if stop == NO_ERROR else row[stop] for row, stop in zip(rows, stops, strict=True)]
    right = (grid <= np.array(least)[:, None]) & (np.array(at)[:, None] < grid)
    wrong, of = np.array(stops) != NO_ERROR, np.zeros(len(stops)) if part is None else np.array(part)
    scores = np.zeros(len(grid))
    for number in np.unique(of):
        both = right[(of == number) & wrong], right[(of == number) & ~wrong]
        if not all(len(one) for one in both):
            continue
        found, passed = both[0].mean(axis=0), both[1].mean(axis=0)
        scores += 2 * found * passed / np.maximum(found + passed, 1e-12)
    smooth = np.convolve(np.pad(scores, 2, mode="edge"), np.ones(5) / 5, mode="valid")
    return float(grid[int(smooth.argmax())])


def _stacked(examples: Sequence[Example]) -> tuple[Floats, Floats, Floats, Floats, npt.NDArray[np.str_]]:
    """Rows, targets, weights, numbers of the examples and groups of every step with a target."""
    rows, targets, weight, owner, groups = [], [], [], [], []
    for number, example in enumerate(examples):
        of_judged = [t for t, step in zip(example.targets, example.steps, strict=True) if step.judged]
        use = np.array([target is not None for target in of_judged], dtype=np.bool_)
        if not use.any():
            continue
        block = features(example.problem, example.steps) if example.rows is None else example.rows
        rows.append(block[use])
        targets += [float(target) for target in of_judged if target is not None]
        weight += [example.weight] * int(use.sum())
        owner += [float(number)] * int(use.sum())
        groups += [example.group or normalised(example.problem)] * int(use.sum())
    if not targets or min(targets) >= 0.5 or max(targets) < 0.5:
        kind = (
            "no judged step"
            if not targets
            else "only correct steps"
            if min(targets) >= 0.5
            else "only errors"
        )
        raise NothingToLearn(f"There is {kind} to learn from.")
    return np.vstack(rows), np.array(targets), np.array(weight), np.array(owner), np.array(groups)


def _out_of_bag_threshold(values: Floats, targets: Floats, owner: Floats) -> float:
    """The threshold of the best ProcessBench F1 on values by members that did not see the problem."""
    held = ~np.isnan(values)
    lists, stops = [], []
    for number in np.unique(owner[held]):
        place = held & (owner == number)
        wrong = np.flatnonzero(targets[place] < 0.5)
        lists.append(values[place].tolist())
        stops.append(int(wrong[0]) if len(wrong) else NO_ERROR)
    if NO_ERROR not in stops or max(stops, default=NO_ERROR) == NO_ERROR:
        return EVEN_ODDS
    return tune_threshold(lists, stops)
