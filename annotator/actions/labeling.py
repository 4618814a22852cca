"""Drafts, submits and skips: what a person does with an assignment."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotator.actions import access, hooks
from annotator.actions.access import Actor, Verb
from annotator.actions.slots import lease, release_slot, take_slot
from annotator.core import details as notes
from annotator.core import labels as rules
from annotator.core.labels import FinishReason, InvalidLabels, Mode
from annotator.jobs import enqueue
from annotator.models import Annotation, Assignment, AuditEvent, Guidelines, Membership, QueueRow, Solution

#: A solution is rarely looked at for longer; more is a clock that ran on.
MAX_SECONDS = 6 * 3600.0


class NoSuchAssignment(Exception):
    """There is no such assignment, or it is somebody else's: the two look the same."""


class AlreadyClosed(Exception):
    """The assignment was submitted or skipped before, by another request."""


class StaleDraft(Exception):
    """Somebody (another tab) saved a newer draft; ``assignment`` holds it."""

    def __init__(self, assignment: Assignment) -> None:
        super().__init__("A newer draft was saved elsewhere.")
        self.assignment = assignment


class CannotReopen(Exception):
    """The project, or what the solution was for, keeps it closed; the message says which."""


@dataclass(frozen=True)
class Work:
    """What a person has marked: one label per step (None: not judged) and what goes with it."""

    labels: Sequence[int | None]
    details: Mapping[str, Any]
    finish_reason: str
    active_seconds: float


@dataclass(frozen=True)
class Submitted:
    """``counted`` is False for a late submit whose slot somebody else has filled."""

    annotation_id: int
    counted: bool


@transaction.atomic
def save_draft(*, actor: Actor, assignment_id: uuid.UUID, work: Work, version: int) -> int:
    """Keep unfinished work and renew the lease. Returns the new version.

    Raises NoSuchAssignment, AlreadyClosed, StaleDraft, and InvalidLabels for what could never be submitted.
    """
    assignment = own_assignment(actor=actor, assignment_id=assignment_id)
    if not _takes_labels(assignment):
        raise AlreadyClosed
    rules.check_shape(work.labels, _judged(assignment.solution))
    draft = {
        "labels": list(work.labels),
        "details": notes.clean(work.details, assignment.solution.n_steps, draft=True),
        "finish_reason": work.finish_reason if work.finish_reason in set(FinishReason) else "",
        "active_seconds": _seconds(work.active_seconds),
    }
    if version != assignment.draft_version:
        if draft == assignment.draft:
            return assignment.draft_version  # the reply to the first try was lost
        raise StaleDraft(assignment)
    assignment.draft, assignment.draft_version = draft, version + 1
    assignment.save(update_fields=["draft", "draft_version"])
    if assignment.state == Assignment.State.LIVE:
        until = lease(assignment.project)
        Assignment.objects.filter(pk=assignment.pk).update(lease_expires_at=until)
    return assignment.draft_version


@transaction.atomic
def submit(
    *, actor: Actor, assignment_id: uuid.UUID, work: Work, client_id: uuid.UUID | None = None
) -> Submitted:
    """Store the labels as an annotation. The same ``client_id`` again gets the same result.

    An assignment that was opened again gets a new version, which takes the place of the one before.
    Raises NoSuchAssignment, AlreadyClosed, and InvalidLabels while something is missing.
    """
    assignment = own_assignment(actor=actor, assignment_id=assignment_id)
    repeated = _repeated(assignment, client_id)
    if repeated is not None:
        return repeated
    if not _takes_labels(assignment):
        raise AlreadyClosed
    details, reason = _checked(assignment, work), _reason(work.finish_reason)
    before = assignment.annotations.filter(current=True).first()
    why_not = _revise(assignment, before, reason) if before else _close(assignment, actor, reason)
    annotation = Annotation.objects.create(
        solution=assignment.solution,
        member_id=actor.member,
        assignment=assignment,
        n_steps=assignment.solution.n_steps,
        round=assignment.round,
        version=before.version + 1 if before else 1,
        labels=list(work.labels),
        stop=rules.stop(work.labels, _judged(assignment.solution)),
        finish_reason=work.finish_reason,
        details=details,
        active_seconds=_seconds(work.active_seconds),
        counted=not why_not,
        uncounted_reason=why_not,
        guidelines=Guidelines.objects.filter(project_id=actor.project_id).order_by("-version").first(),
        client_id=client_id,
    )
    _follow_up(annotation, actor)
    return Submitted(annotation.pk, annotation.counted)


@transaction.atomic
def reopen(*, actor: Actor, assignment_id: uuid.UUID) -> Assignment:
    """Open a submitted solution again, with its labels as the draft. Raises NoSuchAssignment, CannotReopen.

    Practice stays closed: its labels were shown.
    """
    assignment = own_assignment(actor=actor, assignment_id=assignment_id)
    last = assignment.annotations.filter(current=True).first()
    if assignment.reopened:
        return assignment
    if last is None or assignment.purpose == Assignment.Purpose.PRACTICE:
        raise CannotReopen("Only work that you handed in can be opened again.")
    if assignment.solution.adjudications.exists():
        raise CannotReopen("A reviewer has decided on this one since; your labels stay as they are.")
    hours = assignment.project.reopen_hours
    if last.submitted_at < timezone.now() - timedelta(hours=hours):
        raise CannotReopen(
            f"This was handed in more than {hours} hours ago; ask a manager to have it judged again."
        )
    assignment.reopened = True
    assignment.draft = {
        "labels": last.labels,
        "details": last.details,
        "finish_reason": last.finish_reason,
        "active_seconds": last.active_seconds or 0.0,
    }
    assignment.draft_version += 1
    assignment.save(update_fields=["reopened", "draft", "draft_version"])
    _record("annotation:reopened", f"annotation {last.pk}", actor, {"version": last.version})
    return assignment


@transaction.atomic
def close_again(*, actor: Actor, assignment_id: uuid.UUID) -> None:
    """Leave a reopened solution as it was. Raises NoSuchAssignment."""
    assignment = own_assignment(actor=actor, assignment_id=assignment_id)
    Assignment.objects.filter(pk=assignment.pk).update(reopened=False)


@transaction.atomic
def skip(*, actor: Actor, assignment_id: uuid.UUID, reason: str) -> None:
    """Pass a solution on to somebody else; it doesn't come back to this person. Raises as `submit`."""
    assignment = own_assignment(actor=actor, assignment_id=assignment_id)
    if assignment.state == Assignment.State.SKIPPED:
        return
    if assignment.state == Assignment.State.SUBMITTED:
        raise AlreadyClosed
    if not reason.strip() or not notes.is_text(reason):
        raise InvalidLabels("say in a few words why you skip it")
    release_slot(assignment)
    assignment.state, assignment.slot = Assignment.State.SKIPPED, None
    assignment.skip_reason = reason.strip()[:500]
    assignment.save(update_fields=["state", "slot", "skip_reason"])
    Assignment.objects.filter(pk=assignment.pk).update(closed_at=Now())
    _record("assignment:skipped", f"assignment {assignment.pk}", actor, {"reason": assignment.skip_reason})


def own_assignment(*, actor: Actor, assignment_id: uuid.UUID) -> Assignment:
    """The person's own assignment, locked, with its solution and project. Raises NotAllowed, NoSuchAssignment."""
    access.require(actor, Verb.LABEL)
    assignment = (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("solution", "project")
        .filter(pk=assignment_id, member_id=actor.member, project_id=actor.project_id)
        .first()
    )
    if assignment is None:
        raise NoSuchAssignment
    return assignment


def _judged(solution: Solution) -> list[bool]:
    return [step["judged"] for step in solution.steps]


def _reason(value: str) -> FinishReason:
    try:
        return FinishReason(value)
    except ValueError:
        raise InvalidLabels("the finish reason is found_error, solution, give_up or bad_problem") from None


def _seconds(value: float) -> float:
    return min(max(value, 0.0), MAX_SECONDS) if value == value else 0.0


def _repeated(assignment: Assignment, client_id: uuid.UUID | None) -> Submitted | None:
    """What an earlier request of the same id got; None when this one is new."""
    if client_id is None:
        return None
    done = assignment.annotations.filter(client_id=client_id).first()
    return Submitted(done.pk, done.counted) if done else None


def _takes_labels(assignment: Assignment) -> bool:
    if assignment.state == Assignment.State.SUBMITTED:
        return assignment.reopened
    return assignment.state in {Assignment.State.LIVE, Assignment.State.EXPIRED}


def _checked(assignment: Assignment, work: Work) -> dict[str, Any]:
    """The details to store, once labels and details are complete by the project's rules. Raises InvalidLabels."""
    project, reason = assignment.project, _reason(work.finish_reason)
    details = notes.clean(work.details, assignment.solution.n_steps)
    details.pop("aids", None)  # what was opened is what we saw being opened
    if assignment.aids:
        details["aids"] = sorted(assignment.aids)
    rules.check(work.labels, _judged(assignment.solution), Mode(project.mode), reason)
    if reason in rules.CENSORED:
        if not details.get("reason"):
            raise InvalidLabels("say in a few words why, so that someone can look at it")
        return details
    notes.require(
        work.labels,
        details,
        error_types=project.error_types,
        need_type=project.require_error_type,
        need_comment=project.require_comment,
    )
    return details


def _follow_up(annotation: Annotation, actor: Actor) -> None:
    """The event, and the job: the same for gold and for work, so that a submit tells nothing by its time."""
    name = "annotation:submitted" if annotation.version == 1 else "annotation:revised"
    data = {"counted": annotation.counted, "version": annotation.version}
    _record(name, f"annotation {annotation.pk}", actor, data)
    enqueue(
        kind="labeling.follow_up",
        subject=f"annotation {annotation.pk}",
        project_id=actor.project_id,
        payload={"annotation_id": annotation.pk},
    )
    _announce(annotation, actor)


def _announce(annotation: Annotation, actor: Actor) -> None:
    """Tell those outside; a label is none of what they are told, and gold is told like work."""
    assert annotation.assignment is not None
    if annotation.assignment.purpose == Assignment.Purpose.PRACTICE:
        return
    if hooks.is_wanted(project_id=actor.project_id, event=hooks.Event.SUBMITTED):
        told = {
            "annotation": annotation.pk,
            "solution": annotation.solution.external_id or f"#{annotation.solution_id}",
            "annotator": annotation.member.pseudonym,
            "version": annotation.version,
        }
        hooks.announce(project_id=actor.project_id, event=hooks.Event.SUBMITTED, data=told)


def _revise(assignment: Assignment, before: Annotation, reason: FinishReason) -> str:
    """Take the place of an earlier version; returns why the new labels don't count, or "" when they do.

    Whoever had given up holds no slot: their labels count only where one is still free.
    """
    Annotation.objects.filter(pk=before.pk).update(current=False)
    why_not = before.uncounted_reason
    if reason is FinishReason.GIVE_UP:
        release_slot(assignment)
        assignment.slot = None
    elif assignment.slot is None and not why_not:
        why_not = _take_again(assignment)
    assignment.reopened = False
    assignment.save(update_fields=["slot", "reopened"])
    return why_not


def _take_again(assignment: Assignment) -> str:
    """Take a slot for work that holds none; returns "late" when others have filled them all."""
    if assignment.purpose != Assignment.Purpose.WORK:
        return ""
    row = QueueRow.objects.select_for_update().filter(pk=assignment.solution_id).first()
    if row is None:
        return "resegmented"
    if row.taken >= row.wanted:
        return "late"
    assignment.slot = take_slot(row, assignment.project)
    return ""


def _close(assignment: Assignment, actor: Actor, reason: FinishReason) -> str:
    """Move the assignment to submitted; returns why its labels don't count, or "" when they do.

    Labels that don't count, and a person who gave up, leave their slot to somebody else.
    """
    why_not = "" if actor.state == Membership.State.ACTIVE else "paused"
    if assignment.purpose == Assignment.Purpose.REPEAT:
        why_not = why_not or "repeat"
    if why_not or reason is FinishReason.GIVE_UP:
        release_slot(assignment)
        assignment.slot = None
    elif assignment.state == Assignment.State.EXPIRED:
        why_not = _take_again(assignment)
    assignment.state = Assignment.State.SUBMITTED
    assignment.save(update_fields=["state", "slot"])
    Assignment.objects.filter(pk=assignment.pk).update(closed_at=Now())
    return why_not


def _record(name: str, subject: str, actor: Actor, data: dict[str, Any]) -> None:
    AuditEvent.objects.record(
        name, subject, project_id=actor.project_id, member_id=actor.member_id, data=data
    )
