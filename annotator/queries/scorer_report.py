"""Scorers against people: on the audit prefix and the holdout alone, since from a queue ordered by a scorer nothing
can be said of it by plain means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db import connection

from annotator.core import evaluation
from annotator.core.intervals import Figure, Floats, Ints, mean
from annotator.models import Project, Score, ScorerVersion
from annotator.scorers.base import CORRECTNESS

Bools = npt.NDArray[np.bool_]
BINS = 10
#: Groups of the drift table; the rest is left out, smallest first.
GROUPS = 12

# The latest adjudication stands above the consensus; a tie says nothing. Gold is in neither sample.
_LABELLED = """
WITH mark AS (SELECT max(q.shuffle) AS reached FROM annotator_assignment a JOIN annotator_queuerow q USING (solution_id)
  WHERE a.project_id = %(project)s AND (a.selection->'route') = '"audit"'::jsonb AND NOT q.holdout)
SELECT q.solution_id, s.problem_id, coalesce(s.generator->>'model', ''), q.holdout,
  CASE WHEN d.stop IS NULL THEN c.stop ELSE d.stop END, to_char(coalesce(d.decided_at, c.computed_at), 'YYYY-MM')
FROM annotator_queuerow q
JOIN annotator_solution s ON s.id = q.solution_id
LEFT JOIN annotator_consensus c ON c.solution_id = q.solution_id AND c.state = 'agreed'
LEFT JOIN LATERAL (SELECT a.stop, a.decided_at FROM annotator_adjudication a WHERE a.solution_id = q.solution_id
  ORDER BY a.decided_at DESC, a.id DESC LIMIT 1) d ON true
WHERE q.project_id = %(project)s AND q.taken > 0 AND (q.holdout OR q.shuffle <= (SELECT reached FROM mark))
  AND coalesce(d.stop, c.stop) IS NOT NULL
ORDER BY q.solution_id
"""


@dataclass(frozen=True)
class Labelled:
    """What people say of solutions of the two samples: arrays (n,). ``month`` is of the last label."""

    solution: Ints
    problem: Ints
    stop: Ints
    generator: Sequence[str]
    month: Sequence[str]
    prefix: int
    holdout: int


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


@dataclass(frozen=True)
class Comparison:
    """All scorers, and how many solutions there were to go by."""

    prefix: int
    holdout: int
    scorers: Sequence[Compared]


def comparison(project: Project) -> Comparison:
    """One query for the labels and one for each scorer's values."""
    known = _labelled(project)
    present = ScorerVersion.objects.filter(scorer__project=project, measures=CORRECTNESS)
    present = present.select_related("scorer").in_force()
    scorers = [_compared(version, known) for version in present] if len(known.solution) else []
    return Comparison(known.prefix, known.holdout, scorers)


def _labelled(project: Project) -> Labelled:
    with connection.cursor() as cursor:
        cursor.execute(_LABELLED, {"project": project.pk})
        rows = cursor.fetchall()
    holdout = sum(row[3] for row in rows)
    return Labelled(
        solution=np.array([row[0] for row in rows], dtype=np.int64),
        problem=np.unique([row[1] for row in rows], return_inverse=True)[1].astype(np.int64),
        stop=np.array([row[4] for row in rows], dtype=np.int64),
        generator=[row[2] or "not named" for row in rows],
        month=[row[5] for row in rows],
        prefix=len(rows) - holdout,
        holdout=holdout,
    )


def _compared(version: ScorerVersion, known: Labelled) -> Compared:
    said = {
        solution: (values, stop)
        for solution, values, stop in Score.objects.filter(
            version=version, solution_id__in=known.solution.tolist()
        ).values_list("solution_id", "values", "predicted_stop")
    }
    at = [place for place, solution in enumerate(known.solution.tolist()) if solution in said]
    chosen = np.array(at, dtype=np.int64)
    values = [said[solution][0] for solution in known.solution[chosen].tolist()]
    predicted = [said[solution][1] for solution in known.solution[chosen].tolist()]
    stops, problem = known.stop[chosen], known.problem[chosen]
    truths = [
        evaluation.truth_of_stop(len(row), stop) for row, stop in zip(values, stops.tolist(), strict=True)
    ]
    score, correct, of_row = evaluation.known_steps(values, truths)
    f1 = evaluation.processbench_f1(predicted, stops.tolist(), problem)
    steps = _Steps(score, correct, of_row, problem)
    return Compared(
        scorer=version.scorer.name,
        version=version.version,
        solutions=len(chosen),
        f1=f1.figure,
        erroneous=f1.erroneous,
        sound=f1.correct,
        auc=evaluation.auc(score, correct),
        brier=evaluation.brier(score, correct, problem[of_row]),
        ece=evaluation.ece(score, correct),
        bins=evaluation.reliability(score, correct, BINS),
        generators=_drift([known.generator[each] for each in at], steps),
        months=sorted(_drift([known.month[each] for each in at], steps), key=lambda one: one.name),
    )


@dataclass(frozen=True)
class _Steps:
    """Steps at risk (steps,): values, whether people call them correct, their solution's place, and each solution's
    problem (solutions,)."""

    value: Floats
    correct: Bools
    of_row: Ints
    problem: Ints


def _drift(names: Sequence[str], steps: _Steps) -> list[Drift]:
    """Each group of solutions, the largest first: mean value beside people's share of correct steps."""
    group = np.array(names, dtype=np.str_)[steps.of_row] if len(names) else np.zeros(0, dtype=np.str_)
    known, counts = np.unique(group, return_counts=True)
    found = []
    for name in known[np.argsort(-counts, kind="stable")[:GROUPS]].tolist():
        mine = group == name
        share = mean(steps.correct[mine].astype(np.float64), steps.problem[steps.of_row[mine]], draws=500)
        solutions = len(np.unique(steps.of_row[mine]))
        found.append(Drift(name, float(steps.value[mine].mean()), share, solutions))
    return found
