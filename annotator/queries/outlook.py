"""How far the work has come, how long it will take, and who holds what now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Avg, Count, F, Q, QuerySet, Sum
from django.utils import timezone

from annotator.models import (
    AdjudicationCase,
    Annotation,
    Assignment,
    CalibrationRound,
    Guidelines,
    ImportBatch,
    Membership,
    Problem,
    QueueRow,
)
from annotator.queries.queue import held

PACE_DAYS = 7
SHOWN = 50
CHOICES = 200


@dataclass(frozen=True)
class Forecast:
    """``owed`` labels at ``minutes_each`` of active work, and at ``a_day`` labels a day; None: nothing to go by."""

    owed: int
    minutes_each: float | None
    a_day: float

    @property
    def hours(self) -> float | None:
        return self.owed * self.minutes_each / 60 if self.minutes_each is not None else None

    @property
    def days(self) -> float | None:
        return self.owed / self.a_day if self.a_day else None


@dataclass(frozen=True)
class Held:
    """One solution that somebody has now. ``marked`` of ``n_steps`` have a label in the draft."""

    pseudonym: str
    external_id: str
    purpose: str
    route: str
    marked: int
    n_steps: int
    claimed_at: datetime
    lease_expires_at: datetime


@dataclass(frozen=True)
class Calibration:
    """The open round, or that there is none. ``done`` of ``people`` have had all its items."""

    started_at: datetime | None
    items: int
    done: int
    people: int
    version: int | None
    newest: int | None

    @property
    def behind(self) -> bool:
        """New guidelines came after the round."""
        return self.newest is not None and self.newest != self.version


@dataclass(frozen=True)
class Outlook:
    """The part of the queue page that is about people and time."""

    forecast: Forecast
    held: Sequence[Held]
    n_held: int
    cases: int
    reserved: Sequence[tuple[str, int]]
    calibration: Calibration
    subjects: Sequence[str]
    domains: Sequence[str]
    batches: Sequence[tuple[int, str]]


def outlook(project_id: int) -> Outlook:
    """A constant number of queries."""
    live = Assignment.objects.filter(project_id=project_id, state=Assignment.State.LIVE)
    rows = QueueRow.objects.filter(project_id=project_id)
    reserved = rows.open().exclude(skill="").order_by().values_list("skill").annotate(n=Count("pk"))
    return Outlook(
        forecast=_forecast(project_id),
        held=_held(live),
        n_held=live.count(),
        cases=AdjudicationCase.objects.filter(project_id=project_id, closed_at=None).count(),
        reserved=sorted(reserved, key=lambda each: -each[1]),
        calibration=_calibration(project_id),
        subjects=_distinct(project_id, "subject"),
        domains=_distinct(project_id, "domain"),
        batches=list(
            ImportBatch.objects.filter(project_id=project_id, imported__gt=0).values_list("pk", "filename")[
                :CHOICES
            ]
        ),
    )


def _forecast(project_id: int) -> Forecast:
    """At the pace of the last seven days, or of as many as there are: labels that count, and their active time."""
    rows = QueueRow.objects.filter(project_id=project_id)
    untaken = rows.aggregate(n=Sum(F("wanted") - F("taken")))["n"] or 0
    owed = untaken + held(project_id).count()
    now = timezone.now()
    recent = Annotation.objects.filter(
        member__project_id=project_id,
        source=Annotation.Source.HUMAN,
        current=True,
        counted=True,
        assignment__purpose=Assignment.Purpose.WORK,
        submitted_at__gte=now - timedelta(days=PACE_DAYS),
    )
    pace = recent.aggregate(n=Count("pk"), seconds=Avg("active_seconds", filter=Q(active_seconds__gt=0)))
    first = recent.order_by("submitted_at").values_list("submitted_at", flat=True).first()
    days = max(1.0, (now - first) / timedelta(days=1)) if first else 1.0
    return Forecast(owed, pace["seconds"] / 60 if pace["seconds"] else None, pace["n"] / days)


def _held(live: QuerySet[Assignment]) -> list[Held]:
    rows = live.select_related("member", "solution").order_by("claimed_at")[:SHOWN]
    return [
        Held(
            pseudonym=row.member.pseudonym,
            external_id=row.solution.external_id or f"#{row.solution_id}",
            purpose=row.purpose,
            route=row.selection.get("route", ""),
            marked=sum(label is not None for label in row.draft.get("labels") or []),
            n_steps=row.solution.n_steps,
            claimed_at=row.claimed_at,
            lease_expires_at=row.lease_expires_at,
        )
        for row in rows
    ]


def _calibration(project_id: int) -> Calibration:
    newest = Guidelines.objects.filter(project_id=project_id).order_by("-version").first()
    current = (
        CalibrationRound.objects.filter(project_id=project_id, closed_at=None)
        .select_related("guidelines")
        .first()
    )
    people = Membership.objects.filter(project_id=project_id, state=Membership.State.ACTIVE).exclude(
        user=None
    )
    version = newest.version if newest else None
    if current is None:
        return Calibration(None, 0, 0, people.count(), None, version)
    done = (
        Assignment.objects.filter(
            solution_id__in=current.solution_ids, state=Assignment.State.SUBMITTED, member__in=people
        )
        .order_by()
        .values("member_id")
        .annotate(n=Count("solution_id", distinct=True))
        .filter(n=len(current.solution_ids))
    )
    return Calibration(
        started_at=current.started_at,
        items=len(current.solution_ids),
        done=len(done),
        people=people.count(),
        version=current.guidelines.version if current.guidelines else None,
        newest=version,
    )


def _distinct(project_id: int, field: str) -> list[str]:
    found = Problem.objects.filter(project_id=project_id).exclude(**{field: ""}).order_by(field)
    return list(found.values_list(field, flat=True).distinct()[:CHOICES])
