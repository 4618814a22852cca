"""Aids: shown where the project offers them, and their use kept with the label."""

from __future__ import annotations

import uuid

import pytest

from annotator.actions import aids, labeling, queueing
from annotator.actions.access import Actor
from annotator.actions.aids import AidOff
from annotator.actions.labeling import NoSuchAssignment
from annotator.models import Annotation, Assignment, AuditEvent, Problem, Project, Solution
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
    make.work(project, texts=["$2+2=4$", "$3 \\cdot 3 = 10$", "so it is"])
    return queueing.next_assignment(actor=me)


@pytest.mark.parametrize("name", ["equations", "reference", "answer", "scores"])
def test_all_are_off_at_first_and_unknown_ones_always(me: Actor, assignment: Assignment, name: str) -> None:
    with pytest.raises(AidOff):
        aids.open_aid(actor=me, assignment_id=assignment.pk, name=name)
    assert Assignment.objects.get(pk=assignment.pk).aids == []


def test_the_reference_is_shown_and_its_use_goes_with_the_label(me: Actor, assignment: Assignment) -> None:
    Project.objects.update(aid_reference=True)
    Problem.objects.update(solution="By symmetry.")
    opened = aids.open_aid(actor=me, assignment_id=assignment.pk, name="reference")
    labeling.submit(actor=me, assignment_id=assignment.pk, work=make.marked(1, -1, None))
    assert opened.content == {"text": "By symmetry."}
    assert Annotation.objects.get().details["aids"] == ["reference"]


def test_without_a_reference_solution_the_answer_is_shown(me: Actor, assignment: Assignment) -> None:
    Project.objects.update(aid_reference=True)
    Problem.objects.update(solution=None, answer="42")
    assert aids.open_aid(actor=me, assignment_id=assignment.pk, name="reference").content == {"text": "42"}


@pytest.mark.parametrize(
    ("correct", "said"),
    [(True, "The final answer is right."), (False, "The final answer is wrong."), (None, None)],
)
def test_the_answers_correctness_is_said_in_words(
    me: Actor, assignment: Assignment, correct: bool | None, said: str | None
) -> None:
    Project.objects.update(aid_answer=True)
    Solution.objects.update(answer_correct=correct)
    assert aids.open_aid(actor=me, assignment_id=assignment.pk, name="answer").content == {"text": said}


def test_equations_are_checked_step_by_step(me: Actor, assignment: Assignment) -> None:
    Project.objects.update(aid_equations=True)
    found = aids.open_aid(actor=me, assignment_id=assignment.pk, name="equations").content
    assert [each["step"] for each in found] == [0, 1]
    assert found[0]["verdict"] != found[1]["verdict"]


def test_opening_twice_is_one_use(me: Actor, assignment: Assignment) -> None:
    Project.objects.update(aid_reference=True)
    for _ in range(2):
        aids.open_aid(actor=me, assignment_id=assignment.pk, name="reference")
    assert Assignment.objects.get(pk=assignment.pk).aids == ["reference"]
    assert AuditEvent.objects.filter(name="aid:opened").count() == 1


def test_a_person_cannot_claim_or_deny_uses(me: Actor, assignment: Assignment) -> None:
    work = make.marked(1, 1, 1, details={"aids": ["answer", "reference"]})
    labeling.submit(actor=me, assignment_id=assignment.pk, work=work)
    assert "aids" not in Annotation.objects.get().details


def test_nobody_opens_an_aid_of_somebody_elses(project: Project, assignment: Assignment) -> None:
    Project.objects.update(aid_reference=True)
    for actor, number in ((make.actor(project), assignment.pk), (make.actor(project), uuid.uuid4())):
        with pytest.raises(NoSuchAssignment):
            aids.open_aid(actor=actor, assignment_id=number, name="reference")


@pytest.mark.parametrize(
    ("reference", "stated", "said"),
    [
        ("1/2", "0.5", "The final answer is right."),
        ("1/2", "0.6", "The final answer is wrong."),
        (None, "0.5", None),
        ("1/2", None, None),
    ],
)
def test_where_the_file_does_not_say_the_answers_are_compared(
    me: Actor, assignment: Assignment, reference: str | None, stated: str | None, said: str | None
) -> None:
    Project.objects.update(aid_answer=True)
    Problem.objects.update(answer=reference)
    Solution.objects.update(answer_correct=None, final_answer=stated)
    assert aids.open_aid(actor=me, assignment_id=assignment.pk, name="answer").content == {"text": said}


def test_equations_with_variables_are_checked_by_algebra(
    me: Actor, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aids, "ALGEBRA_SECONDS", 60.0)
    Project.objects.update(aid_equations=True)
    make.work(project, texts=["$(x+1)^2 = x^2 + 2x + 1$", "$(x+1)^2 = x^2 + 2x + 2$"])
    assignment = queueing.next_assignment(actor=me)
    found = aids.open_aid(actor=me, assignment_id=assignment.pk, name="equations").content
    assert [(each["step"], each["verdict"]) for each in found] == [(0, "holds"), (1, "does_not_hold")]


def test_algebra_is_given_up_when_somebody_has_waited_long_enough(
    me: Actor, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    Project.objects.update(aid_equations=True)
    monkeypatch.setattr(aids, "ALGEBRA_SECONDS", -1.0)
    make.work(project, texts=["$(x+1)^2 = x^2 + 2x + 2$ and $3 + 4 = 8$"])
    assignment = queueing.next_assignment(actor=me)
    found = aids.open_aid(actor=me, assignment_id=assignment.pk, name="equations").content
    assert [each["verdict"] for each in found if each["verdict"] != "not_checked"] == ["does_not_hold"]
