"""A short mark of everything the report sees: the same mark means that the kept report still holds.

Counts and sums alone would miss two changes that cancel each other, so what may change in place is hashed row by row.
"""

from __future__ import annotations

import hashlib

from django.db import connection
from django.utils import timezone

from annotator.models import Project

#: Raised whenever a report is computed or shaped differently, so that kept ones of old don't come back.
REVISION = 1

_SEEN = """
SELECT
  (SELECT row(count(*), max(a.id), sum(hashint8extended(a.id, a.current::int + 2 * a.counted::int)))
   FROM annotator_annotation a JOIN annotator_membership m ON m.id = a.member_id
   WHERE m.project_id = %(project)s)::text,
  (SELECT row(count(*), sum(hashint8extended(g.solution_id, 64 * g.member_id + coalesce(g.slot, -1))))
   FROM annotator_assignment g WHERE g.project_id = %(project)s AND g.state = 'submitted')::text,
  (SELECT max(q.shuffle) FROM annotator_assignment g JOIN annotator_queuerow q USING (solution_id)
   WHERE g.project_id = %(project)s AND (g.selection->'route') = '"audit"'::jsonb AND NOT q.holdout)::text,
  (SELECT row(count(*), max(id)) FROM annotator_solution WHERE project_id = %(project)s)::text,
  (SELECT row(count(*), max(d.id)) FROM annotator_adjudication d JOIN annotator_solution s ON s.id = d.solution_id
   WHERE s.project_id = %(project)s)::text,
  (SELECT sum(hashtextextended(row(solution_id, accept, "use", suspect, retired, void)::text, 0))
   FROM annotator_gold WHERE project_id = %(project)s)::text,
  (SELECT sum(hashtextextended(row(r.annotation_id, item_right, errors_reached, errors_caught, sound_reached,
   false_alarms)::text, 0)) FROM annotator_goldresult r JOIN annotator_membership m ON m.id = r.member_id
   WHERE m.project_id = %(project)s)::text,
  (SELECT row(count(*), max(e.id)) FROM annotator_standingevent e JOIN annotator_membership m ON m.id = e.member_id
   WHERE m.project_id = %(project)s)::text,
  (SELECT sum(hashtextextended(row(id, pseudonym, role, state, state_reason, standing)::text, 0))
   FROM annotator_membership WHERE project_id = %(project)s)::text,
  (SELECT row(count(*), max(id)) FROM annotator_calibrationround WHERE project_id = %(project)s)::text,
  (SELECT row(mode, labels_train, labels_audit, labels_holdout, cusum_p0) FROM annotator_project
   WHERE id = %(project)s)::text
"""


def fingerprint(project: Project) -> str:
    """64 hexadecimal digits; one query. Forecasts look back from today, so each day has a mark of its own."""
    with connection.cursor() as cursor:
        cursor.execute(_SEEN, {"project": project.pk})
        seen = cursor.fetchone()
    today = timezone.now().date().isoformat()
    return hashlib.sha256(repr((REVISION, today, seen)).encode()).hexdigest()
