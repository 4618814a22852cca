"""Questions to the lead, and answers that become notes beside the guidelines."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.db.models.functions import Now

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.actions.labeling import own_assignment
from annotator.core.details import is_text
from annotator.models import AuditEvent, Question


class EmptyText(ValueError):
    """A question or an answer without words, or with too many."""


class NoSuchQuestion(Exception):
    """No such question in this project."""


@transaction.atomic
def ask(*, actor: Actor, assignment_id: uuid.UUID, text: str, step: int | None = None) -> Question:
    """Ask about a solution one was given. Raises NoSuchAssignment, EmptyText."""
    assignment = own_assignment(actor=actor, assignment_id=assignment_id)
    if step is not None and not 0 <= step < assignment.solution.n_steps:
        raise EmptyText("There is no such step.")
    question = Question.objects.create(
        assignment=assignment,
        project_id=actor.project_id,
        member_id=actor.member,
        step=step,
        text=_words(text, "Write the question first."),
    )
    AuditEvent.objects.record(
        "question:asked", f"question {question.pk}", project_id=actor.project_id, member_id=actor.member_id
    )
    return question


@transaction.atomic
def answer(*, actor: Actor, question_id: int, text: str, publish: bool) -> Question:
    """Answer a question; ``publish`` shows question and answer to all beside the guidelines.

    Raises NotAllowed, NoSuchQuestion, EmptyText.
    """
    access.require(actor, Verb.ANSWER)
    rows = Question.objects.select_for_update().filter(pk=question_id, project_id=actor.project_id)
    question = rows.first()
    if question is None:
        raise NoSuchQuestion
    before = {"answered": bool(question.answer), "published": question.published}
    question.answer = _words(text, "Write the answer first.")
    question.answered_by_id = actor.member_id
    question.published = publish
    question.save(update_fields=["answer", "answered_by", "published"])
    rows.update(answered_at=Now())
    AuditEvent.objects.record(
        "question:answered",
        f"question {question.pk}",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data={"before": before, "after": {"answered": True, "published": publish}},
    )
    return question


def _words(text: str, missing: str) -> str:
    if not text.strip():
        raise EmptyText(missing)
    if not is_text(text):
        raise EmptyText("That is too long, or holds signs that can't be stored.")
    return text.strip()
