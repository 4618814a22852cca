"""Another segmentation of a solution: a new solution in the place of the old, with the same text.

Labels carry over where their step and everything before it are unchanged and nothing is left to be judged; all other
work comes back to the same person as a draft. The old solution keeps its labels, but they no longer count, and it is
no longer handed out. The new one inherits the old one's place in the audit order, so the sample stays one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models.functions import Now

from annotator.actions import access, ordering, scoring
from annotator.actions.access import Actor, Verb
from annotator.actions.carrying import Carried, carry
from annotator.actions.members import recount
from annotator.core.segmentation import changes
from annotator.core.segmentation.changes import CannotChange
from annotator.core.solutions import ProblemImage, ProblemText, Step, steps_hash, stored_json
from annotator.models import (
    AdjudicationCase,
    Annotation,
    Assignment,
    AuditEvent,
    Gold,
    QueueRow,
    Scorer,
    Solution,
)

#: Why the labels of a superseded solution don't count.
RESEGMENTED = "resegmented"


class NoSuchSolution(Exception):
    """The project has no such solution, or it is superseded already."""


class CannotResegment(ValueError):
    """What keeps this solution as it is; the message says it in a sentence."""


@dataclass(frozen=True)
class Resegmented:
    """The new solution, and what became of the labels of the old one."""

    solution_id: int
    carried: Carried = field(default_factory=Carried)


@transaction.atomic
def resegment(
    *, actor: Actor, solution_id: int, steps: Sequence[Step], reason: str = "by hand"
) -> Resegmented:
    """Put a new segmentation in the place of a solution. Raises NotAllowed, NoSuchSolution, CannotResegment.

    Whoever holds the old one now may go on and hand it in, but it won't count; what they have marked so far comes
    back to them on the new one.
    """
    access.require(actor, Verb.MANAGE)
    old = _locked(actor, solution_id)
    before = [Step.from_json(step) for step in old.steps]
    try:
        changes.check_same_text(before, steps)
    except CannotChange as error:
        raise CannotResegment(f"Nothing was changed: {error}.") from None
    new = _written(old, steps, reason)
    carried = _move(old, new, changes.unchanged(before, steps))
    Solution.objects.filter(pk=old.pk).update(superseded_at=Now())
    AdjudicationCase.objects.filter(solution=old, closed_at=None).update(closed_at=Now())
    for scorer in Scorer.objects.filter(project_id=actor.project_id):
        scoring.enqueue_scoring(scorer=scorer, solution_ids=[new.pk])
    recount(actor.project_id, [old.pk, new.pk])
    _record(actor, "solution:resegmented", old, new, {"steps": [len(before), len(steps)], "reason": reason})
    return Resegmented(new.pk, carried)


@transaction.atomic
def undo(*, actor: Actor, solution_id: int) -> int:
    """Bring the segmentation back that this solution replaced. Returns its id.

    Whoever holds the new one now may go on and hand it in, but it won't count.
    Raises NotAllowed, NoSuchSolution, and CannotResegment once somebody has judged the new one.
    """
    access.require(actor, Verb.MANAGE)
    new = _locked(actor, solution_id)
    old = new.derived_from
    if old is None:
        raise CannotResegment("This solution has the segmentation it came with.")
    own = Annotation.objects.filter(solution=new)
    if own.exclude(source=Annotation.Source.INHERITED).exists():
        raise CannotResegment("Somebody has judged the new steps; cut them anew instead.")
    theirs = Assignment.objects.filter(solution=new)
    theirs.filter(state=Assignment.State.SUBMITTED).update(state=Assignment.State.SKIPPED, slot=None)
    theirs.filter(state=Assignment.State.LIVE).update(state=Assignment.State.EXPIRED, slot=None)
    row = QueueRow.objects.select_for_update().filter(pk=new.pk).first()
    own.update(counted=False, uncounted_reason=RESEGMENTED)
    Annotation.objects.filter(solution=old, uncounted_reason=RESEGMENTED).update(
        counted=True, uncounted_reason=""
    )
    Solution.objects.filter(pk=new.pk).update(superseded_at=Now())
    Solution.objects.filter(pk=old.pk).update(superseded_at=None)
    if row is not None:
        _queue_row(row, old, Assignment.objects.filter(solution=old, slot__isnull=False).count())
        row.delete()
    ordering.ask_for_present_order(project_id=actor.project_id)  # its scores are there already
    recount(actor.project_id, [old.pk, new.pk])
    _record(actor, "solution:segmentation_restored", new, old, {})
    return old.pk


def _locked(actor: Actor, solution_id: int) -> Solution:
    rows = Solution.objects.select_for_update(of=("self",), no_key=True).select_related("project", "problem")
    found = rows.filter(pk=solution_id, project_id=actor.project_id, superseded_at=None).first()
    if found is None:
        raise NoSuchSolution
    if Gold.objects.filter(solution=found).exists():
        raise CannotResegment("This is gold: its labels were decided for the steps as they are.")
    return found


def _written(old: Solution, steps: Sequence[Step], reason: str) -> Solution:
    images = tuple(ProblemImage(image["sha256"]) for image in old.problem.images)
    content = steps_hash(ProblemText(old.problem.text, images=images), steps)
    twin = Solution.objects.filter(project_id=old.project_id, content_hash=content).first()
    if twin is not None:
        raise CannotResegment(_why_not_again(old, twin))
    return Solution.objects.create(
        project_id=old.project_id,
        problem_id=old.problem_id,
        batch_id=old.batch_id,
        external_id=old.external_id,
        steps=list(stored_json(steps)),
        n_steps=len(steps),
        content_hash=content,
        generator=old.generator,
        final_answer=old.final_answer,
        answer_correct=old.answer_correct,
        meta=old.meta,
        derived_from=old,
        derived_reason=reason[:200],
    )


def _why_not_again(old: Solution, twin: Solution) -> str:
    """Why these steps can't be made: another solution of the project has or had them."""
    has = f"The project has these steps already: solution {twin.external_id or f'#{twin.pk}'}"
    if twin.superseded_at is None:
        return f"{has}."
    before: Solution | None = old
    while before is not None and before != twin:
        before = before.derived_from
    if before is None:
        return f"{has}, whose steps were put aside or taken back; they can't be made once more."
    return f"{has}, which was put aside for the present one; undo that instead."


def _move(old: Solution, new: Solution, same: int) -> Carried:
    """Queue row, labels and drafts go over; the old row goes, since nobody is to claim it."""
    carried = carry(old, new, same)
    Annotation.objects.filter(solution=old, counted=True).update(counted=False, uncounted_reason=RESEGMENTED)
    live = Assignment.objects.filter(solution=old, state=Assignment.State.LIVE)
    live.update(state=Assignment.State.EXPIRED, slot=None)
    # Behind the assignments, as in a submit: else the two could wait for each other.
    row = QueueRow.objects.select_for_update().filter(pk=old.pk).first()
    if row is not None:
        _queue_row(row, new, carried.labels)
        row.delete()
    return carried


def _queue_row(like: QueueRow, solution: Solution, taken: int) -> None:
    """A row in the place of another: the same draw of the audit order, still unscored."""
    QueueRow.objects.create(
        solution=solution,
        project_id=like.project_id,
        holdout=like.holdout,
        shuffle=like.shuffle,
        wanted=max(like.wanted, taken),
        taken=taken,
        audit_owed=0 if like.holdout else max(0, solution.project.labels_audit - taken),
        skill=like.skill,
    )


def _record(actor: Actor, name: str, old: Solution, new: Solution, data: dict[str, object]) -> None:
    AuditEvent.objects.record(
        name,
        f"solution {old.pk}",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data={**data, "before": {"solution": old.pk}, "after": {"solution": new.pk}},
    )
