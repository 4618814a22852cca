"""A real Celery worker in its own process, on the test database."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import redis
from django.db import connection
from django.db.models.functions import Now

from annotator import jobs
from annotator.models import Job, Project, QueueRow, Score, Solution
from tests import factories as make
from tests.files import bring, native

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [
    "-m",
    "celery",
    "--skip-checks",
    "-A",
    "annotator.config.celery",
    "worker",
    "-P",
    "threads",
    "-c",
    "2",
]
QUEUES = "default,scoring,remote"
QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat"]


def database_url() -> str:
    """The test database's address, for another process."""
    settings = connection.settings_dict
    named = {key: settings[key.upper()] for key in ("host", "port", "user") if settings[key.upper()]}
    password = f":{quote(settings['PASSWORD'])}@" if settings["PASSWORD"] else ""
    return f"postgresql://{password}/{quote(settings['NAME'])}?{urlencode(named)}"


def own_broker() -> str:
    """A corner of the broker where no other test's messages are."""
    number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    base, _, _ = os.environ["REDIS_URL"].partition("?")
    return f"{base}?virtual_host={8 + int(number) % 8}"


def empty(broker: str) -> None:
    """All messages are gone, as after a crash of a broker that keeps nothing."""
    path, _, number = broker.removeprefix("redis+socket://").partition("?virtual_host=")
    redis.Redis(unix_socket_path=path, db=int(number)).flushdb()


class Worker:
    """One worker. It is listening once `wait_until_ready` returned."""

    def __init__(self, broker: str, queues: str = QUEUES) -> None:
        environment = os.environ | {
            "DATABASE_URL": database_url(),
            "REDIS_URL": broker,
            "STEPMARK_ENV": "test",
            "DJANGO_SETTINGS_MODULE": "annotator.config.settings",
        }
        number, name = tempfile.mkstemp(prefix="worker-", suffix=".log")
        self._log = Path(name)
        with os.fdopen(number, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *COMMAND, "-Q", queues, "-l", "WARNING", *QUIET],
                cwd=ROOT,
                env=environment,
                stderr=log,
                stdout=log,
            )

    def wait_until_ready(self) -> None:
        until(lambda: jobs.someone_works(timeout=0.5), "the worker answers", log=self.log)

    def log(self) -> str:
        return self._log.read_text()

    def kill(self) -> None:
        """As the kernel does when memory is out: no goodbye."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        self._log.unlink()


def working(broker: str) -> AbstractContextManager[Worker]:
    """A worker that answers, for as long as the block runs."""
    return working_on(QUEUES, broker)


@contextmanager
def working_on(queues: str, broker: str) -> Iterator[Worker]:
    """A worker for these queues alone."""
    worker = Worker(broker, queues)
    try:
        worker.wait_until_ready()
        yield worker
    finally:
        worker.stop()


def until(true: Callable[[], Any], what: str, *, seconds: float = 30.0, log: Callable[[], str] = str) -> None:
    """Wait for something to become true. Fails with the worker's log when it doesn't."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}\n{log()}"
        time.sleep(0.02)


def beat() -> None:
    """What beat does every few seconds."""
    jobs.reconcile()


#: Done once for many changes, minutes later.
PUT_OFF = ("quality.report", "consensus.recompute_all")


#: Seconds between two beats while a test waits. More often, the worker would mostly answer them.
BEAT_EVERY = 0.5
_beats = {"last": 0.0}


def no_jobs_left() -> bool:
    """Nothing is queued or running; the reconcile runs as beat would have it, only oftener."""
    if time.monotonic() - _beats["last"] > BEAT_EVERY:
        beat()
        _beats["last"] = time.monotonic()
    waited_for = Job.objects.exclude(state=Job.State.FAILED).exclude(kind__in=PUT_OFF)
    return not waited_for.exists()


def half_a_minute_passes() -> None:
    """The leases of dead workers run out."""
    Job.objects.filter(state=Job.State.CLAIMED).update(lease_expires_at=Now() - timedelta(seconds=1))


def with_many_solutions(many: int) -> Project:
    """A project with that many solutions of 13 steps, just imported."""
    project = make.project()
    steps = [f"Then {n} + {n} = {2 * n}, and {n} * 3 = {3 * n + n % 2}." for n in range(12)]
    bring(project, *[native(n, steps=[f"Case {n}.", *steps]) for n in range(many)])
    return project


def assert_all_is_scored_once(project: Project, many: int) -> None:
    """Nothing is lost, nothing is there twice, nothing is left to do, and the queue is in the scorer's order."""
    assert Solution.objects.filter(project=project).count() == many
    assert Score.objects.filter(solution__project=project).count() == many
    assert not QueueRow.objects.filter(project=project, ranked_by=None).exists()
    assert not Job.objects.exists()
