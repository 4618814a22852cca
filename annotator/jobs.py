"""The outbox. Jobs are rows in PostgreSQL, written in the transaction that makes them necessary; the broker only
carries "wake up". A lost wake-up costs a few seconds, until the reconcile announces the job again.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
import redis.exceptions
from celery import current_app
from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from annotator.models import Job

log = logging.getLogger(__name__)

LEASE_SECONDS = 30
MAX_ATTEMPTS = 8
#: After a failed wake-up none is tried for this long, so that a dead broker costs a request nothing.
SILENCE_SECONDS = 5.0
#: Jobs written by one statement.
TOGETHER = 1_000
_ADD = (
    "INSERT INTO annotator_job (kind, subject, queue, project_id, payload, state, attempts, error, due_at) "
)
#: The same job is queued already. This touches its row, so that a worker can't claim it before the data that this
#: transaction writes are there.
_UNLESS_QUEUED = (
    "ON CONFLICT (kind, subject) WHERE state = 'queued' "
    "DO UPDATE SET payload = EXCLUDED.payload, due_at = least(annotator_job.due_at, EXCLUDED.due_at)"
)
_silent_until = 0.0


class LeaseLost(Exception):
    """Another worker holds this job now: stop, and write nothing more."""


@dataclass(frozen=True)
class Claimed:
    """A job that this worker holds until its lease runs out."""

    id: int
    kind: str
    subject: str
    project_id: int | None
    payload: Mapping[str, Any]
    attempts: int
    token: uuid.UUID


def enqueue(
    *,
    kind: str,
    subject: str,
    queue: str = "default",
    project_id: int | None = None,
    payload: Mapping[str, Any] | None = None,
    after: timedelta = timedelta(0),
) -> None:
    """Add a job, unless the same one is queued and not yet claimed. Call it inside a transaction.

    ``after`` puts it off: what many changes ask for within that time is done once. The reconcile announces it.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _ADD + "VALUES (%s, %s, %s, %s, %s::jsonb, 'queued', 0, '', "
            "statement_timestamp() + make_interval(secs => %s)) " + _UNLESS_QUEUED,
            [kind, subject, queue, project_id, _json(payload or {}), after.total_seconds()],
        )
    if not after:
        transaction.on_commit(lambda: wake(queue))


def enqueue_many(
    *,
    kind: str,
    queue: str = "default",
    project_id: int | None,
    wanted: Mapping[str, Mapping[str, Any]],
    wake_ups: int,
) -> None:
    """As `enqueue` for each subject and its payload, many in a statement. Wakes ``wake_ups`` workers at most, since
    whoever wakes up does all that is due."""
    listed = [{"subject": subject, "payload": payload} for subject, payload in wanted.items()]
    for first in range(0, len(listed), TOGETHER):
        with connection.cursor() as cursor:
            cursor.execute(
                _ADD
                + "SELECT %s, one ->> 'subject', %s, %s, one -> 'payload', 'queued', 0, '', statement_timestamp() "
                "FROM jsonb_array_elements(%s::jsonb) AS one " + _UNLESS_QUEUED,
                [kind, queue, project_id, _json(listed[first : first + TOGETHER])],
            )
    for _ in range(min(len(listed), wake_ups)):
        transaction.on_commit(lambda: wake(queue))


def wake(queue: str) -> bool:
    """Tell the workers of a queue that there is work. False when the broker can't be reached; nothing is lost."""
    global _silent_until  # noqa: PLW0603  one per process: the broker is one thing
    if time.monotonic() < _silent_until:
        return False
    try:
        current_app.send_task("annotator.tasks.run_jobs", args=[queue], queue=queue, retry=False, expires=60)
    except (OperationalError, redis.exceptions.RedisError, OSError) as error:
        _silent_until = time.monotonic() + SILENCE_SECONDS
        log.warning("The broker can't be reached (%s); queued jobs wait for the next reconcile.", error)
        return False
    return True


def someone_works(*, timeout: float) -> bool:
    """Whether a worker answers within ``timeout`` seconds. False as well when the broker can't be reached."""
    try:
        return bool(current_app.control.ping(timeout=timeout, limit=1))
    except (OperationalError, redis.exceptions.RedisError, OSError):
        return False


def queues_served(*, timeout: float) -> Counter[str] | None:
    """How many workers that answer within ``timeout`` seconds take each queue; None where no broker can be reached."""
    try:
        with current_app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=0, timeout=timeout)
        # Not by inspect(), which keeps one of several workers of the same name.
        told = current_app.control.broadcast("active_queues", reply=True, timeout=timeout) or []
    except (OperationalError, redis.exceptions.RedisError, OSError):
        return None
    return Counter(queue["name"] for reply in told for queues in reply.values() for queue in queues)


def claim(queue: str, *, lease_seconds: float = LEASE_SECONDS) -> Claimed | None:
    """Take the next due job of a queue, or None. At most one worker holds a job at a time."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE annotator_job SET state = 'claimed', attempts = attempts + 1, claim_token = %s, "
            "lease_expires_at = statement_timestamp() + make_interval(secs => %s) "
            "WHERE id = (SELECT id FROM annotator_job "
            "WHERE queue = %s AND state = 'queued' AND due_at <= statement_timestamp() "
            "ORDER BY due_at, id FOR UPDATE SKIP LOCKED LIMIT 1) RETURNING id",
            [uuid.uuid4(), lease_seconds, queue],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    job = Job.objects.get(pk=row[0])
    assert job.claim_token is not None
    return Claimed(job.pk, job.kind, job.subject, job.project_id, job.payload, job.attempts, job.claim_token)


def extend(job: Claimed, *, lease_seconds: float = LEASE_SECONDS) -> None:
    """Push the lease on after real progress, which also forgives earlier crashes. Raises LeaseLost."""
    changed = _held(job).update(lease_expires_at=Now() + timedelta(seconds=lease_seconds), attempts=1)
    if not changed:
        raise LeaseLost(f"{job.kind} {job.subject}")


def finish(job: Claimed) -> None:
    """The job is done: its row goes. A no-op when the lease was lost."""
    _held(job).delete()


def fail(job: Claimed, error: str) -> None:
    """The job raised: try again later with growing pauses, or keep it as failed after the last attempt.

    A no-op when the lease was lost. The row's own count of attempts decides, since progress resets it.
    """
    attempts = _held(job).values_list("attempts", flat=True).first()
    if attempts is None:
        return
    if attempts >= MAX_ATTEMPTS:
        _held(job).update(state=Job.State.FAILED, error=error[:2000], lease_expires_at=None)
        return
    _requeue(_held(job), error=error[:2000], pause=timedelta(seconds=min(300, 2**attempts)))


def renew(job: Claimed, *, lease_seconds: float = LEASE_SECONDS) -> bool:
    """Push the lease on while waiting for somebody else, without calling it progress. False when it is lost."""
    return bool(_held(job).update(lease_expires_at=Now() + timedelta(seconds=lease_seconds)))


def still_held(job: Claimed) -> bool:
    """Whether this worker may go on: the lease was neither lost nor the job dropped."""
    return _held(job).exists()


def drop(*, kind: str, subject_prefix: str, running: bool = False) -> int:
    """Forget queued jobs whose subject begins like this; with ``running`` those that a worker holds too.

    A worker whose job is gone notices at its next `extend` and writes nothing more. Returns how many were queued.
    """
    named = Job.objects.filter(kind=kind, subject__startswith=subject_prefix)
    if running:
        named.filter(state=Job.State.CLAIMED).delete()
    return named.filter(state=Job.State.QUEUED).delete()[0]


def put_off(*, kind: str, subject_prefix: str, seconds: float) -> int:
    """Have queued jobs whose subject begins like this wait at least so long. Returns how many."""
    due = Now() + timedelta(seconds=seconds)
    named = Job.objects.filter(kind=kind, subject__startswith=subject_prefix, state=Job.State.QUEUED)
    return named.filter(due_at__lt=due).update(due_at=due)


def bring_forward(*, kind: str, subject_prefix: str) -> int:
    """Queued jobs whose subject begins like this are due now; the reconcile announces them. Returns how many."""
    named = Job.objects.filter(kind=kind, subject__startswith=subject_prefix, state=Job.State.QUEUED)
    return named.filter(due_at__gt=Now()).update(due_at=Now())


def reconcile() -> list[str]:
    """Free jobs whose worker died and wake every queue that has due work. Returns those queues."""
    expired = Job.objects.filter(state=Job.State.CLAIMED, lease_expires_at__lt=Now())
    for pk, attempts in expired.values_list("pk", "attempts"):
        if attempts >= MAX_ATTEMPTS:
            expired.filter(pk=pk).update(
                state=Job.State.FAILED, error="its worker died each time it was tried"
            )
        else:
            _requeue(expired.filter(pk=pk), error="its worker died")
    due = Job.objects.filter(state=Job.State.QUEUED, due_at__lte=Now())
    queues = sorted(set(due.order_by().values_list("queue", flat=True).distinct()))
    for queue in queues:
        wake(queue)
    return queues


def _requeue(row: QuerySet[Job], *, error: str, pause: timedelta = timedelta(0)) -> None:
    """Back to the queue; where the same job was queued meanwhile, that one will do the work."""
    try:
        with transaction.atomic():
            row.update(
                state=Job.State.QUEUED,
                due_at=Now() + pause,
                lease_expires_at=None,
                claim_token=None,
                error=error,
            )
    except IntegrityError:
        row.delete()


def _held(job: Claimed) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.id, state=Job.State.CLAIMED, claim_token=job.token)


def _json(value: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    return orjson.dumps(value).decode()
