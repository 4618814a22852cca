"""Aids that a project may offer beside a solution. Each use is kept with the assignment and so with the label."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotator.actions.access import Actor
from annotator.actions.labeling import own_assignment
from annotator.core import symbolic
from annotator.core.answers import How, final_answer, same_answer
from annotator.core.identities import check_all
from annotator.core.solutions import Step, full_text
from annotator.models import AuditEvent, Project, Solution

#: Seconds after which no more equations with variables are checked for somebody who waits.
ALGEBRA_SECONDS = 4.0


class AidOff(Exception):
    """The project doesn't offer this aid."""


@dataclass(frozen=True)
class Aid:
    """``content``: for equations [{"step", "start", "end", "verdict"}], else {"text"} (None: nothing is known)."""

    name: str
    content: Any


def open_aid(*, actor: Actor, assignment_id: uuid.UUID, name: str) -> Aid:
    """Show an aid and note that it was seen. Raises NoSuchAssignment, AidOff.

    What takes time is computed once the note is written: no row waits for it.
    """
    return Aid(name, _content(name, _noted(actor, assignment_id, name)))


@transaction.atomic
def _noted(actor: Actor, assignment_id: uuid.UUID, name: str) -> Solution:
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
    return assignment.solution


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
        words = {True: "The final answer is right.", False: "The final answer is wrong.", None: None}
        return {"text": words[_answer_is_right(solution)]}
    return _equations(solution)


def _answer_is_right(solution: Solution) -> bool | None:
    """As the file says; where it doesn't, by comparing what the solution states with the reference."""
    if solution.answer_correct is not None:
        return solution.answer_correct
    stated = solution.final_answer
    if stated is None:
        found = final_answer(full_text(list(map(Step.from_json, solution.steps))))
        stated = found.text if found is not None and found.how is not How.NUMBER else None
    return same_answer(solution.problem.answer or "", stated or "")


def _equations(solution: Solution) -> list[dict[str, Any]]:
    """Every equation with its verdict: by numbers, and by algebra for as long as somebody may wait."""
    if any("=" in step["text"] for step in solution.steps):
        symbolic.warm()
    until = time.monotonic() + ALGEBRA_SECONDS
    return [
        {"step": index, "start": check.start, "end": check.end, "verdict": check.verdict.value}
        for index, step in enumerate(solution.steps)
        for check in check_all(step["text"], seconds=until - time.monotonic())
    ]
