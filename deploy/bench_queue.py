"""Measures how long the queue of a large project takes to be re-ranked, and what people who claim notice of it.

Runs on a throwaway database of its own and prints one JSON object. ``--rows`` says how large; a million by default.
``ratio`` compares with a plain UPDATE of the same rows in the same chunks, which says more on a busy machine;
``again_seconds`` is a new order in which nothing moves.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CLAIMING = 8

MADE = """
INSERT INTO annotator_problem (project_id, external_id, text, content_hash, domain, subject, images, benchmarks,
  split)
SELECT %(project)s, '', 'Problem ' || md5(n::text) || ' asks how many apples there are.',
  decode(md5('p' || n) || md5('q' || n), 'hex'), (ARRAY['math', 'code', 'physics'])[1 + n %% 3],
  (ARRAY['algebra', 'number theory', 'geometry', 'sets'])[1 + n %% 4], '[]', '{}', 'train'
FROM generate_series(1, %(rows)s / 4) n;
INSERT INTO annotator_solution (project_id, problem_id, batch_id, external_id, steps, n_steps, content_hash, generator,
  derived_reason, meta, answer_correct)
SELECT %(project)s, p.id, %(batch)s, '', s.steps, 3, decode(md5(p.id || '-' || k) || md5(k || '+' || p.id), 'hex'),
  jsonb_build_object('model', (ARRAY['small', 'large'])[1 + k %% 2]), '', '{}', random() < 0.6
FROM annotator_problem p CROSS JOIN generate_series(1, 4) k CROSS JOIN (
  SELECT jsonb_agg(jsonb_build_object('text', repeat('A step of some length. ', 6), 'kind', 'reasoning', 'judged', true,
    'sep', E'\\n\\n', 'alternatives', '[]'::jsonb)) AS steps FROM generate_series(1, 3)) s
WHERE p.project_id = %(project)s;
INSERT INTO annotator_queuerow (solution_id, project_id, holdout, priority, tiebreak, shuffle, wanted, taken,
  audit_owed, skill, strategy)
SELECT id, %(project)s, id %% 10 = 0, 0, 0, random(), 1, 0, CASE WHEN id %% 10 = 0 THEN 0 ELSE 2 END, '', ''
FROM annotator_solution WHERE project_id = %(project)s;
"""
SCORED = """
INSERT INTO annotator_score (solution_id, version_id, n_steps, "values", spread, priority, tiebreak, predicted_stop)
SELECT id, %(version)s, 3, ARRAY[0.9, 0.8, 0.7], ARRAY[0.1, 0.1, 0.1], random() * 0.69, random() * 0.1,
  CASE WHEN random() < 0.5 THEN -1 ELSE 1 END
FROM annotator_solution WHERE project_id = %(project)s
"""


def main() -> int:
    """Make the project, then print seconds and latencies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
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
        print(json.dumps(_figures(rows), indent=2))
    finally:
        services.release(wait=True)
        shutil.rmtree(var, ignore_errors=True)
    return 0


def _figures(rows: int) -> dict[str, Any]:
    from django.core.management import call_command

    from annotator.actions import ordering
    from annotator.models import Project

    call_command("migrate", verbosity=0, interactive=False)
    project, first, second = _project(rows)
    figures: dict[str, Any] = {"rows": rows}
    figures["alone_seconds"] = _seconds(lambda: ordering.reprioritize(version_id=first))
    figures["again_seconds"] = _seconds(lambda: ordering.reprioritize(version_id=first))
    figures["plain_update_seconds"] = _seconds(lambda: _plain_update(project.pk))
    figures["ratio"] = round(figures["alone_seconds"] / figures["plain_update_seconds"], 2)
    mixed = {"uncertainty": 0.6, "coverage": 0.3, "random": 0.1}
    Project.objects.filter(pk=project.pk).update(strategies=mixed)
    claims = _Claims(project)
    with claims:
        time.sleep(2)
        before = claims.taken()
        figures["while_claiming_seconds"] = _seconds(lambda: _elsewhere(second))
        during = claims.taken()
    return figures | {"claims_before": before, "claims_meanwhile": during, "empty": claims.empty}


def _plain_update(project: int) -> None:
    """The least that a new order could cost: another priority in each of the rows, in the same chunks."""
    from django.db import connection

    from annotator.actions.ordering import RERANK_CHUNK

    with connection.cursor() as cursor:
        cursor.execute("SELECT max(solution_id) FROM annotator_queuerow WHERE project_id = %s", [project])
        for start in range(0, cursor.fetchone()[0] + 1, RERANK_CHUNK):
            cursor.execute(
                "UPDATE annotator_queuerow SET priority = random() WHERE solution_id > %s AND solution_id <= %s",
                [start, start + RERANK_CHUNK],
            )


def _elsewhere(version: int) -> None:
    """Re-rank in a process of its own, as a worker does."""
    work = "import django; django.setup(); from annotator.actions import ordering; "
    work += f"ordering.reprioritize(version_id={version})"
    subprocess.run([sys.executable, "-c", work], cwd=ROOT, check=True)


class _Claims:
    """People who claim and hand back, one after the other, as fast as they can."""

    def __init__(self, project: Any) -> None:
        from annotator.models import Membership, Role

        self.project, self.empty = project, 0
        self._took: list[float] = []
        self._stop = threading.Event()
        members = [
            Membership.objects.create(project=project, pseudonym=f"P{n}", role=Role.ANNOTATOR)
            for n in range(CLAIMING)
        ]
        self._threads = [threading.Thread(target=self._claim, args=[member]) for member in members]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def taken(self) -> dict[str, float]:
        """Milliseconds per claim since the last look."""
        took, self._took = sorted(self._took), []
        if not took:
            return {"n": 0}
        at = {name: round(1000 * took[int(q * (len(took) - 1))], 1) for name, q in QUANTILES.items()}
        return {"n": len(took), **at}

    def _claim(self, member: Any) -> None:
        from django.db import connection

        from annotator.actions import queueing
        from annotator.actions.access import Actor
        from annotator.models import Assignment

        actor = Actor(member.pk, self.project.pk, "annotator", slug=self.project.slug)
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                got = queueing.next_assignment(actor=actor)
            except queueing.NothingForYou:
                self.empty += 1
                continue
            self._took.append(time.monotonic() - began)
            Assignment.objects.filter(pk=got.pk).update(state="submitted")
            self._stop.wait(0.2)  # somebody who judges takes longer than this
        connection.close()


QUANTILES = {"median_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99, "most_ms": 1.0}


def _project(rows: int) -> Any:
    from django.db import connection

    from annotator.actions.projects import NewProject, create
    from annotator.models import ImportBatch, ScorerVersion

    project = create(new=NewProject(slug="large", gold_rate=0.0))
    batch = ImportBatch.objects.create(
        project=project, filename="bench", format="native", labels_as="reference"
    )
    scorer = project.scorers.get()
    versions = [
        ScorerVersion.objects.create(scorer=scorer, version=name, measures="correctness", threshold=0.5)
        for name in ("first", "second")
    ]
    values = {"project": project.pk, "batch": batch.pk, "rows": rows}
    with connection.cursor() as cursor:
        for statement in filter(str.strip, MADE.split(";\n")):
            cursor.execute(statement, values)
        for version in versions:
            cursor.execute(SCORED, {**values, "version": version.pk})
        cursor.execute("VACUUM ANALYZE")
    return project, versions[0].pk, versions[1].pk


def _seconds(work: Any) -> float:
    began = time.monotonic()
    work()
    return round(time.monotonic() - began, 2)


if __name__ == "__main__":
    sys.exit(main())
