"""Kills workers with SIGKILL while they score, empties the broker in mid-run, and counts what is lost or there twice.

Runs on a throwaway database of its own and prints one JSON object; the exit status is 1 where anything is amiss.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WORKER = ["-m", "celery", "-A", "annotator.config.celery", "worker", "-P", "threads", "-c", "2"]
QUIET = ["-Q", "default,scoring,remote", "-l", "ERROR", "--without-gossip", "--without-mingle"]
PATIENCE = 300.0


def main() -> int:
    """Make the project, kill the workers, let one finish, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solutions", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=20)
    given = parser.parse_args()
    var = Path(tempfile.mkdtemp(prefix="stepmark-kills-"))
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
        found = _run(given.solutions, given.kills)
        print(json.dumps(found, indent=2))
    finally:
        services.release(wait=True)
        shutil.rmtree(var, ignore_errors=True)
    return 1 if found["lost"] or found["double"] or found["jobs_left"] else 0


def _run(solutions: int, kills: int) -> dict[str, Any]:
    from django.core.management import call_command

    from annotator import jobs
    from annotator.models import Job, Score

    call_command("migrate", verbosity=0, interactive=False)
    _project(solutions)
    in_the_middle = 0
    for _ in range(kills):
        before = Score.objects.count()
        worker = _worker()
        _until(lambda at=before: Score.objects.count() > at or not _waiting(), "it has begun")
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        in_the_middle += Job.objects.filter(state=Job.State.CLAIMED).exists()
        _half_a_minute_passes()
        jobs.reconcile()
    left = solutions - Score.objects.count()
    worker = _worker()
    _empty_the_broker()
    _until(lambda: not _waiting(), "all jobs are done")
    worker.terminate()
    worker.wait()
    return {"solutions": solutions, "kills": kills, "killed_with_a_job": in_the_middle} | {
        "unscored_after_the_last_kill": left,
        **_counted(solutions),
    }


def _project(solutions: int) -> None:
    import io

    from annotator.actions import access, imports
    from annotator.actions.import_rows import LabelsAs
    from annotator.actions.imports import Source
    from annotator.actions.projects import NewProject, create

    project = create(new=NewProject(slug="kills", gold_rate=0.0))
    steps = [{"text": f"Then {n} + {n} = {2 * n}, and {n} * 3 = {3 * n + n % 2}."} for n in range(12)]
    lines = [
        json.dumps({"problem": {"text": f"How many is {n}?"}, "steps": [{"text": f"Case {n}."}, *steps]})
        for n in range(solutions)
    ]
    file = io.BytesIO("\n".join(lines).encode())
    source = Source(file=file, filename="kills.jsonl", format="native", labels_as=LabelsAs.REFERENCE)
    imports.run(actor=access.operator(project), source=source)


def _worker() -> subprocess.Popen[bytes]:
    from annotator import jobs

    jobs.reconcile()
    return subprocess.Popen(
        [sys.executable, *WORKER, *QUIET], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _waiting() -> bool:
    """Whether jobs are left, but for those that are put off for minutes; the reconcile runs as beat has it."""
    from annotator import jobs
    from annotator.models import Job

    jobs.reconcile()
    put_off = ("quality.report", "consensus.recompute_all")
    return Job.objects.exclude(state=Job.State.FAILED).exclude(kind__in=put_off).exists()


def _half_a_minute_passes() -> None:
    """The leases of dead workers run out."""
    from datetime import timedelta

    from django.db.models.functions import Now

    from annotator.models import Job

    claimed = Job.objects.filter(state=Job.State.CLAIMED)
    claimed.update(lease_expires_at=Now() - timedelta(seconds=1))


def _empty_the_broker() -> None:
    """All messages are gone once the worker is in the middle of it."""
    import redis

    path, _, number = os.environ["REDIS_URL"].removeprefix("redis+socket://").partition("?virtual_host=")
    time.sleep(3)
    redis.Redis(unix_socket_path=path, db=int(number or 0)).flushdb()


def _counted(solutions: int) -> dict[str, int]:
    from django.db.models import Count

    from annotator.models import Job, QueueRow, Score, ScoreFailure

    scores = Score.objects.values("solution_id", "version_id").annotate(n=Count("pk"))
    scored = Score.objects.values("solution_id").distinct().count()
    return {
        "scored": scored,
        "lost": solutions - scored,
        "double": scores.filter(n__gt=1).count(),
        "failures": ScoreFailure.objects.count(),
        "unranked": QueueRow.objects.filter(ranked_by=None).count(),
        "jobs_left": Job.objects.filter(kind__startswith="scoring.").count(),
    }


def _until(true: Any, what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise SystemExit(f"Not within {PATIENCE:.0f} s: {what}.")
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main())
