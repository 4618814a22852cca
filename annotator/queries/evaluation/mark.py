"""A short mark of everything an evaluation sees: the same mark means that the kept one still holds."""

from __future__ import annotations

import hashlib

from django.db import connection

from annotator.models import Project

#: Raised whenever an evaluation is computed or shaped differently.
REVISION = 2

# Scores are append-only but for what is scored again, whose time moves.
_SEEN = """
SELECT
  (SELECT sum(hashtextextended(row(v.id, v.status, v.threshold, v.training->'problems')::text, 0))
   FROM annotator_scorerversion v JOIN annotator_scorer r ON r.id = v.scorer_id
   WHERE r.project_id = %(project)s)::text,
  (SELECT row(count(*), max(s.id), max(s.scored_at)) FROM annotator_score s
   JOIN annotator_scorerversion v ON v.id = s.version_id JOIN annotator_scorer r ON r.id = v.scorer_id
   WHERE r.project_id = %(project)s)::text,
  (SELECT row(count(*), max(c.computed_at), sum(hashint8extended(c.solution_id, coalesce(c.stop, -2))))
   FROM annotator_consensus c JOIN annotator_solution s ON s.id = c.solution_id
   JOIN annotator_problem p ON p.id = s.problem_id
   WHERE s.project_id = %(project)s AND p.split = 'holdout' AND c.state = 'agreed')::text,
  (SELECT row(count(*), max(d.id)) FROM annotator_adjudication d JOIN annotator_solution s ON s.id = d.solution_id
   WHERE s.project_id = %(project)s)::text,
  (SELECT row(count(*), sum(hashint8extended(f.solution_id, coalesce(f.first_error, -2))))
   FROM annotator_referencelabels f JOIN annotator_solution s ON s.id = f.solution_id
   WHERE s.project_id = %(project)s)::text,
  (SELECT sum(hashtextextended(row(solution_id, accept, suspect, void)::text, 0))
   FROM annotator_gold WHERE project_id = %(project)s)::text,
  (SELECT row(count(*), count(answer_correct), count(*) FILTER (WHERE answer_correct))
   FROM annotator_solution WHERE project_id = %(project)s)::text
"""


def mark(project: Project) -> str:
    """64 hexadecimal digits; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_SEEN, {"project": project.pk})
        seen = cursor.fetchone()
    return hashlib.sha256(repr((REVISION, seen)).encode()).hexdigest()
