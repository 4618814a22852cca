"""Scorers against people: on the audit prefix and the holdout alone, since from a queue ordered by a scorer nothing
can be said of it by plain means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.core import calibration, evaluation
from annotator.core.intervals import Figure, Ints, mean
from annotator.models import Project, ScorerVersion
from annotator.queries.labelled_steps import Labelled, Steps, labelled, steps_of
from annotator.scorers.base import CORRECTNESS

BINS = 10
#: Beyond so many steps the AUC stands without an interval: resampling them would keep the page waiting.
FEW_STEPS = 5_000
#: Groups of the drift table; the rest is left out, smallest first.
GROUPS = 12


@dataclass(frozen=True)
class Drift:
    """One generator or month: the scorer's mean value over the steps at risk, and people's share of correct ones."""

    name: str
    said: float
    correct: Figure
    n: int

    @property
    def gap(self) -> float | None:
        """Above 0: the scorer is kinder than people are, as when a policy has learned to please it."""
        return None if self.correct.value is None else self.said - self.correct.value


@dataclass(frozen=True)
class Compared:
    """One scorer's version in force beside what people say."""

    scorer: str
    version: str
    solutions: int
    f1: Figure
    erroneous: float | None
    sound: float | None
    auc: Figure
    brier: Figure
    ece: Figure
    bins: Sequence[evaluation.Bin]
    generators: Sequence[Drift]
    months: Sequence[Drift]
    calibrated: Calibrated


@dataclass(frozen=True)
class Calibrated:
    """A version's values set right by people's labels: ``solutions`` of the audit prefix carry both; ``fitted_on`` so
    many when it was fitted, None while it is not. ``ece`` and ``bins`` are of values mapped without their own
    labels."""

    solutions: int
    fitted_on: int | None
    ece: Figure | None
    bins: Sequence[evaluation.Bin]


@dataclass(frozen=True)
class Comparison:
    """All scorers, and how many solutions there were to go by."""

    prefix: int
    holdout: int
    scorers: Sequence[Compared]


def comparison(project: Project) -> Comparison:
    """One query for the labels and one for each scorer's values."""
    known = labelled(project)
    present = ScorerVersion.objects.filter(scorer__project=project, measures=CORRECTNESS)
    present = present.select_related("scorer").in_force()
    scorers = [_compared(version, known) for version in present] if len(known.solution) else []
    return Comparison(known.prefix, known.holdout, scorers)


def _compared(version: ScorerVersion, known: Labelled) -> Compared:
    steps = steps_of(version, known)
    stops, problem = known.stop[steps.at], known.problem[steps.at]
    score, correct = steps.value, steps.correct
    f1 = evaluation.processbench_f1(steps.predicted.tolist(), stops.tolist(), problem)
    by_problem = problem[steps.of_row]
    return Compared(
        scorer=version.scorer.name,
        version=version.version,
        solutions=len(steps.at),
        f1=f1.figure,
        erroneous=f1.erroneous,
        sound=f1.correct,
        auc=evaluation.auc(score, correct, by_problem if len(score) <= FEW_STEPS else None),
        brier=evaluation.brier(score, correct, by_problem),
        ece=evaluation.ece(score, correct, problem=by_problem),
        bins=evaluation.reliability(score, correct, BINS),
        generators=_drift([known.generator[each] for each in steps.at.tolist()], steps, problem),
        months=sorted(
            _drift([known.month[each] for each in steps.at.tolist()], steps, problem),
            key=lambda one: one.name,
        ),
        calibrated=_calibrated(version, known, steps),
    )


def _calibrated(version: ScorerVersion, known: Labelled, steps: Steps) -> Calibrated:
    """What the version's calibration makes of its values. The prefix is where it was fitted: there each value is
    mapped without its own problem's labels."""
    row = steps.at[steps.of_row]
    prefix = ~known.in_holdout[row]
    solutions = int((~known.in_holdout[steps.at]).sum())
    found = calibration.from_json(version.calibration)
    if found is None or not prefix.any():
        return Calibrated(solutions, None, None, [])
    value = found.apply(steps.value)
    value[prefix] = calibration.crossed(
        steps.value[prefix], steps.correct[prefix], known.problem[row[prefix]], found.method
    )
    return Calibrated(
        solutions,
        found.solutions,
        evaluation.ece(value, steps.correct, problem=known.problem[row]),
        evaluation.reliability(value, steps.correct, BINS),
    )


def _drift(names: Sequence[str], steps: Steps, problem: Ints) -> list[Drift]:
    """Each group of solutions, the largest first: mean value beside people's share of correct steps."""
    group = np.array(names, dtype=np.str_)[steps.of_row] if len(names) else np.zeros(0, dtype=np.str_)
    known, counts = np.unique(group, return_counts=True)
    found = []
    for name in known[np.argsort(-counts, kind="stable")[:GROUPS]].tolist():
        mine = group == name
        share = mean(steps.correct[mine].astype(np.float64), problem[steps.of_row[mine]], draws=500)
        solutions = len(np.unique(steps.of_row[mine]))
        found.append(Drift(name, float(steps.value[mine].mean()), share, solutions))
    return found
