"""What a person learns after a practice solution: the acceptable labels, never of any other gold."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from annotator.core.labels import Mode, accept_bit, acceptable_stops, stop
from annotator.models import Annotation, Assignment, Gold, Project
from annotator.queries.workbench import ProjectView, StepView, project_view


@dataclass(frozen=True)
class RevealedStep:
    """One step with the person's label and the acceptable ones; ``right`` is None where nothing is compared."""

    view: StepView
    acceptable: Sequence[int]
    right: bool | None


@dataclass(frozen=True)
class Revealed:
    """A practice solution after the person's own submit."""

    project: ProjectView
    assignment_id: str
    problem_text: str
    final_answer: str | None
    steps: Sequence[RevealedStep]
    right: bool
    note: str
    left: int


def reveal(*, assignment_id: uuid.UUID, member_id: int) -> Revealed | None:
    """The comparison, or None unless this is the person's own, submitted practice."""
    done = (
        Annotation.objects.filter(
            assignment_id=assignment_id,
            member_id=member_id,
            assignment__purpose=Assignment.Purpose.PRACTICE,
            solution__gold__use=Gold.Use.PRACTICE,
        )
        .select_related("solution__gold", "solution__problem", "solution__project")
        .first()
    )
    if done is None:
        return None
    solution, gold = done.solution, done.solution.gold
    steps = [
        _compare(StepView(index, step["kind"], step["judged"], step["text"], label), mask)
        for index, (step, label, mask) in enumerate(
            zip(solution.steps, done.labels, gold.accept, strict=True)
        )
    ]
    return Revealed(
        project=project_view(solution.project),
        assignment_id=str(assignment_id),
        problem_text=solution.problem.text,
        final_answer=solution.final_answer,
        steps=steps,
        right=_right(done, gold, solution.project),
        note=gold.note,
        left=practice_left(member_id=member_id, project_id=solution.project_id),
    )


def is_practice(assignment_id: uuid.UUID, *, member_id: int) -> bool:
    """Whether this is practice of this person's."""
    mine = Assignment.objects.filter(pk=assignment_id, member_id=member_id)
    return mine.filter(purpose=Assignment.Purpose.PRACTICE).exists()


def practice_left(*, member_id: int, project_id: int) -> int:
    """Practice solutions that the person has not had yet."""
    items = Gold.objects.filter(project_id=project_id).usable(Gold.Use.PRACTICE)
    return int(items.unseen_by(member_id).count())


def _compare(view: StepView, mask: int) -> RevealedStep:
    acceptable = [label for label in (1, 0, -1) if mask & accept_bit(label)]
    right = None if view.label is None or not mask else view.label in acceptable
    return RevealedStep(view, acceptable, right)


def _right(done: Annotation, gold: Gold, project: Project) -> bool:
    judged = [step["judged"] for step in done.solution.steps]
    if project.mode == Mode.FIRST_ERROR:
        return stop(done.labels, judged) in acceptable_stops(gold.accept)
    pairs = zip(done.labels, gold.accept, strict=True)
    return all(label is not None and mask & accept_bit(label) for label, mask in pairs if mask)
