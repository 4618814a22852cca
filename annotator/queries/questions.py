"""Questions for the lead to answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F

from annotator.models import Question

SHOWN = 50


@dataclass(frozen=True)
class QuestionView:
    """One question with what it is about. ``step_text`` is "" where it is about the whole solution."""

    id: int
    pseudonym: str
    text: str
    problem_text: str
    step_number: int | None
    step_text: str
    answer: str
    published: bool
    asked_at: datetime


def questions(project_id: int) -> Sequence[QuestionView]:
    """Unanswered ones first, then the newest; one query."""
    rows = (
        Question.objects.filter(project_id=project_id)
        .select_related("member", "assignment__solution__problem")
        .order_by(F("answered_at").desc(nulls_first=True), "-pk")
    )
    return [_view(row) for row in rows[:SHOWN]]


def _view(row: Question) -> QuestionView:
    solution = row.assignment.solution
    return QuestionView(
        id=row.pk,
        pseudonym=row.member.pseudonym,
        text=row.text,
        problem_text=solution.problem.text,
        step_number=None if row.step is None else row.step + 1,
        step_text="" if row.step is None else solution.steps[row.step]["text"],
        answer=row.answer,
        published=row.published,
        asked_at=row.asked_at,
    )
