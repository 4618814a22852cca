"""Calibration rounds: the same gold items for everybody, at the start and at each version of the guidelines."""

from __future__ import annotations

import math
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.core.labels import NO_ERROR, acceptable_stops
from annotator.models import Assignment, AuditEvent, CalibrationRound, Gold, Guidelines, Membership, Project

#: Of a round's items at least this share has an error: a round of sound solutions would calibrate nobody's eye.
WITH_ERROR = 0.4


class NotEnoughGold(ValueError):
    """There are too few hidden items that nobody has had, or too few with an error; the message says how many."""


class NoneOpen(ValueError):
    """No round is open."""


@transaction.atomic
def start(*, actor: Actor) -> CalibrationRound:
    """Open a round for the newest guidelines, and close the one that is open. Raises NotAllowed, NotEnoughGold.

    Its items are new to everybody who is in the project now, since nobody gets a check twice.
    """
    access.require(actor, Verb.MANAGE)
    project = Project.objects.select_for_update(no_key=True).get(pk=actor.project_id)
    items = _choose(project)
    before = _close_open(project.pk)
    made = CalibrationRound.objects.create(
        project=project,
        guidelines=Guidelines.objects.filter(project=project).order_by("-version").first(),
        solution_ids=items,
        started_by_id=actor.member_id,
    )
    _record(
        "calibration:started",
        made,
        actor,
        {"before": {"open": before}, "after": {"open": made.pk, "items": items}},
    )
    return made


@transaction.atomic
def close(*, actor: Actor) -> CalibrationRound:
    """End the open round; who hasn't had all its items gets no more of them as such. Raises NotAllowed, NoneOpen."""
    access.require(actor, Verb.MANAGE)
    Project.objects.select_for_update(no_key=True).get(pk=actor.project_id)
    current = CalibrationRound.objects.filter(project_id=actor.project_id, closed_at=None).first()
    if current is None:
        raise NoneOpen("No calibration round is open.")
    _close_open(actor.project_id)
    _record("calibration:closed", current, actor, {"before": {"open": current.pk}, "after": {"open": None}})
    current.refresh_from_db()
    return current


def _choose(project: Project) -> list[int]:
    """``calibration_size`` items, at random, of which enough have an error. Raises NotEnoughGold."""
    active = Membership.objects.filter(project=project).exclude(state=Membership.State.REMOVED)
    had = Assignment.objects.filter(solution_id=OuterRef("solution_id"), member__in=active)
    fresh = Gold.objects.filter(~Exists(had), project=project).usable(Gold.Use.HIDDEN).order_by("?")
    wrong: list[int] = []
    sound: list[int] = []
    for item in fresh.only("solution_id", "accept"):
        (sound if NO_ERROR in acceptable_stops(item.accept) else wrong).append(item.solution_id)
    size = project.calibration_size
    need = math.ceil(WITH_ERROR * size)
    if len(wrong) < need or len(wrong) + len(sound) < size:
        raise NotEnoughGold(
            f"A round needs {size} hidden gold solutions that nobody here has had, {need} of them with an error; "
            f"there are {len(wrong) + len(sound)}, {len(wrong)} with an error. "
            "Import gold, decide more cases, or make the round smaller on the settings page."
        )
    return sorted(_mixed(wrong, sound, size, need))


def _mixed(wrong: Sequence[int], sound: Sequence[int], size: int, need: int) -> list[int]:
    """As many with an error as without, where there are enough of both."""
    n_wrong = max(need, size - len(sound), min(len(wrong), size // 2))
    return [*wrong[:n_wrong], *sound[: size - n_wrong]]


def _close_open(project_id: int) -> int | None:
    rows = CalibrationRound.objects.filter(project_id=project_id, closed_at=None)
    found = rows.values_list("pk", flat=True).first()
    rows.update(closed_at=Now())
    return found


def _record(name: str, made: CalibrationRound, actor: Actor, data: dict[str, object]) -> None:
    AuditEvent.objects.record(
        name, f"calibration {made.pk}", project_id=actor.project_id, member_id=actor.member_id, data=data
    )
