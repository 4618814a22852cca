"""What a person sees of their own work and standing.

Figures of hidden checks come in tens and a day late: by a number that moves with each submit, one would know which
solution had been a check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotator.core.intervals import Figure, Reason, proportion
from annotator.models import Adjudication, Annotation, Assignment, GoldResult, Membership, Project
from annotator.queries import mine, waiting
from annotator.queries.workbench import SENTENCES, Progress, progress

LATE = timedelta(days=1)
BLOCK = 10
NOTES = 30
RECENT = 50


@dataclass(frozen=True)
class Note:
    """What a reviewer decided on one of the person's own solutions, with what can be learned from it."""

    problem_text: str
    mine: Sequence[int | None]
    decided: Sequence[int | None]
    note: str
    decided_at: datetime


@dataclass(frozen=True)
class OwnStanding:
    """``sentence`` says where the person stands; ``checks`` how many hidden checks ``accuracy`` is over.

    ``accuracy`` is None where the project doesn't show it or there are too few.
    """

    sentence: str
    checks: int
    accuracy: Figure | None


@dataclass(frozen=True)
class OwnProgress:
    """The page. ``nothing`` says why no work comes, "" where there is some; ``standing`` None: not shown here."""

    counts: Progress
    nothing: str
    state_reason: str
    minutes_each: float | None
    per_hour: float | None
    cap: int | None
    done_today: int
    days: Sequence[mine.Day]
    total: mine.Total
    standing: OwnStanding | None
    notes: Sequence[Note]

    @property
    def seconds_each(self) -> float | None:
        return self.minutes_each * 60 if self.minutes_each else None


def own_progress(*, member_id: int) -> OwnProgress:
    """A constant number of queries, whatever the history."""
    member = Membership.objects.select_related("project").get(pk=member_id)
    project = member.project
    reason = waiting.why_nothing(member, project)
    days = mine.days(member_ids=[member_id])[member_id]
    total = mine.total(days)
    minutes = _minutes_each(member_id)
    return OwnProgress(
        counts=progress(member_id=member_id, project_id=project.pk),
        nothing=SENTENCES[reason] if reason else "",
        state_reason=member.state_reason if member.state != Membership.State.ACTIVE else "",
        minutes_each=minutes,
        per_hour=60 / minutes if minutes else None,
        cap=waiting.cap_of(member, project),
        done_today=waiting.done_today(member_id),
        days=days,
        total=total,
        standing=_standing(member, project),
        notes=_notes(member_id),
    )


def _minutes_each(member_id: int) -> float | None:
    """The median of the last ones, in minutes: a clock that ran on moves it little."""
    recent = (
        Annotation.objects.filter(member_id=member_id, current=True, active_seconds__gt=0)
        .exclude(assignment__purpose=Assignment.Purpose.PRACTICE)
        .order_by("-submitted_at")
        .values_list("active_seconds", flat=True)[:RECENT]
    )
    seconds = [value for value in recent if value]
    return median(seconds) / 60 if seconds else None


def _standing(member: Membership, project: Project) -> OwnStanding | None:
    if project.standing_shown == "nothing":
        return None
    until = timezone.now() - LATE
    outcomes = list(
        GoldResult.objects.filter(
            member=member,
            annotation__assignment__purpose=Assignment.Purpose.GOLD,
            annotation__current=True,
            annotation__submitted_at__lt=until,
            annotation__solution__gold__void=False,
            item_right__isnull=False,
        )
        .order_by("annotation__submitted_at")
        .values_list("item_right", flat=True)
    )
    told = outcomes[: len(outcomes) // BLOCK * BLOCK]
    shown = project.standing_shown == "accuracy" and bool(told)
    accuracy = proportion(sum(map(bool, told)), len(told), Reason.NO_GOLD) if shown else None
    return OwnStanding(_sentence(member, until), len(told), accuracy)


def _sentence(member: Membership, until: datetime) -> str:
    if member.state == Membership.State.PAUSED:
        return "Your work is paused; a manager decides how it goes on."
    warned = member.standing_events.filter(kind="became warned").order_by("-at").first()
    if member.standing == Membership.Standing.WARNED and warned is not None and warned.at < until:
        return (
            "Some of your labels differ from what they should be more often than usual. Read the guidelines again, "
            "and ask the lead where you doubt."
        )
    return "Nothing stands against your labels."


def _notes(member_id: int) -> list[Note]:
    """Of own solutions that a reviewer decided with a note. Never of gold: people still meet it as a check."""
    newer = Adjudication.objects.filter(
        Q(decided_at__gt=OuterRef("decided_at"))
        | Q(decided_at=OuterRef("decided_at"), pk__gt=OuterRef("pk")),
        solution_id=OuterRef("solution_id"),
    )
    own = Annotation.objects.filter(member_id=member_id, current=True, round=1)
    decided = (
        Adjudication.objects.filter(
            ~Exists(newer), solution__in=own.values("solution_id"), solution__gold=None
        )
        .exclude(note="")
        .select_related("solution__problem")
        .order_by("-decided_at", "-pk")[:NOTES]
    )
    found = list(decided)
    labels = dict(
        own.filter(solution_id__in=[row.solution_id for row in found]).values_list("solution_id", "labels")
    )
    return [
        Note(row.solution.problem.text, labels[row.solution_id], row.labels, row.note, row.decided_at)
        for row in found
    ]
