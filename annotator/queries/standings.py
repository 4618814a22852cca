"""What people's standings are followed from: hidden gold and managers' words, for a whole project at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from annotator.core.screening import Override, Rule, fit_rule
from annotator.models import Assignment, CalibrationRound, GoldResult, Membership, Project, StandingEvent

WORDS = {Override.CLEAR.value, Override.PAUSE.value}


@dataclass(frozen=True, slots=True)
class Check:
    """One hidden check of a person by the version that stands, and when it was handed in."""

    at: datetime
    right: bool | None
    errors_reached: int
    errors_caught: int
    sound_reached: int
    false_alarms: int
    solution_id: int


@dataclass(frozen=True, slots=True)
class Record:
    """One person's checks and what managers said, each in order of time."""

    checks: list[Check]
    words: list[tuple[datetime, Override]]

    def events(self) -> list[bool | Override | None]:
        """Both, in order of time, as `core.screening.follow` takes them."""
        found: list[tuple[datetime, bool | Override | None]] = [(each.at, each.right) for each in self.checks]
        return [what for _, what in sorted([*found, *self.words], key=lambda event: event[0])]


def records(project: Project) -> dict[int, Record]:
    """By member: two queries. Checks whose gold turned out wrong are left out."""
    found: dict[int, Record] = {}
    rows = (
        GoldResult.objects.filter(
            member__project=project,
            annotation__assignment__purpose=Assignment.Purpose.GOLD,
            annotation__current=True,
            annotation__solution__gold__void=False,
        )
        .order_by("annotation__submitted_at")
        .values_list(
            "member_id",
            "annotation__submitted_at",
            "item_right",
            "errors_reached",
            "errors_caught",
            "sound_reached",
            "false_alarms",
            "annotation__solution_id",
        )
    )
    for member_id, at, right, reached, caught, sound, alarms, solution_id in rows:
        check = Check(at, right, reached, caught, sound, alarms, solution_id)
        found.setdefault(member_id, Record([], [])).checks.append(check)
    words = StandingEvent.objects.filter(member__project=project, kind__in=WORDS).order_by("at")
    for member_id, at, kind in words.values_list("member_id", "at", "kind"):
        found.setdefault(member_id, Record([], [])).words.append((at, Override(kind)))
    return found


def rule_of(project: Project) -> Rule:
    """The CUSUM's rule: the project's own p0, else fitted from calibration rounds, else the default."""
    if project.cusum_p0 is not None:
        return Rule(project.cusum_p0, project.cusum_p0 - 0.20)
    rounds = CalibrationRound.objects.filter(project=project).values_list("solution_ids", flat=True)
    items = {solution for each in rounds for solution in each}
    outcomes: dict[int, list[bool | None]] = {}
    rows = GoldResult.objects.filter(
        member__project=project,
        member__standing=Membership.Standing.CLEAR,
        annotation__solution_id__in=items,
        annotation__current=True,
        annotation__solution__gold__void=False,
    ).values_list("member_id", "item_right")
    for member_id, right in rows:
        outcomes.setdefault(member_id, []).append(right)
    return fit_rule(list(outcomes.values()))[0]
