"""A project's webhooks, what each was told last, and how it went in words. The secret is never read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Q, Window
from django.db.models.functions import RowNumber

from annotator.models import Webhook, WebhookDelivery

SHOWN = 20
State = WebhookDelivery.State


@dataclass(frozen=True)
class Delivery:
    """One message. ``error`` says why the last attempt failed, "" where it didn't."""

    id: int
    event: str
    at: datetime
    state: str
    attempts: int
    status: int | None
    error: str


@dataclass(frozen=True)
class Hook:
    """One address. ``trouble`` is the last failure while it lasts, or why the program paused it."""

    id: int
    url: str
    events: Sequence[str]
    active: bool
    trouble: str
    failing_since: datetime | None
    retry_at: datetime | None
    delivered: int
    waiting: int
    deliveries: Sequence[Delivery]


@dataclass(frozen=True)
class Overview:
    """All webhooks; ``busy`` while a message waits for its first attempt."""

    hooks: Sequence[Hook]
    busy: bool


def overview(project_id: int) -> Overview:
    """Two queries, however many webhooks and messages there are."""
    numbered = Window(RowNumber(), partition_by=[F("webhook_id")], order_by=F("pk").desc())
    rows = (
        WebhookDelivery.objects.filter(webhook__project_id=project_id)
        .annotate(place=numbered)
        .filter(place__lte=SHOWN)
        .order_by("-pk")
    )
    last: dict[int, list[Delivery]] = {}
    for row in rows:
        last.setdefault(row.webhook_id, []).append(
            Delivery(row.pk, row.event, row.created_at, row.state, row.attempts, row.status, row.error)
        )
    counted = Webhook.objects.filter(project_id=project_id).annotate(
        delivered=Count("deliveries", filter=Q(deliveries__state=State.DELIVERED)),
        waiting=Count("deliveries", filter=Q(deliveries__state=State.QUEUED)),
    )
    hooks = [_hook(row, last.get(row.pk, [])) for row in counted.defer("secret").order_by("pk")]
    fresh = any(each.state == State.QUEUED and not each.attempts for some in last.values() for each in some)
    return Overview(hooks, fresh)


def _hook(row: Webhook, deliveries: Sequence[Delivery]) -> Hook:
    tried = (each.error for each in deliveries if each.error and each.event != "ping")
    failed = next(tried, "") if row.failures else ""
    return Hook(
        id=row.pk,
        url=row.url,
        events=row.events,
        active=row.active,
        trouble=row.paused_because or failed,
        failing_since=row.failing_since,
        retry_at=row.retry_at,
        delivered=row.delivered,  # type: ignore[attr-defined]  # annotated
        waiting=row.waiting,  # type: ignore[attr-defined]
        deliveries=deliveries,
    )
