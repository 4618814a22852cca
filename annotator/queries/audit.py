"""The audit log, newest first: who did what when, and what was there before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from annotator.models import AuditEvent, Membership

SHOWN = 100
#: What an event can be about: the part of its name before the colon.
TOPICS = (
    "aid",
    "alert",
    "annotation",
    "annotations",
    "assignment",
    "calibration",
    "case",
    "exam",
    "export",
    "gold",
    "guidelines",
    "import",
    "invitation",
    "member",
    "picture",
    "project",
    "question",
    "queue",
    "scorer",
    "scoring",
    "solution",
    "token",
    "user",
    "webhook",
)


@dataclass(frozen=True)
class Filter:
    """What to show; what is left empty doesn't matter. ``member_id`` 0: the system itself. Days are UTC."""

    topic: str = ""
    member_id: int | None = None
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True)
class Cursor:
    """The last event of the page before."""

    at: datetime
    id: int

    def __str__(self) -> str:
        return f"{self.at.isoformat()}~{self.id}"


@dataclass(frozen=True)
class Event:
    """One event. ``changes`` are (what, before, after), ``rest`` what else was kept."""

    id: int
    at: datetime
    actor: str
    name: str
    subject: str
    changes: Sequence[tuple[str, str, str]]
    rest: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Page:
    """Events, and where the next page begins (None: this was the last)."""

    events: Sequence[Event]
    next: Cursor | None


def page(*, project_id: int, chosen: Filter, after: Cursor | None = None) -> Page:
    """One page of the log: one query, whatever its length."""
    rows = list(_rows(project_id, chosen, after)[: SHOWN + 1])
    last = rows[SHOWN - 1] if len(rows) > SHOWN else None
    return Page([_event(row) for row in rows[:SHOWN]], Cursor(last.at, last.pk) if last else None)


def everything(*, project_id: int, chosen: Filter) -> Iterator[Event]:
    """All events of a choice, by pages, so that no server-side cursor holds a connection."""
    after: Cursor | None = None
    while True:
        found = page(project_id=project_id, chosen=chosen, after=after)
        yield from found.events
        if found.next is None:
            return
        after = found.next


def actors(project_id: int) -> Sequence[tuple[int, str]]:
    """Who can have done something here."""
    return list(
        Membership.objects.filter(project_id=project_id).order_by("pk").values_list("pk", "pseudonym")
    )


def _rows(project_id: int, chosen: Filter, after: Cursor | None) -> QuerySet[AuditEvent]:
    rows = AuditEvent.objects.filter(project_id=project_id).select_related("member").order_by("-at", "-pk")
    if chosen.topic:
        rows = rows.filter(name__startswith=f"{chosen.topic}:")
    if chosen.member_id is not None:
        rows = rows.filter(member_id=chosen.member_id or None)
    if chosen.since:
        rows = rows.filter(at__gte=_midnight(chosen.since))
    if chosen.until:
        rows = rows.filter(at__lt=_midnight(chosen.until) + timedelta(days=1))
    if after is not None:
        rows = rows.filter(Q(at__lt=after.at) | Q(at=after.at, pk__lt=after.id))
    return rows


def _midnight(day: date) -> datetime:
    """The moment a day (UTC) begins: a comparison of moments is served by the index, one of days is not."""
    return datetime.combine(day, time.min, tzinfo=UTC)


def _event(row: AuditEvent) -> Event:
    data = row.data if isinstance(row.data, dict) else {}
    before, after = data.get("before"), data.get("after")
    return Event(
        id=row.pk,
        at=row.at,
        actor=row.member.pseudonym if row.member else "",
        name=row.name,
        subject=row.subject,
        changes=_changes(before, after),
        rest=[(key, _shown(value)) for key, value in data.items() if key not in ("before", "after")],
    )


def _changes(before: Any, after: Any) -> list[tuple[str, str, str]]:
    old: Mapping[str, Any] = before if isinstance(before, dict) else {}
    new: Mapping[str, Any] = after if isinstance(after, dict) else {}
    keys = [*old, *(key for key in new if key not in old)]
    return [(key, _shown(old.get(key)), _shown(new.get(key))) for key in keys if old.get(key) != new.get(key)]


def _shown(value: Any) -> str:
    if value is None or value in ("", []):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_shown, value[:30])) + (
            f" and {len(value) - 30} more" if len(value) > 30 else ""
        )
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(each)}" for key, each in value.items())
    return str(value)
