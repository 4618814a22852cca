"""All figures of a scorer on one set of labelled solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.core.evaluation.best_of_n import BestOfN, best_of_n
from annotator.core.evaluation.steps import (
    Bin,
    StepErrors,
    auc,
    brier,
    ece,
    known_steps,
    reliability,
    step_errors,
)
from annotator.core.evaluation.stops import ProcessBenchF1, first_error_accuracy, processbench_f1
from annotator.core.intervals import Figure
from annotator.core.uncertainty import Values, predicted_stop


@dataclass(frozen=True, slots=True)
class Judged:
    """One solution: the scorer's ``values``, people's ``truth`` (correct, or None where unknown, undefined or not
    scored), both over all steps; their ``stop``, None where it is unknown; its ``problem``, a code; and whether its
    final answer is right, where that is known."""

    values: Values
    truth: Sequence[bool | None]
    stop: int | None
    problem: int
    answer_right: bool | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Figures over ``solutions``, with 95 % intervals by resampling problems. Step figures run over ``steps`` of known
    truth, stop figures over solutions whose stop is known."""

    solutions: int
    problems: int
    steps: int
    threshold: float
    processbench_f1: ProcessBenchF1
    first_error_exact: Figure
    first_error_within_one: Figure
    step_auc: Figure
    brier: Figure
    ece: Figure
    errors: StepErrors
    bins: Sequence[Bin]
    best_of_n: BestOfN


def evaluate(judged: Sequence[Judged], threshold: float) -> Evaluation:
    """The figures of one scorer, whose first step below ``threshold`` is its predicted first error."""
    problem = np.unique([each.problem for each in judged], return_inverse=True)[1].astype(np.int64)
    values = [each.values for each in judged]
    score, correct, owner = known_steps(values, [each.truth for each in judged])
    of_step = problem[owner]
    stops = [(place, each.stop) for place, each in enumerate(judged) if each.stop is not None]
    human = [stop for _, stop in stops]
    predicted = [predicted_stop(values[place], threshold) for place, _ in stops]
    of_stop = problem[np.array([place for place, _ in stops], dtype=np.int64)]
    return Evaluation(
        solutions=len(judged),
        problems=len(set(problem.tolist())),
        steps=len(score),
        threshold=threshold,
        processbench_f1=processbench_f1(predicted, human, of_stop),
        first_error_exact=first_error_accuracy(predicted, human, problem=of_stop),
        first_error_within_one=first_error_accuracy(predicted, human, within=1, problem=of_stop),
        step_auc=auc(score, correct, of_step),
        brier=brier(score, correct, problem=of_step),
        ece=ece(score, correct, problem=of_step),
        errors=step_errors(score, correct, threshold, of_step),
        bins=reliability(score, correct),
        best_of_n=best_of_n(values, [each.answer_right for each in judged], problem),
    )
