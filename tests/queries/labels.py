"""Labels of a small project, written as submits would leave them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from annotator.actions import screening
from annotator.models import Annotation, Assignment, Gold, Membership, Project, Solution
from tests import factories as make

START = datetime(2026, 3, 1, tzinfo=UTC)


def handed_in(
    solution: Solution, member: Membership, *labels: int | None, slot: int | None = 0, **fields: Any
) -> Annotation:
    """An annotation of that person in that slot. ``route``, ``purpose`` and ``round`` belong to its assignment."""
    round_ = fields.pop("round", 1)
    assignment = Assignment.objects.create(
        project=solution.project,
        solution=solution,
        member=member,
        slot=slot,
        round=round_,
        purpose=fields.pop("purpose", Assignment.Purpose.WORK),
        state=Assignment.State.SUBMITTED,
        lease_expires_at=START,
        selection={"route": fields.pop("route", "priority")},
    )
    defaults = {
        "finish_reason": "found_error" if -1 in labels else "solution",
        "stop": labels.index(-1) if -1 in labels else -1,
        "active_seconds": 30.0,
        "submitted_at": START,
    }
    return Annotation.objects.create(
        solution=solution,
        member=member,
        assignment=assignment,
        n_steps=len(labels),
        round=round_,
        labels=list(labels),
        **{**defaults, **fields},
    )


def audited(
    project: Project, one: Membership, other: Membership, first: Any, second: Any, **fields: Any
) -> Solution:
    """A solution of the audit prefix that two people judged."""
    row = make.work(project, wanted=2, texts=[f"step {at}" for at in range(len(first))], **fields)
    row.taken = 2
    row.save(update_fields=["taken"])
    handed_in(row.solution, one, *first, slot=0, route="audit")
    handed_in(row.solution, other, *second, slot=1)
    return row.solution


def checked(gold: Gold, member: Membership, *labels: int | None, minutes: int = 0) -> Annotation:
    """A hidden check of that person, scored."""
    done = handed_in(
        gold.solution,
        member,
        *labels,
        slot=None,
        purpose=Assignment.Purpose.GOLD,
        submitted_at=START + timedelta(minutes=minutes),
    )
    screening.score_gold(annotation_id=done.pk)
    return done
