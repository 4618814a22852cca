"""Measures the quality report and the consensus on a generated project of 800,000 labels by 50 people.

Runs on a throwaway database of its own and prints one JSON object.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS, PEOPLE, GOLD = 60_000, 50, 1_500
#: The share of the pool that the audit route has reached.
WATERMARK = 0.42

SOLVED = """
DO $$ DECLARE c record; BEGIN
  -- Django fills these in by itself; here the database must.
  FOR c IN SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'
    AND table_name LIKE 'annotator_%%' AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'
    AND is_generated = 'NEVER' AND data_type IN ('character varying', 'text', 'boolean', 'jsonb') LOOP
    EXECUTE format('ALTER TABLE %%I ALTER COLUMN %%I SET DEFAULT %%L', c.table_name, c.column_name,
      CASE c.data_type WHEN 'boolean' THEN 'false' WHEN 'jsonb' THEN '{}' ELSE '' END);
  END LOOP;
END $$;

INSERT INTO annotator_problem (project_id, external_id, text, content_hash, domain, subject, images, split)
SELECT %(project)s, '', 'Problem ' || n, decode(md5('p' || n) || md5('q' || n), 'hex'),
  (ARRAY['math', 'code', 'physics'])[1 + n %% 3], (ARRAY['algebra', 'number theory', 'geometry', 'sets'])[1 + n %% 4],
  '[]', CASE WHEN n %% 10 = 0 THEN 'holdout' ELSE 'train' END
FROM generate_series(1, %(solutions)s / 4) n;

INSERT INTO annotator_solution (project_id, problem_id, batch_id, external_id, steps, n_steps, content_hash, generator,
  derived_reason, meta)
SELECT %(project)s, p.id, %(batch)s, '', s.steps, s.n, decode(md5(p.id || '-' || k) || md5(k || '+' || p.id), 'hex'),
  jsonb_build_object('model', (ARRAY['small', 'large'])[1 + k %% 2]), '', '{}'
FROM annotator_problem p CROSS JOIN generate_series(1, 4) k CROSS JOIN LATERAL (
  SELECT count(*)::int AS n, jsonb_agg(jsonb_build_object('text', repeat('A step of some length. ', 6), 'kind',
    'reasoning', 'judged', true, 'sep', E'\\n\\n', 'alternatives', '[]'::jsonb)) AS steps
  FROM generate_series(1, 7 + ((p.id * 7 + k) %% 8)::int)) s
WHERE p.project_id = %(project)s;

CREATE TEMP TABLE truth AS SELECT s.id, s.n_steps, p.split = 'holdout' AS holdout, random() AS shuffle,
  CASE WHEN random() < 0.55 THEN -1 ELSE floor(random() * s.n_steps)::int END AS stop,
  row_number() OVER (ORDER BY md5(s.id::text)) <= %(gold)s AS gold
FROM annotator_solution s JOIN annotator_problem p ON p.id = s.problem_id WHERE s.project_id = %(project)s;

INSERT INTO annotator_gold (solution_id, project_id, n_steps, accept, source, "use", note, suspect, retired, void)
SELECT id, %(project)s, n_steps, (SELECT array_agg(
  CASE WHEN stop = -1 OR k < stop THEN 6 WHEN k = stop THEN 1 ELSE 0 END
  ORDER BY k) FROM generate_series(0, n_steps - 1) k), 'import', 'hidden', '', false,
  false, false FROM truth WHERE gold;

CREATE TEMP TABLE given AS
SELECT t.*, m.id AS member, slot, gen_random_uuid() AS assignment,
  CASE WHEN random() < 0.85 THEN t.stop WHEN random() < 0.5 THEN -1 ELSE floor(random() * t.n_steps)::int END AS said
FROM truth t
CROSS JOIN LATERAL generate_series(0, CASE WHEN t.gold THEN 3 WHEN t.holdout THEN 2 WHEN t.shuffle < %(watermark)s
  THEN 1 ELSE 0 END) slot
JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS at FROM annotator_membership
  WHERE project_id = %(project)s) m ON m.at = (t.id * 13 + slot * 17) %% %(people)s;

INSERT INTO annotator_queuerow (solution_id, project_id, holdout, priority, tiebreak, shuffle, wanted, taken,
  audit_owed, skill)
SELECT id, %(project)s, holdout, random(), 0, shuffle, n, n, 0, '' FROM truth
JOIN (SELECT id, count(*) AS n FROM given GROUP BY id) g USING (id) WHERE NOT gold;

INSERT INTO annotator_assignment (id, project_id, solution_id, member_id, round, purpose, state, slot, lease_expires_at,
  draft, draft_version, selection, skip_reason, position, aids, reopened)
SELECT assignment, %(project)s, id, member, 1, CASE WHEN gold THEN 'gold' ELSE 'work' END, 'submitted',
  CASE WHEN NOT gold THEN slot END, now(), '{}', 1, jsonb_build_object('route', CASE WHEN gold THEN 'gold'
  WHEN holdout THEN 'holdout' WHEN shuffle < %(watermark)s AND slot = 0 AND random() < 0.3 THEN 'audit' ELSE 'priority'
  END, 'strategy', 'uncertainty', 'score', 0.5, 'rank', 1, 'pool', 10000, 'round', 1), '', 1, '[]', false FROM given;

INSERT INTO annotator_annotation (solution_id, member_id, assignment_id, n_steps, round, version, current, labels, stop,
  finish_reason, details, active_seconds, counted, uncounted_reason, source, submitted_at)
SELECT id, member, assignment, n_steps, 1, 1, true, (SELECT array_agg(CASE WHEN said >= 0 AND k > said THEN NULL
  WHEN k = said THEN -1 WHEN random() < 0.1 THEN 0 ELSE 1 END::smallint ORDER BY k)
  FROM generate_series(0, n_steps - 1) k),
  said, CASE WHEN said = -1 THEN 'solution' ELSE 'found_error' END, '{}', exp(3 + random() * 2), true, '', 'human',
  now() - random() * interval '180 days' FROM given;

INSERT INTO annotator_goldresult (annotation_id, member_id, item_right, errors_reached, errors_caught, sound_reached,
  false_alarms)
SELECT a.id, a.member_id, a.stop = t.stop, (t.stop >= 0 AND (a.stop = -1 OR a.stop >= t.stop))::int,
  (t.stop >= 0 AND a.stop = t.stop)::int, a.n_steps, (a.stop >= 0 AND (t.stop = -1 OR a.stop < t.stop))::int
FROM annotator_annotation a JOIN truth t ON t.id = a.solution_id WHERE t.gold;
"""


def main() -> int:
    """Make the project, then print seconds."""
    var = Path(tempfile.mkdtemp(prefix="stepmark-bench-"))
    sys.path.insert(0, str(ROOT))
    from annotator.embedded import hold

    services = hold(var, throwaway=True)
    os.environ.update(
        STEPMARK_ENV="test",
        DATABASE_URL=services.database_url,
        REDIS_URL=services.redis_url,
        DJANGO_SETTINGS_MODULE="annotator.config.settings",
    )
    try:
        import django

        django.setup()
        print(json.dumps(_figures(), indent=2))
    finally:
        services.release(wait=True)
        shutil.rmtree(var, ignore_errors=True)
    return 0


def _figures() -> dict[str, Any]:
    from django.core.management import call_command

    from annotator.actions import consensus, quality
    from annotator.models import Annotation, Consensus
    from annotator.queries.quality.tables import load

    call_command("migrate", verbosity=0, interactive=False)
    project = _project()
    figures: dict[str, Any] = {"annotations": Annotation.objects.count(), "labels": _labels()}
    loading = _seconds(lambda: load(project))
    figures["loading_seconds"] = loading
    figures["consensus_seconds"] = round(_seconds(lambda: consensus.fit(project_id=project.pk)) - loading, 2)
    figures["consensus_with_writing_seconds"] = _seconds(
        lambda: consensus.recompute_all(project_id=project.pk)
    )
    figures["consensus_unchanged_seconds"] = _seconds(lambda: consensus.recompute_all(project_id=project.pk))
    figures["consensus_rows"] = Consensus.objects.count()
    figures["report_cold_seconds"] = _seconds(lambda: quality.compute(project=project))
    figures["report_cold_again_seconds"] = _seconds(lambda: quality.compute(project=project))
    figures["report_cached_seconds"] = _seconds(lambda: quality.report(project=project))
    return figures


def _project() -> Any:
    from django.db import connection

    from annotator.actions.projects import NewProject, create
    from annotator.models import ImportBatch, Membership, Project

    made = create(new=NewProject(slug="large"))
    project = Project.objects.get(pk=made.pk)
    Membership.objects.bulk_create(
        Membership(project=project, pseudonym=f"annotator-{n}") for n in range(PEOPLE)
    )
    batch = ImportBatch.objects.create(
        project=project, filename="bench", format="native", labels_as="reference"
    )
    values = {"project": project.pk, "batch": batch.pk, "solutions": SOLUTIONS, "people": PEOPLE}
    with connection.cursor() as cursor:
        for statement in filter(str.strip, SOLVED.split(";\n\n")):
            cursor.execute(statement, {**values, "gold": GOLD, "watermark": WATERMARK})
        cursor.execute("VACUUM ANALYZE")
    return project


def _labels() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(cardinality(array_remove(labels, NULL))) FROM annotator_annotation")
        return int(cursor.fetchone()[0])


def _seconds(work: Callable[[], Any]) -> float:
    began = time.monotonic()
    work()
    return round(time.monotonic() - began, 2)


if __name__ == "__main__":
    sys.exit(main())
