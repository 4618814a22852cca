"""Aids that a project may offer beside a solution. Each use is kept with the assignment and so with the label."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotator.actions.access import Actor
from annotator.actions.labeling import own_assignment
from annotator.core.checks import check_equations
from annotator.models import AuditEvent, Project, Solution


class AidOff(Exception):
    """The project doesn't offer this aid."""


@dataclass(frozen=True)
class Aid:
    """``content``: for equations [{"step", "start", "end", "verdict"}], else {"text"} (None: nothing is known)."""

    name: str
    content: Any


@transaction.atomic
def open_aid(*, actor: Actor, assignment_id: uuid.UUID, name: str) -> Aid:
    """Show an aid and note that it was seen. Raises NoSuchAssignment, AidOff."""
    assignment = own_assignment(actor=actor, assignment_id=assignment_id)
    if not _offered(assignment.project, name):
        raise AidOff("This project doesn't offer that aid.")
    if name not in assignment.aids:
        assignment.aids = [*assignment.aids, name]
        assignment.save(update_fields=["aids"])
        AuditEvent.objects.record(
            "aid:opened",
            f"assignment {assignment.pk}",
            project_id=actor.project_id,
            member_id=actor.member_id,
            data={"aid": name},
        )
    return Aid(name, _content(name, assignment.solution))


def _offered(project: Project, name: str) -> bool:
    offers = {
        "equations": project.aid_equations,
        "reference": project.aid_reference,
        "answer": project.aid_answer,
    }
    return offers.get(name, False)


def _content(name: str, solution: Solution) -> Any:
    if name == "reference":
        return {"text": solution.problem.solution or solution.problem.answer}
    if name == "answer":
        words = {True: "The final answer is right.", False: "The final answer is wrong."}
        return {"text": None if solution.answer_correct is None else words[solution.answer_correct]}
    return [
        {"step": index, "start": check.start, "end": check.end, "verdict": check.verdict.value}
        for index, step in enumerate(solution.steps)
        for check in check_equations(step["text"])
    ]
