"""Questions and answers: for reviewers and managers; a published answer is a note beside the guidelines."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.actions import questions, queueing
from annotator.models import Membership, Project, Question, Role
from tests import factories as make
from tests.web.conftest import People, browser, signed_in_to

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/questions/"


@pytest.fixture
def me(project: Project) -> Membership:
    return make.member(project)


def ask(me: Membership, text: str = "Is this neutral?", step: int | None = None) -> Question:
    make.work(me.project)
    assignment = queueing.next_assignment(actor=make.as_actor(me))
    return questions.ask(actor=make.as_actor(me), assignment_id=assignment.pk, text=text, step=step)


def test_reviewers_and_managers_get_in_and_others_do_not(people: People, project: Project) -> None:
    reviewer = signed_in_to(project, Role.REVIEWER)
    everybody = (people.manager, reviewer, people.annotator, people.stranger, people.nobody)
    assert [who.get(PAGE).status_code for who in everybody] == [200, 200, 403, 404, 302]


def test_without_questions_the_page_says_how_they_come(people: People) -> None:
    assert "Nobody has asked anything yet" in people.manager.get(PAGE).content.decode()


def test_a_question_comes_with_its_problem_and_step_and_a_pseudonym(people: People, me: Membership) -> None:
    asked = ask(me, step=1)
    page = people.manager.get(PAGE).content.decode()
    for text in ("Is this neutral?", asked.assignment.solution.problem.text, "Step 2", me.pseudonym):
        assert text in page
    assert me.user is not None
    assert me.user.username not in page


def test_an_answer_is_kept_and_published_only_where_asked(people: People, me: Membership) -> None:
    kept, shown = ask(me, "First?"), ask(me, "Second?")
    people.manager.post(f"{PAGE}{kept.pk}/answer", {"answer": "Yes."})
    people.manager.post(f"{PAGE}{shown.pk}/answer", {"answer": "No.", "publish": "1"})
    answers = Question.objects.order_by("pk").values_list("answer", "published")
    assert list(answers) == [("Yes.", False), ("No.", True)]
    notes = browser(me.user).get("/p/maths/label/").context["bench"].project.notes
    assert [(note.question, note.answer) for note in notes] == [("Second?", "No.")]


def test_the_headline_counts_what_waits(people: People, me: Membership) -> None:
    first = ask(me)
    ask(me)
    assert people.manager.get(PAGE).context["open"] == 2
    people.manager.post(f"{PAGE}{first.pk}/answer", {"answer": "Yes."})
    assert people.manager.get(PAGE).context["open"] == 1


def test_an_empty_answer_is_refused_beside_its_field_and_others_stay(people: People, me: Membership) -> None:
    asked = ask(me)
    reply = people.manager.post(f"{PAGE}{asked.pk}/answer", {"answer": "  "})
    assert reply.status_code == 422
    assert f'id="answer-{asked.pk}-error"' in reply.content.decode()
    assert Question.objects.get().answer == ""


def test_an_answer_that_is_too_long_is_still_in_its_field(people: People, me: Membership) -> None:
    asked = ask(me)
    long = "why " * 2_000
    reply = people.manager.post(f"{PAGE}{asked.pk}/answer", {"answer": long})
    assert reply.status_code == 422
    assert long.strip() in reply.content.decode()


def test_nobody_answers_for_another_project(people: People, me: Membership) -> None:
    asked = ask(me)
    elsewhere = make.project(slug="elsewhere")
    manager = signed_in_to(elsewhere, Role.MANAGER)
    reply = manager.post(f"/p/elsewhere/questions/{asked.pk}/answer", {"answer": "Mine."})
    assert (reply.status_code, Question.objects.get().answer) == (404, "")


def test_an_annotator_answers_nothing(people: People, me: Membership) -> None:
    asked = ask(me)
    assert people.annotator.post(f"{PAGE}{asked.pk}/answer", {"answer": "Yes."}).status_code == 403
    assert Question.objects.get().answer == ""


def test_the_number_of_queries_does_not_grow(
    people: People, me: Membership, django_assert_max_num_queries: Any
) -> None:
    for _ in range(10):
        ask(me)
    with django_assert_max_num_queries(7):
        people.manager.get(PAGE)
