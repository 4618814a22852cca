"""What goes over from a solution to another segmentation of it: complete labels as labels, the rest as drafts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Now

from annotator.core import labels as rules
from annotator.core.labels import CENSORED, NO_ERROR, FinishReason, Mode
from annotator.core.segmentation import changes
from annotator.core.solutions import Step, judged_mask
from annotator.models import Adjudication, Annotation, Assignment, ReferenceLabels, Solution

#: Work that goes over; exams, hidden checks and practice are gold, and repeats measure a person on the old steps.
WORK = Assignment.Purpose.WORK


@dataclass(frozen=True)
class Carried:
    """How many people's labels went over whole, and how many came back to them as drafts; so with the others.

    ``reference`` and ``decision``: whether the file's labels and a reviewer's decision went over; None: there was none.
    """

    labels: int = 0
    drafts: int = 0
    reference: bool | None = None
    decision: bool | None = None


def carry(old: Solution, new: Solution, same: int) -> Carried:
    """Carry what the first ``same`` steps say. In the caller's transaction, which holds the solution."""
    after = [Step.from_json(step) for step in new.steps]
    labels = drafts = 0
    held = Assignment.objects.filter(solution=old, purpose=WORK, round=1)
    for assignment in held.exclude(state=Assignment.State.SKIPPED).order_by("pk").select_for_update():
        current = assignment.annotations.filter(current=True).first()
        marked = current.labels if current else assignment.draft.get("labels")
        if current is not None and current.counted and _whole(current, after, same, new):
            _label(assignment, current, new, after, same, slot=labels)
            labels += 1
        elif marked and (current is None or current.counted):
            _draft(assignment, current, new, after, same)
            drafts += 1
    return Carried(labels, drafts, _reference(old, new, same), _decision(old, new, after, same))


def _whole(current: Annotation, after: list[Step], same: int, new: Solution) -> bool:
    """Whether nothing is left to be judged. Who gave up or called the problem bad is asked again."""
    if FinishReason(current.finish_reason) in CENSORED:
        return False
    labels = changes.carried(current.labels, after, same)
    return changes.is_complete(labels, after, Mode(new.project.mode))


def _label(
    assignment: Assignment, current: Annotation, new: Solution, after: list[Step], same: int, *, slot: int
) -> None:
    labels = changes.carried(current.labels, after, same)
    moved = _assignment(assignment, new, Assignment.State.SUBMITTED, slot=slot)
    Annotation.objects.create(
        solution=new,
        member_id=current.member_id,
        assignment=moved,
        n_steps=new.n_steps,
        labels=labels,
        stop=rules.stop(labels, judged_mask(after)),
        finish_reason=rules.finish_reason(labels, Mode(new.project.mode)).value,
        details=changes.carried_details(current.details, same),
        active_seconds=None,  # the time was spent once, on the steps as they were
        source=Annotation.Source.INHERITED,
        guidelines_id=current.guidelines_id,
        submitted_at=current.submitted_at,
    )


def _draft(
    assignment: Assignment, current: Annotation | None, new: Solution, after: list[Step], same: int
) -> None:
    """An assignment that comes back to its person, with what still holds of their marks."""
    said: dict[str, Any] = assignment.draft
    if current is not None:
        said = {"labels": current.labels, "details": current.details}
    labels = changes.carried(said.get("labels") or [], after, same) if same else [None] * len(after)
    draft = {
        "labels": labels,
        "details": changes.carried_details(said.get("details") or {}, same),
        "finish_reason": "",
        "active_seconds": 0.0,
    }
    _assignment(assignment, new, Assignment.State.EXPIRED, draft=draft)


def _assignment(like: Assignment, new: Solution, state: Assignment.State, **fields: Any) -> Assignment:
    made = Assignment.objects.create(
        project_id=like.project_id,
        solution=new,
        member_id=like.member_id,
        purpose=WORK,
        state=state,
        lease_expires_at=Now(),
        selection=like.selection,
        position=like.position,
        aids=like.aids,
        draft_version=1 if "draft" in fields else 0,
        **fields,
    )
    if state == Assignment.State.SUBMITTED:
        Assignment.objects.filter(pk=made.pk).update(closed_at=like.closed_at or Now())
    return made


def _reference(old: Solution, new: Solution, same: int) -> bool | None:
    """The file's labels go over where their first error lies in what is unchanged."""
    known = ReferenceLabels.objects.filter(solution=old).first()
    if known is None:
        return None
    if known.first_error is None or not NO_ERROR < known.first_error < same:
        return False
    ReferenceLabels.objects.create(
        solution=new,
        n_steps=new.n_steps,
        labels=[*known.labels[:same], *[None] * (new.n_steps - same)],
        first_error=known.first_error,
    )
    return True


def _decision(old: Solution, new: Solution, after: list[Step], same: int) -> bool | None:
    """A reviewer's latest decision goes over by the same rule as labels."""
    latest = Adjudication.objects.filter(solution=old).order_by("-decided_at", "-pk").first()
    if latest is None:
        return None
    labels = changes.carried(latest.labels, after, same)
    if not changes.is_complete(labels, after, Mode(new.project.mode)):
        return False
    Adjudication.objects.create(
        solution=new,
        member_id=latest.member_id,
        n_steps=new.n_steps,
        labels=labels,
        stop=rules.stop(labels, judged_mask(after)),
        reason=latest.reason,
        note=latest.note,
    )
    return True
