"""What I handed in last, and how long I worked."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, F, Func, IntegerField, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotator.models import Annotation, Assignment, Project, Question

SHOWN = 20
DAYS = 60


@dataclass(frozen=True)
class Submission:
    """One of my submissions as it stands now. ``reopens_until`` is None where it stays closed."""

    assignment_id: uuid.UUID
    problem_text: str
    labels: Sequence[int | None]
    finish_reason: str
    version: int
    submitted_at: datetime
    active_seconds: float | None
    reopened: bool
    reopens_until: datetime | None


@dataclass(frozen=True)
class Day:
    """What was done on one day: solutions, steps judged, active hours."""

    day: date
    solutions: int
    steps: int
    hours: float


@dataclass(frozen=True)
class Total:
    """What several days come to."""

    solutions: int
    steps: int
    hours: float


def total(worked: Sequence[Day]) -> Total:
    """The sum over days."""
    return Total(
        solutions=sum(day.solutions for day in worked),
        steps=sum(day.steps for day in worked),
        hours=sum(day.hours for day in worked),
    )


def submissions(*, member_id: int, project: Project) -> Sequence[Submission]:
    """My last submissions in this project, practice left out; one query."""
    rows = (
        Annotation.objects.filter(member_id=member_id, current=True, assignment__isnull=False)
        .exclude(assignment__purpose=Assignment.Purpose.PRACTICE)
        .select_related("assignment", "solution__problem")
        .order_by("-submitted_at", "-pk")[:SHOWN]
    )
    now, window = timezone.now(), timedelta(hours=project.reopen_hours)
    made = []
    for row in rows:
        assert row.assignment is not None
        until = row.submitted_at + window
        made.append(
            Submission(
                assignment_id=row.assignment.pk,
                problem_text=row.solution.problem.text,
                labels=row.labels,
                finish_reason=row.finish_reason,
                version=row.version,
                submitted_at=row.submitted_at,
                active_seconds=row.active_seconds,
                reopened=row.assignment.reopened,
                reopens_until=until if until > now else None,
            )
        )
    return made


def asked(*, member_id: int) -> Sequence[Question]:
    """My last questions, with the answers whether or not others see them; one query."""
    return list(Question.objects.filter(member_id=member_id).order_by("-pk")[:SHOWN])


def days(*, member_ids: Sequence[int]) -> dict[int, list[Day]]:
    """Work by member and day (UTC) over the last DAYS days, newest first; one query whatever the history."""
    since = timezone.now() - timedelta(days=DAYS)
    rows = (
        # Current ones alone: a version made after reopening holds the time of the one before it, too.
        Annotation.objects.filter(
            member_id__in=member_ids, source=Annotation.Source.HUMAN, current=True, submitted_at__gte=since
        )
        .annotate(day=TruncDate("submitted_at"), judged=judged_steps())
        .values("member_id", "day")
        .annotate(solutions=Count("pk"), steps=Sum("judged"), seconds=Sum("active_seconds"))
        .order_by("member_id", "-day")
    )
    found: dict[int, list[Day]] = {member_id: [] for member_id in member_ids}
    for row in rows:
        hours = (row["seconds"] or 0.0) / 3600
        found[row["member_id"]].append(Day(row["day"], row["solutions"], row["steps"] or 0, hours))
    return found


def judged_steps() -> Func:
    """How many labels an annotation holds that are not NULL."""
    counted = Func(
        F("labels"), None, function="array_remove", template="cardinality(%(function)s(%(expressions)s))"
    )
    counted.output_field = IntegerField()
    return counted
