"""How good the built-in scorer is on problems that it has not seen, by route, and the fit of what ships.

The figure: the unweighted mean of ProcessBench F1 over the files, out of fold by normalised problem, each fold's
threshold from what its own training folds held out. No route knows an outcome, a reference answer or a reference
solution, but the one that is named so and is reported apart.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from annotator.core import evaluation
from annotator.core.intervals import Figure, bootstrap, sums_by
from annotator.core.labels import NO_ERROR
from annotator.core.uncertainty import predicted_stop
from annotator.scorers.base import ScoringInput
from annotator.scorers.builtin.derivations import DERIVATIONS
from annotator.scorers.builtin.features import FEATURES
from annotator.scorers.builtin.fit import (
    Ensemble,
    Settings,
    by_solution,
    fit_chosen,
    folds,
    tune_threshold,
)
from annotator.scorers.builtin.model import BuiltinScorer, Weights
from annotator.scorers.builtin.training_data import (
    Labelled,
    Table,
    problem_hash,
    read_processbench,
    tabulate,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SHIPPED = Settings(words=True)
FROM_TRAINING = "what the training folds held out"


@dataclass(frozen=True, slots=True)
class Route:
    """A way to score: which columns of the table it reads. ``fair``: it knows no outcome."""

    name: str
    columns: Ints
    fair: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """How good the scores are. ``figure``: the mean over files of ``files``; steps are those at risk."""

    route: str
    figure: Figure
    files: dict[str, evaluation.ProcessBenchF1]
    solutions: int
    problems: int
    steps: int
    step_auc: float | None
    brier: float | None
    brier_of_base_rate: float | None
    ece: float | None
    threshold_from: str = FROM_TRAINING

    def to_json(self) -> dict[str, Any]:
        """Plain values, in the keys that commands print."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Study:
    """Solutions of several files as one table; ``part`` numbers each solution's file, (solutions,)."""

    paths: tuple[Path, ...]
    solutions: tuple[Labelled, ...]
    table: Table
    part: Ints

    @property
    def names(self) -> list[str]:
        return [path.stem for path in self.paths]


def read(paths: Sequence[Path], *, words: bool = True) -> Study:
    """The files' solutions with their features. Raises UnreadableTrainingData."""
    blocks = [read_processbench(path) for path in paths]
    solutions = [solution for block in blocks for solution in block]
    part = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    return Study(tuple(paths), tuple(solutions), tabulate(solutions, words=words), part)


def routes(study: Study) -> list[Route]:
    """What is compared on every run: more is read from one to the next."""
    width = study.table.rows.shape[1]
    named, derived = len(FEATURES), len(DERIVATIONS)
    return [
        Route("numbers and wording", np.arange(named - derived)),
        Route("+ derivations", np.arange(named)),
        Route("+ words (ships)", np.arange(width)),
    ]


def compared(study: Study, settings: Settings = SHIPPED) -> list[Report]:
    """A report for each route, then one that knows whether the final answer is right, where the files say so."""
    reports = [out_of_fold_report(study, route, settings) for route in routes(study)]
    known = [solution.answer_correct for solution in study.solutions]
    if all(one is not None for one in known):
        outcome = np.array(known, dtype=np.float64)[study.table.owner][:, None]
        table = replace(study.table, rows=np.hstack([outcome, study.table.rows]))
        every = Route("outcome known (not comparable)", np.arange(table.rows.shape[1]), fair=False)
        reports.append(out_of_fold_report(replace(study, table=table), every, settings))
    return reports


def out_of_fold_report(study: Study, route: Route, settings: Settings = SHIPPED) -> Report:
    """All figures on values by ensembles that never saw the problem."""
    table = replace(study.table, rows=study.table.rows[:, route.columns])
    values, predicted = out_of_fold(table, study.part, settings)
    return report(replace(study, table=table), route.name, values, predicted)


def out_of_fold(table: Table, part: Ints, settings: Settings) -> tuple[Floats, list[int]]:
    """Each step's probability, (steps,), and each solution's predicted stop, by an ensemble and a threshold from
    the other folds alone."""
    values, predicted = np.zeros(len(table.rows)), np.full(len(table.stops), NO_ERROR)
    fold = folds(table, settings)
    for number in range(settings.folds):
        fitted = fit_chosen(table, fold != number, settings)
        test = fold[table.owner] == number
        values[test] = fitted.weights.predict(table.rows[test]).mean(axis=0)
        threshold = held_out_threshold(table, fold != number, part, fitted)
        rows = by_solution(table, values)
        for index in np.flatnonzero(fold == number):
            predicted[index] = predicted_stop(rows[index], threshold)
    return values, predicted.tolist()


def held_out_threshold(table: Table, chosen: npt.NDArray[np.bool_], part: Ints, fitted: Ensemble) -> float:
    """The threshold that is best on what the members held out of the chosen solutions."""
    values = np.ones(len(table.rows))
    values[table.risk & chosen[table.owner]] = np.nan_to_num(fitted.held_out, nan=1.0)
    rows = by_solution(table, values)
    which = np.flatnonzero(chosen)
    return tune_threshold([rows[i] for i in which], [table.stops[i] for i in which], part[which].tolist())


def report(
    study: Study,
    name: str,
    values: Floats,
    predicted: Sequence[int],
    among: npt.NDArray[np.bool_] | None = None,
) -> Report:
    """All figures for given values, (steps,), and predicted stops; ``among``: of these solutions alone."""
    table, stops = study.table, study.table.stops
    all_of_them = np.ones(len(stops), dtype=np.bool_) if among is None else among
    use = table.risk & all_of_them[table.owner]
    kept, correct = values[use], table.correct[use].astype(np.bool_)
    files = {}
    for number, file in enumerate(study.names):
        chosen = np.flatnonzero((study.part == number) & all_of_them).tolist()
        files[file] = evaluation.processbench_f1(
            [predicted[i] for i in chosen], [stops[i] for i in chosen], table.group[chosen]
        )
    return Report(
        route=name,
        figure=_mean_f1(study, predicted, all_of_them),
        files=files,
        solutions=int(all_of_them.sum()),
        problems=len(np.unique(table.group[all_of_them])),
        steps=len(kept),
        step_auc=evaluation.auc(kept, correct).value,
        brier=evaluation.brier(kept, correct).value,
        brier_of_base_rate=evaluation.brier(np.full(len(correct), correct.mean()), correct).value,
        ece=evaluation.ece(kept, correct).value,
    )


def _mean_f1(study: Study, predicted: Sequence[int], among: npt.NDArray[np.bool_]) -> Figure:
    """The unweighted mean of the files' F1, with an interval by resampling problems."""
    return _resampled(study, _apart(study, predicted), among, partial(_mean_of, len(study.paths)))


def difference(
    study: Study, one: Sequence[int], other: Sequence[int], among: npt.NDArray[np.bool_]
) -> Figure:
    """The mean F1 of the ``other`` predicted stops less that of ``one``, on the same solutions; the interval resamples
    problems for both at once."""
    count = len(study.paths)
    sums = np.hstack([_apart(study, one), _apart(study, other)])
    half = sums.shape[1] // 2

    def more(drawn: Floats) -> Floats:
        return _mean_of(count, drawn[..., half:]) - _mean_of(count, drawn[..., :half])

    return _resampled(study, sums, among, more)


def _apart(study: Study, predicted: Sequence[int]) -> Floats:
    """What F1 is made of, for each solution in the columns of its own file."""
    sums = evaluation.f1_rows(predicted, study.table.stops)
    apart = np.zeros((len(sums), len(study.paths), sums.shape[1]))
    apart[np.arange(len(sums)), study.part] = sums
    return apart.reshape(len(sums), -1)


def _mean_of(count: int, drawn: Floats) -> Floats:
    parts = drawn.reshape(*drawn.shape[:-1], count, -1)
    return np.asarray(np.mean([evaluation.f1_of_sums(parts[..., n, :]) for n in range(count)], axis=0))


def _resampled(
    study: Study, rows: Floats, among: npt.NDArray[np.bool_], of: Callable[[Floats], Floats]
) -> Figure:
    _, problem = np.unique(study.table.group[among], return_inverse=True)
    by_problem = sums_by(problem, rows[among])
    low, high = bootstrap(by_problem, of) or (None, None)
    return Figure(float(of(by_problem.sum(axis=0))), int(among.sum()), None, low, high)


def fit_files(study: Study, settings: Settings, *, command: str, licence: str) -> Weights:
    """The weights fitted on all solutions, with their provenance; numbers have 6 significant digits."""
    table = study.table
    everything = np.ones(len(table.stops), dtype=np.bool_)
    fitted = fit_chosen(table, everything, settings)
    metrics = out_of_fold_report(study, Route("ships", np.arange(table.rows.shape[1])), settings)
    weights = fitted.weights
    return replace(
        weights,
        mean=rounded(weights.mean),
        scale=rounded(weights.scale),
        coefficients=rounded(weights.coefficients),
        intercepts=rounded(weights.intercepts),
        threshold=held_out_threshold(table, everything, study.part, fitted),
        provenance={
            "data": [path.name for path in study.paths],
            "data_sha256": [hashlib.sha256(path.read_bytes()).hexdigest() for path in study.paths],
            "licence": licence,
            "problems": metrics.problems,
            "solutions": metrics.solutions,
            "steps": metrics.steps,
            "problem_hashes": sorted({problem_hash(solution.problem) for solution in study.solutions}),
            "command": command,
            "settings": asdict(settings),
            "out_of_fold": metrics.to_json(),
            "threshold_from": "out-of-bag values of the training files",
        },
    )


def rounded(array: Floats) -> Floats:
    """Six significant digits: small files, and no noise from one machine's linear algebra to another's."""
    return np.array([float(f"{value:.6g}") for value in array.ravel()]).reshape(array.shape)


def evaluate(weights: Weights, paths: Sequence[Path]) -> tuple[Report, int]:
    """The report of finished weights on files, and how many of their solutions are of training problems.

    Raises UnreadableTrainingData.
    """
    study = read(paths)
    values = weights.predict(study.table.rows).mean(axis=0)
    predicted = [predicted_stop(row, weights.threshold) for row in by_solution(study.table, values)]
    source = str(weights.provenance.get("threshold_from", "unknown"))
    seen = set(weights.provenance.get("problem_hashes", ()))
    overlap = sum(problem_hash(solution.problem) in seen for solution in study.solutions)
    return replace(report(study, weights.version, values, predicted), threshold_from=source), overlap


def speed(weights: Weights, path: Path) -> float:
    """Steps of the file that the fast pass scores in a second of processor time, from text to probability.

    Raises UnreadableTrainingData.
    """
    batch = [ScoringInput(solution.problem, solution.steps) for solution in read_processbench(path)]
    started = time.process_time()
    BuiltinScorer(weights).score(batch, cancelled=lambda: False)
    return sum(len(one.steps) for one in batch) / (time.process_time() - started)
