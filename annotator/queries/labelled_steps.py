"""What people say of the solutions of the two samples, and what a scorer's version says of the same steps.

The audit prefix and the holdout alone: from a queue ordered by a scorer nothing can be said of it by plain means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db import connection

from annotator.core import evaluation
from annotator.core.intervals import Floats, Ints
from annotator.models import Project, Score, ScorerVersion

Bools = npt.NDArray[np.bool_]

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
    in_holdout: Bools
    generator: Sequence[str]
    month: Sequence[str]

    @property
    def holdout(self) -> int:
        """Solutions of the holdout."""
        return int(self.in_holdout.sum())

    @property
    def prefix(self) -> int:
        """Solutions of the audit prefix."""
        return len(self.solution) - self.holdout


@dataclass(frozen=True)
class Steps:
    """Steps at risk (steps,): values, whether people call them correct, and their solution's place among the ``at``
    (k,), which are places in a `Labelled`. ``predicted`` (k,) is the version's stop."""

    value: Floats
    correct: Bools
    of_row: Ints
    at: Ints
    predicted: Ints


def labelled(project: Project) -> Labelled:
    """By one query."""
    with connection.cursor() as cursor:
        cursor.execute(_LABELLED, {"project": project.pk})
        rows = cursor.fetchall()
    return Labelled(
        solution=np.array([row[0] for row in rows], dtype=np.int64),
        problem=np.unique([row[1] for row in rows], return_inverse=True)[1].astype(np.int64),
        stop=np.array([row[4] for row in rows], dtype=np.int64),
        in_holdout=np.array([row[3] for row in rows], dtype=np.bool_),
        generator=[row[2] or "not named" for row in rows],
        month=[row[5] for row in rows],
    )


def steps_of(version: ScorerVersion, known: Labelled) -> Steps:
    """The steps at risk of what the version has scored, by one query.

    Of a version that was trained on this project's labels the holdout alone: it has learnt from the audit prefix, so
    there it would look better than it is, and surer than it may be.
    """
    learnt = "run" in version.training
    scores = Score.objects.filter(version=version, solution_id__in=known.solution.tolist())
    said = {
        solution: (values, stop)
        for solution, values, stop in scores.values_list("solution_id", "values", "predicted_stop")
    }
    at = [
        place
        for place, solution in enumerate(known.solution.tolist())
        if solution in said and (known.in_holdout[place] or not learnt)
    ]
    chosen = np.array(at, dtype=np.int64)
    found = [said[solution] for solution in known.solution[chosen].tolist()]
    values = [row for row, _ in found]
    truths = [
        evaluation.truth_of_stop(len(row), stop)
        for row, stop in zip(values, known.stop[chosen].tolist(), strict=True)
    ]
    value, correct, of_row = evaluation.known_steps(values, truths)
    return Steps(value, correct, of_row, chosen, np.array([stop for _, stop in found], dtype=np.int64))
