"""Fits the built-in scorer by numpy alone: `fit` from examples in memory, `fit_file` from a file with provenance.

Trained on steps up to and including the human first error: 1 before it, 0 at it. Steps after it are undefined
and left out. The same examples and seed give the same weights.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from annotator.core import evaluation
from annotator.core.labels import NO_ERROR
from annotator.core.solutions import Step
from annotator.core.uncertainty import EVEN_ODDS, predicted_stop
from annotator.scorers.builtin.features import FEATURES, solution_features
from annotator.scorers.builtin.model import CLIP, InvalidWeights, Model, Weights
from annotator.scorers.builtin.training_data import (
    Table,
    normalised,
    problem_hash,
    read_processbench,
    tabulate,
)

__all__ = ["Example", "Model", "NothingToLearn", "Weights", "features", "fit"]

Floats = npt.NDArray[np.float64]


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


@dataclass(frozen=True, slots=True)
class Report:
    """How good the scores are; all figures at risk, as `core.evaluation` defines them."""

    solutions: int
    problems: int
    steps: int
    threshold: float
    threshold_from: str
    processbench_f1: evaluation.ProcessBenchF1
    step_auc: float | None
    brier: float | None
    brier_of_base_rate: float | None
    ece: float | None
    overlap_with_training: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values, in the keys that commands print."""
        return asdict(self)


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
    return solution_features(problem, steps, hashed=False)[judged]


def fit(
    examples: Sequence[Example], *, seed: int = 0, warm: Weights | None = None, members: int = 12
) -> Weights:
    """An ensemble fitted on the examples, with a threshold from their out-of-bag values.

    ``warm``: start from these weights, and stay near them where the examples say little; None starts cold.
    1,000 solutions with ``rows`` take about a second. Raises NothingToLearn.
    """
    rows, targets, weight, owner, groups = _stacked(examples)
    if warm is not None and warm.hashed:
        raise InvalidWeights("weights with hashed words can't be gone on from")
    mean, scale = (rows.mean(axis=0), rows.std(axis=0)) if warm is None else (warm.mean, warm.scale)
    scale = np.where(scale < 1e-6, 1.0, scale)
    standard = np.clip((rows - mean) / scale, -CLIP, CLIP)
    penalty = np.full(rows.shape[1], Settings().l2)
    random = np.random.default_rng(seed)
    names, numbers = np.unique(groups, return_inverse=True)
    fitted, sums, seen = [], np.zeros(len(rows)), np.zeros(len(rows))
    for number in range(members):
        drawn = np.bincount(random.choice(len(names), size=len(names)), minlength=len(names))[numbers]
        prior = None if warm is None else warm.member(number)
        beta, intercept = fit_logistic(standard, targets, weight * drawn, penalty, prior)
        fitted.append((beta, intercept))
        sums += (drawn == 0) / (1 + np.exp(-(standard @ beta + intercept)))
        seen += drawn == 0
    values = np.divide(sums, seen, out=np.full(len(rows), np.nan), where=seen > 0)
    return Weights(
        hashed=False,
        mean=mean,
        scale=scale,
        coefficients=np.array([beta for beta, _ in fitted]),
        intercepts=np.array([intercept for _, intercept in fitted]),
        threshold=_out_of_bag_threshold(values, targets, owner),
    )


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


def fit_members(table: Table, chosen: npt.NDArray[np.bool_], settings: Settings) -> Weights:
    """An ensemble on the solutions where ``chosen`` (shape (solutions,)) is true."""
    use = table.risk & chosen[table.owner]
    rows, correct, groups = table.rows[use], table.correct[use], table.group[table.owner[use]]
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale[scale < 1e-6] = 1.0
    standard = np.clip((rows - mean) / scale, -CLIP, CLIP)
    penalty = np.full(standard.shape[1], settings.l2)
    penalty[len(FEATURES) :] = settings.l2_words
    random = np.random.default_rng(settings.seed)
    problems = np.unique(groups)
    fitted = []
    for _ in range(settings.members):
        drawn = np.bincount(random.choice(problems, size=len(problems)), minlength=int(table.group.max()) + 1)
        fitted.append(fit_logistic(standard, correct, drawn[groups].astype(np.float64), penalty))
    return Weights(
        hashed=settings.words,
        mean=mean,
        scale=scale,
        coefficients=np.array([coefficients for coefficients, _ in fitted]),
        intercepts=np.array([intercept for _, intercept in fitted]),
    )


def fit_logistic(
    rows: Floats,
    correct: Floats,
    weight: Floats,
    penalty: Floats,
    prior: tuple[Floats, float] | None = None,
) -> tuple[Floats, float]:
    """Ridge logistic regression by Newton's method (IRLS): coefficients of shape (features,), and intercept.

    Minimises sum_i w_i log-loss_i + 1/2 sum_j penalty_j (beta_j - prior_j)^2; the intercept is free, or held
    near the prior's by the least penalty. ``rows`` has shape (steps, features). Hastie, Tibshirani and
    Friedman 2009, 4.4.1.
    """
    design = np.column_stack([rows, np.ones(len(rows))])
    ridge = np.append(penalty, 1e-6)
    beta = np.zeros(design.shape[1])
    base = np.clip(np.average(correct, weights=weight), 1e-3, 1 - 1e-3)
    beta[-1] = np.log(base / (1 - base))
    centre = np.zeros(design.shape[1])
    if prior is not None:
        centre = np.append(prior[0], prior[1])
        beta = centre.copy()
        ridge[-1] = penalty.min(initial=1.0)
    for _ in range(30):
        p = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -30.0, 30.0)))
        gradient = design.T @ (weight * (p - correct)) + ridge * (beta - centre)
        curvature = (design * (weight * p * (1 - p))[:, None]).T @ design
        curvature[np.diag_indices_from(curvature)] += ridge
        move = np.linalg.solve(curvature, gradient)
        beta -= move
        if float(np.abs(move).max()) < 1e-9:
            break
    return beta[:-1], float(beta[-1])


def out_of_fold(table: Table, settings: Settings) -> Floats:
    """Probability for each step by an ensemble that never saw its problem: shape (steps,)."""
    values = np.zeros(len(table.rows))
    fold = folds(table, settings)
    for number in range(settings.folds):
        weights = fit_members(table, fold != number, settings)
        test = fold[table.owner] == number
        values[test] = weights.predict(table.rows[test]).mean(axis=0)
    return values


def folds(table: Table, settings: Settings) -> npt.NDArray[np.int64]:
    """The fold of each solution, (solutions,), drawn by problem."""
    random = np.random.default_rng(settings.seed + 1)
    order = random.permutation(int(table.group.max()) + 1)
    return np.asarray(order % settings.folds)[table.group]


def by_solution(table: Table, values: Floats) -> list[list[float]]:
    """Step values, (steps,), as one list for each solution."""
    counts = np.bincount(table.owner, minlength=len(table.stops))
    return [part.tolist() for part in np.split(values, np.cumsum(counts)[:-1])]


def tune_threshold(rows: Sequence[Sequence[float]], stops: Sequence[int]) -> float:
    """The threshold of the highest ProcessBench F1, the middle of the best plateau on a grid of 0.005.

    ``rows`` holds each solution's values. A solution with stop t is right where the threshold is above its value
    at t and not above any before; one without an error where it is not above any.
    """
    grid = np.round(np.arange(0.3, 0.991, 0.005), 3)
    least = [
        min(row[: len(row) if stop == NO_ERROR else stop], default=1.0)
        for row, stop in zip(rows, stops, strict=True)
    ]
    at = [0.0 if stop == NO_ERROR else row[stop] for row, stop in zip(rows, stops, strict=True)]
    right = (grid <= np.array(least)[:, None]) & (np.array(at)[:, None] < grid)
    wrong = np.array(stops) != NO_ERROR
    found, passed = right[wrong].mean(axis=0), right[~wrong].mean(axis=0)
    scores = 2 * found * passed / np.maximum(found + passed, 1e-12)
    smooth = np.convolve(np.pad(scores, 2, mode="edge"), np.ones(5) / 5, mode="valid")
    return float(grid[int(smooth.argmax())])


def cross_validated(table: Table, settings: Settings) -> tuple[Report, float]:
    """The report on out-of-fold values, and the threshold for the final model.

    For the report each fold's threshold is tuned on the other folds' values; the final one on all.
    """
    values = by_solution(table, out_of_fold(table, settings))
    fold = folds(table, settings)
    predicted = [NO_ERROR] * len(values)
    for number in range(settings.folds):
        others = [index for index in range(len(values)) if fold[index] != number]
        threshold = tune_threshold([values[i] for i in others], [table.stops[i] for i in others])
        for index in np.flatnonzero(fold == number):
            predicted[index] = predicted_stop(values[index], threshold)
    threshold = tune_threshold(values, table.stops)
    return report(table, values, predicted, threshold, "each fold's from the other folds"), threshold


def report(
    table: Table, values: Sequence[Sequence[float]], predicted: Sequence[int], threshold: float, source: str
) -> Report:
    """All figures for given values and predicted stops."""
    kept, correct = evaluation.steps_at_risk(values, table.stops)
    base = np.full(len(correct), correct.mean())
    return Report(
        solutions=len(values),
        problems=int(table.group.max()) + 1,
        steps=len(kept),
        threshold=threshold,
        threshold_from=source,
        processbench_f1=evaluation.processbench_f1(predicted, table.stops),
        step_auc=evaluation.auc(kept, correct).value,
        brier=evaluation.brier(kept, correct).value,
        brier_of_base_rate=evaluation.brier(base, correct).value,
        ece=evaluation.ece(kept, correct).value,
    )


#: What `compare` tries; the defaults of `Settings` are the simplest within noise of the best on gsm8k.
CANDIDATES = (
    Settings(l2=3.0),
    Settings(l2=10.0),
    Settings(l2=30.0),
    Settings(l2=100.0),
    Settings(words=True, l2_words=100.0),
    Settings(words=True, l2_words=300.0),
    Settings(words=True, l2_words=1000.0),
)


def compare(path: Path) -> list[tuple[Settings, Report]]:
    """Cross-validated reports of all CANDIDATES on one file."""
    solutions = read_processbench(path)
    tables = {words: tabulate(solutions, words=words) for words in (False, True)}
    return [(settings, cross_validated(tables[settings.words], settings)[0]) for settings in CANDIDATES]


def fit_file(path: Path, settings: Settings, *, command: str, licence: str) -> Weights:
    """The weights fitted on all of a file, with their provenance; numbers have 6 significant digits.

    Raises UnreadableTrainingData.
    """
    solutions = read_processbench(path)
    table = tabulate(solutions, words=settings.words)
    metrics, threshold = cross_validated(table, settings)
    weights = fit_members(table, np.ones(len(solutions), dtype=np.bool_), settings)
    provenance = {
        "data": path.name,
        "data_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "licence": licence,
        "problems": metrics.problems,
        "solutions": metrics.solutions,
        "steps": metrics.steps,
        "problem_hashes": sorted({problem_hash(solution.problem) for solution in solutions}),
        "command": command,
        "settings": asdict(settings),
        "cross_validated": metrics.to_json(),
        "threshold_from": "out-of-fold values of the training file",
    }
    return replace(
        weights,
        mean=_rounded(weights.mean),
        scale=_rounded(weights.scale),
        coefficients=_rounded(weights.coefficients),
        intercepts=_rounded(weights.intercepts),
        threshold=threshold,
        provenance=provenance,
    )


def _rounded(array: Floats) -> Floats:
    """Six significant digits: small files, and no noise from one machine's linear algebra to another's."""
    return np.array([float(f"{value:.6g}") for value in array.ravel()]).reshape(array.shape)


def evaluate(weights: Weights, path: Path) -> Report:
    """The report on a file; solutions of problems seen in training are counted in ``overlap_with_training``.

    Raises UnreadableTrainingData.
    """
    solutions = read_processbench(path)
    table = tabulate(solutions, words=weights.hashed)
    values = by_solution(table, weights.predict(table.rows).mean(axis=0))
    predicted = [predicted_stop(row, weights.threshold) for row in values]
    source = str(weights.provenance.get("threshold_from", "unknown"))
    seen = set(weights.provenance.get("problem_hashes", ()))
    overlap = sum(problem_hash(solution.problem) in seen for solution in solutions)
    return replace(report(table, values, predicted, weights.threshold, source), overlap_with_training=overlap)
