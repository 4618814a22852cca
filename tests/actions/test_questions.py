"""Questions to the lead, and their answers."""

from __future__ import annotations

import uuid

import pytest

from annotator.actions import questions, queueing
from annotator.actions.access import Actor, NotAllowed
from annotator.actions.labeling import NoSuchAssignment
from annotator.actions.questions import EmptyText, NoSuchQuestion
from annotator.models import Assignment, AuditEvent, Project, Question, Role
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def me(project: Project) -> Actor:
    return make.actor(project)


@pytest.fixture
def assignment(me: Actor, project: Project) -> Assignment:
    make.work(project)
    return queueing.next_assignment(actor=me)


def test_a_question_is_about_a_solution_or_one_step_of_it(me: Actor, assignment: Assignment) -> None:
    questions.ask(actor=me, assignment_id=assignment.pk, text=" Why? ")
    questions.ask(actor=me, assignment_id=assignment.pk, text="And here?", step=2)
    assert list(Question.objects.order_by("pk").values_list("text", "step")) == [
        ("Why?", None),
        ("And here?", 2),
    ]
    assert AuditEvent.objects.filter(name="question:asked").count() == 2


@pytest.mark.parametrize("text", ["", "  \n", "x" * 4_001, "nul \0 byte"])
def test_what_is_no_question_is_refused(me: Actor, assignment: Assignment, text: str) -> None:
    with pytest.raises(EmptyText):
        questions.ask(actor=me, assignment_id=assignment.pk, text=text)
    assert not Question.objects.exists()


@pytest.mark.parametrize("step", [-1, 3])
def test_a_step_that_is_not_there_is_refused(me: Actor, assignment: Assignment, step: int) -> None:
    with pytest.raises(EmptyText, match="no such step"):
        questions.ask(actor=me, assignment_id=assignment.pk, text="Why?", step=step)


def test_nobody_asks_about_somebody_elses(project: Project, assignment: Assignment) -> None:
    with pytest.raises(NoSuchAssignment):
        questions.ask(actor=make.actor(project), assignment_id=assignment.pk, text="Why?")


def test_nobody_asks_about_what_is_not_there(me: Actor) -> None:
    with pytest.raises(NoSuchAssignment):
        questions.ask(actor=me, assignment_id=uuid.uuid4(), text="Why?")


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.MANAGER])
def test_a_lead_answers(me: Actor, project: Project, assignment: Assignment, role: Role) -> None:
    asked = questions.ask(actor=me, assignment_id=assignment.pk, text="Why?")
    lead = make.actor(project, role)
    questions.answer(actor=lead, question_id=asked.pk, text="Because.", publish=True)
    asked.refresh_from_db()
    assert (asked.answer, asked.published, asked.answered_by_id) == ("Because.", True, lead.member_id)
    assert asked.answered_at is not None
    assert AuditEvent.objects.get(name="question:answered").data["after"] == {
        "answered": True,
        "published": True,
    }


def test_an_answer_can_be_changed_and_taken_back_from_the_notes(
    me: Actor, project: Project, assignment: Assignment
) -> None:
    asked = questions.ask(actor=me, assignment_id=assignment.pk, text="Why?")
    lead = make.actor(project, Role.REVIEWER)
    questions.answer(actor=lead, question_id=asked.pk, text="Because.", publish=True)
    questions.answer(actor=lead, question_id=asked.pk, text="Not quite.", publish=False)
    asked.refresh_from_db()
    assert (asked.answer, asked.published) == ("Not quite.", False)


def test_an_annotator_answers_nothing(me: Actor, assignment: Assignment) -> None:
    asked = questions.ask(actor=me, assignment_id=assignment.pk, text="Why?")
    with pytest.raises(NotAllowed):
        questions.answer(actor=me, question_id=asked.pk, text="I know.", publish=True)


def test_a_lead_of_another_project_finds_no_such_question(me: Actor, assignment: Assignment) -> None:
    asked = questions.ask(actor=me, assignment_id=assignment.pk, text="Why?")
    with pytest.raises(NoSuchQuestion):
        questions.answer(
            actor=make.actor(make.project(), Role.MANAGER), question_id=asked.pk, text="Hm.", publish=True
        )


def test_an_empty_answer_is_refused(me: Actor, project: Project, assignment: Assignment) -> None:
    asked = questions.ask(actor=me, assignment_id=assignment.pk, text="Why?")
    with pytest.raises(EmptyText, match="answer first"):
        questions.answer(
            actor=make.actor(project, Role.MANAGER), question_id=asked.pk, text=" ", publish=False
        )
