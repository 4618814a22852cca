"""Measures how long the queue of a large project takes to be re-ranked, and what people who claim notice of it.

Runs on a throwaway database of its own and prints one JSON object. ``--rows`` says how large; a million by default.
``ratio`` compares with a plain UPDATE of the same rows in the same chunks, which says more on a busy machine;
``again_seconds`` is a new order in which nothing moves. Then it is re-ranked by another scorer and other strategies
while eight people claim: each in a process of their own, looking at a solution for about two seconds; and as eight
threads of one process, five claims a second each, which nobody who judges does. ``--strategies`` times other orders.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CLAIMING = 8
#: How long one looks at a solution, in seconds: a person, and the hard case.
LOOKS, HARD = 2.0, 0.2

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
SELECT id, %(version)s, 3, ARRAY[0.9, 0.8, 0.7], array_fill((random() * 0.2)::real, ARRAY[3]),
  random() * 0.69, random() * 0.1,
  CASE WHEN random() < 0.5 THEN -1 ELSE 1 END
FROM annotator_solution WHERE project_id = %(project)s
"""


def main() -> int:
    """Make the project, then print seconds and latencies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument(
        "--strategies",
        action="store_true",
        help="time disagreement, the rule of what is certain and coverage",
    )
    parser.add_argument("--claim", nargs="*", help=argparse.SUPPRESS)  # the part of those who claim
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if options.claim:
        return _claim(float(options.claim[0]), [int(each) for each in options.claim[1:]])
    var = Path(tempfile.mkdtemp(prefix="stepmark-bench-"))
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
        print(json.dumps((_strategies if options.strategies else _figures)(options.rows), indent=2))
    finally:
        services.release(wait=True)
        shutil.rmtree(var, ignore_errors=True)
    return 0


def _figures(rows: int) -> dict[str, Any]:
    from annotator.actions import ordering
    from annotator.models import Project

    project, first, second = _project(rows)
    figures: dict[str, Any] = {"rows": rows}
    figures["alone_seconds"] = _seconds(lambda: ordering.reprioritize(version_id=first))
    figures["again_seconds"] = _seconds(lambda: ordering.reprioritize(version_id=first))
    figures["plain_update_seconds"] = _seconds(lambda: _plain_update(project.pk))
    figures["ratio"] = round(figures["alone_seconds"] / figures["plain_update_seconds"], 2)
    mixed = {"uncertainty": 0.6, "coverage": 0.3, "random": 0.1}
    Project.objects.filter(pk=project.pk).update(strategies=mixed)
    figures["people"] = _meanwhile(_Claims(project, LOOKS, together=1), second)
    figures["hard_case"] = _meanwhile(_Claims(project, HARD, together=CLAIMING), first)
    return figures


def _meanwhile(claims: _Claims, version: int) -> dict[str, Any]:
    """Claims for ten seconds, and then while the queue is re-ranked by this version."""
    with claims:
        began = time.monotonic()
        time.sleep(10)
        middle = time.monotonic()
        took = _elsewhere(version)
        ended = time.monotonic()
    return {
        "seconds": took,
        "claims_before": claims.between(began, middle),
        "claims_meanwhile": claims.between(middle, ended),
        "empty": claims.empty,
    }


def _strategies(rows: int) -> dict[str, Any]:
    """Seconds for orders by each of these, computed and written anew."""
    from annotator.actions import ordering
    from annotator.models import Project, Scorer, ScorerVersion

    project, first, second = _project(rows)
    other = Scorer.objects.create(project=project, name="other", kind="vllm", ranks=False)
    ScorerVersion.objects.filter(pk=second).update(scorer=other)
    rule = {"pred": 0.69, "std": 0.1}  # half of them are certain
    orders: dict[str, Any] = {
        "uncertainty": {"strategies": {"uncertainty": 1}},
        "coverage": {"strategies": {"coverage": 1}},
        "disagreement": {"strategies": {"disagreement": 1}},
        "certain": {"strategies": {"uncertainty": 1}, "certain": rule},
    }
    figures: dict[str, Any] = {"rows": rows}
    for name, asked in orders.items():
        Project.objects.filter(pk=project.pk).update(**{"certain": {}, **asked})
        figures[f"{name}_seconds"] = _seconds(lambda: ordering.reprioritize(version_id=first))
    return figures


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


def _elsewhere(version: int) -> float:
    """Re-rank in a process of its own, as a worker does; the seconds without its start."""
    work = "import time, django; django.setup(); from annotator.actions import ordering; began = time.monotonic(); "
    work += f"ordering.reprioritize(version_id={version}); print(time.monotonic() - began)"
    done = subprocess.run([sys.executable, "-c", work], cwd=ROOT, check=True, capture_output=True, text=True)
    return round(float(done.stdout), 2)


class _Claims:
    """People who claim and hand back, one after the other; ``together``: how many of them share a process."""

    def __init__(self, project: Any, looks: float, *, together: int) -> None:
        from annotator.models import Membership, Role

        members = [
            Membership.objects.create(project=project, pseudonym=f"P{looks}-{n}", role=Role.ANNOTATOR).pk
            for n in range(CLAIMING)
        ]
        shared = [members[n : n + together] for n in range(0, CLAIMING, together)]
        self._commands = [
            [sys.executable, __file__, "--claim", str(looks), *map(str, each)] for each in shared
        ]
        self._took: list[tuple[float, float]] = []
        self.empty = 0

    def __enter__(self) -> None:
        pipe = subprocess.PIPE
        self._people = [
            subprocess.Popen(each, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) for each in self._commands
        ]
        for person in self._people:
            assert person.stdout is not None
            person.stdout.readline()  # ready

    def __exit__(self, *_: object) -> None:
        for said, _err in [person.communicate() for person in self._people]:
            found = json.loads(said)
            self.empty += found["empty"]
            self._took += found["took"]

    def between(self, began: float, ended: float) -> dict[str, float]:
        """Milliseconds for each claim that was asked for in this time, by the machine's clock."""
        took = sorted(seconds for at, seconds in self._took if began <= at < ended)
        if not took:
            return {"n": 0}
        found = {name: round(1000 * took[int(q * (len(took) - 1))], 1) for name, q in QUANTILES.items()}
        return {"n": len(took), **found, "over_200_ms": sum(seconds > 0.2 for seconds in took)}


QUANTILES = {"median_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99, "most_ms": 1.0}


def _claim(looks: float, members: Sequence[int]) -> int:
    """Be these people until the input ends; then print when they asked, how long it took, and the empty answers."""
    import django

    django.setup()
    from django.db import connection

    from annotator.actions import queueing
    from annotator.actions.access import Actor
    from annotator.models import Assignment, Membership

    took: list[tuple[float, float]] = []
    empty: list[str] = []
    stop = threading.Event()

    def judge(member: Any) -> None:
        actor = Actor(member.pk, member.project_id, "annotator", slug=member.project.slug)
        while not stop.wait(looks * random.uniform(0.5, 1.5)):  # noqa: S311 - a pause
            began = time.monotonic()
            try:
                got = queueing.next_assignment(actor=actor)
            except queueing.NothingForYou as nothing:
                empty.append(nothing.reason)
                continue
            took.append((began, time.monotonic() - began))
            Assignment.objects.filter(pk=got.pk).update(state="submitted")
        connection.close()

    people = list(Membership.objects.select_related("project").filter(pk__in=members))
    threads = [threading.Thread(target=judge, args=[member]) for member in people]
    print("ready", flush=True)
    for thread in threads:
        thread.start()
    sys.stdin.read()
    stop.set()
    for thread in threads:
        thread.join()
    print(json.dumps({"took": took, "empty": len(empty)}))
    return 0


def _project(rows: int) -> Any:
    from django.core.management import call_command
    from django.db import connection

    from annotator.actions.projects import NewProject, create
    from annotator.models import ImportBatch, ScorerVersion

    call_command("migrate", verbosity=0, interactive=False)
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
