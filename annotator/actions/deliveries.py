"""Sending what webhooks are told: signed, tried again with growing pauses, given up with a reason.

At least once: whoever dies between sending and noting it sends again, under the same id.
"""

from __future__ import annotations

import http.client
import ssl
import time
from dataclasses import dataclass
from datetime import timedelta

import orjson
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from annotator import jobs
from annotator.actions import alerts, hooks
from annotator.core.signing import signature
from annotator.jobs import Claimed
from annotator.models import AuditEvent, Webhook, WebhookDelivery
from annotator.scorers.endpoint import Endpoint, EndpointRefused, NameNotFound, Resolver, resolve
from annotator.scorers.transport import Connection, Limits, ReplyTooLarge

LIMITS = Limits(connect_seconds=3.0, seconds=8.0, reply_bytes=64 * 1024)
#: A message that was refused so often is given up; others go on.
MAX_ATTEMPTS = 8
#: An address that has taken nothing for so long is paused.
DEAD_AFTER = timedelta(days=3)
#: Seconds: the first pause, its growth with each failure in a row, and the longest.
FIRST, GROWTH, LONGEST = 30, 4, 6 * 3600
#: What was taken or given up longer ago is forgotten.
KEPT = timedelta(days=30)
GONE = 410


@dataclass(frozen=True)
class Outcome:
    """What came of one attempt; ``error`` "" where the message was taken."""

    status: int | None
    error: str = ""


def pause_after(failures: int) -> timedelta:
    """How long an address is left alone after so many failures in a row.

    >>> [int(pause_after(n).total_seconds()) for n in (1, 2, 3, 9)]
    [30, 120, 480, 21600]
    """
    return timedelta(seconds=min(LONGEST, FIRST * GROWTH ** min(failures - 1, 10)))


def deliver(*, job: Claimed, resolver: Resolver = resolve) -> None:
    """Try one message. No transaction is open while the address is spoken to."""
    found = WebhookDelivery.objects.select_related("webhook__project").filter(pk=job.payload["delivery"])
    delivery = found.first()
    if delivery is None or delivery.state != WebhookDelivery.State.QUEUED:
        return
    hook, is_ping = delivery.webhook, delivery.event == hooks.PING
    if not is_ping and hook.retry_at is not None and hook.retry_at > timezone.now():
        _later(job, hook.retry_at - timezone.now())  # another message has just failed there
        return
    outcome = send(delivery, resolver)
    with transaction.atomic():
        _note(job, delivery.pk, outcome)


def send(delivery: WebhookDelivery, resolver: Resolver = resolve) -> Outcome:
    """One signed POST; every failure is a sentence."""
    hook = delivery.webhook
    try:
        server = hooks.address(hook.url)
        status = _post(server, body_of(delivery), hook.secret, delivery, resolver)
    except EndpointRefused as error:
        return Outcome(None, str(error))
    except NameNotFound as error:
        return Outcome(None, str(error))
    except TimeoutError:
        return Outcome(None, f"There was no answer within {LIMITS.seconds:g} seconds.")
    except ssl.SSLError as error:
        return Outcome(None, f"No secure connection: {error.reason or 'the handshake failed'}.")
    except OSError as error:
        said = error.strerror or type(error).__name__
        return Outcome(None, f"The connection failed: {said.lower()}.")
    except http.client.HTTPException:
        return Outcome(None, "The server does not answer in HTTP, or its answer broke off.")
    return Outcome(status, _said_of(status))


def body_of(delivery: WebhookDelivery) -> bytes:
    """The message, the same bytes at every attempt."""
    return orjson.dumps(
        {
            "id": str(delivery.pk),
            "event": delivery.event,
            "project": delivery.webhook.project.slug,
            "at": delivery.created_at.isoformat(timespec="seconds"),
            "data": delivery.payload,
        }
    )


def _post(server: Endpoint, body: bytes, secret: str, delivery: WebhookDelivery, resolver: Resolver) -> int:
    now = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "stepmark",
        "Stepmark-Event": delivery.event,
        "Stepmark-Delivery": str(delivery.pk),
        "Stepmark-Timestamp": str(now),
        "Stepmark-Signature": f"sha256={signature(secret, now, body)}",
    }
    context = ssl.create_default_context() if server.scheme == "https" else None
    connection = Connection(server, LIMITS, resolver, context)
    try:
        return connection.exchange("POST", "", body, headers).status
    except ReplyTooLarge:
        return int(http.HTTPStatus.OK)  # only an answer of that status is read so far
    finally:
        connection.close()


def _said_of(status: int) -> str:
    """Why a status is no success, "" for one that is."""
    if 200 <= status < 300:
        return ""
    if 300 <= status < 400:
        return "It redirects to another address; redirects are not followed."
    if status == GONE:
        return "The server says that this address is gone for good (status 410)."
    if status < 500:
        return f"The server refused the message (status {status})."
    return f"The server failed (status {status})."


def _note(job: Claimed, delivery_id: int, outcome: Outcome) -> None:
    """Write down what came of an attempt, and what follows from it."""
    hook = Webhook.objects.select_for_update(of=("self",)).filter(deliveries=delivery_id).first()
    if hook is None:
        return  # deleted meanwhile
    rows = WebhookDelivery.objects.filter(pk=delivery_id)
    rows.update(attempts=F("attempts") + 1, status=outcome.status, error=outcome.error[:300])
    if not outcome.error:
        rows.update(state=WebhookDelivery.State.DELIVERED, delivered_at=Now())
        _recovered(hook)
        return
    delivery = rows.get()
    if delivery.event == hooks.PING:
        rows.update(state=WebhookDelivery.State.FAILED)  # somebody waits for the answer: once, and no more
        return
    if not hook.active:
        rows.update(state=WebhookDelivery.State.FAILED)
        return
    _failed(hook, outcome)
    if not hook.active:
        return
    if delivery.attempts >= MAX_ATTEMPTS:
        rows.update(state=WebhookDelivery.State.FAILED)
    else:
        _later(job, pause_after(hook.failures))


def _recovered(hook: Webhook) -> None:
    if hook.failures:
        hook.failures, hook.failing_since, hook.retry_at = 0, None, None
        hook.save(update_fields=["failures", "failing_since", "retry_at"])
        jobs.bring_forward(kind=hooks.JOB, subject_prefix=hooks.subject_of(hook.pk))
    old = WebhookDelivery.objects.filter(webhook=hook, created_at__lt=timezone.now() - KEPT)
    old.exclude(state=WebhookDelivery.State.QUEUED).delete()


def _failed(hook: Webhook, outcome: Outcome) -> None:
    """Leave the address alone for a while; pause one that is dead, with an alert."""
    now = timezone.now()
    hook.failures = min(hook.failures + 1, 30_000)
    hook.failing_since = hook.failing_since or now
    hook.retry_at = now + pause_after(hook.failures)
    hook.save(update_fields=["failures", "failing_since", "retry_at"])
    if outcome.status == GONE or now - hook.failing_since >= DEAD_AFTER:
        host = hooks.host_of(hook.url)
        why = f"{host} has taken nothing since {hook.failing_since:%Y-%m-%d}: {outcome.error}"
        hooks.stop(hook, why)
        AuditEvent.objects.record(
            "webhook:paused",
            f"webhook {hook.pk}",
            project_id=hook.project_id,
            member_id=None,  # nobody did it: the rules led to it
            data={"before": {"active": True}, "after": {"active": False}, "failures": hook.failures},
        )
        alerts.open_alert(
            project_id=hook.project_id,
            kind="webhook_paused",
            subject=f"webhook {hook.pk}",
            sentence=f"The webhook to {why} It is paused; look at it on the webhooks page.",
        )


def _later(job: Claimed, pause: timedelta) -> None:
    """The same message once more, after a pause."""
    jobs.enqueue(
        kind=job.kind,
        subject=job.subject,
        queue=hooks.QUEUE,
        project_id=job.project_id,
        payload=job.payload,
        after=pause,
    )
