"""The segmentation page: managers only; reports, one solution cut by buttons, many by a rule."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.actions import labeling
from annotator.models import Problem, Project, Role, Solution
from tests import factories as make
from tests.actions.flow import claim
from tests.web.conftest import People, signed_in_to

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/segmentation/"


def solution(project: Project) -> Solution:
    return make.work(project, texts=("First. Second.", "third", "fourth")).solution


def report(project: Project, **cut: object) -> Solution:
    """A person hands a solution in and reports its first step."""
    made = solution(project)
    person = make.actor(project)
    labeling.submit(
        actor=person,
        assignment_id=claim(person).pk,
        work=make.marked(1, 1, 1, details={"segmentation": {"0": cut}}),
    )
    return made


def test_a_manager_gets_in_and_others_do_not(people: People, project: Project) -> None:
    reviewer = signed_in_to(project, Role.REVIEWER)
    everybody = (people.manager, reviewer, people.annotator, people.stranger, people.nobody)
    assert [who.get(PAGE).status_code for who in everybody] == [200, 403, 403, 404, 302]
    cut = f"{PAGE}{solution(project).pk}"
    assert [who.get(cut).status_code for who in everybody] == [200, 403, 403, 404, 302]


def test_what_people_reported_is_listed(people: People, project: Project) -> None:
    made = report(project, **{"is": "coarse", "at": 7})
    page = people.manager.get(PAGE).content.decode()
    assert "1 solution has steps that people found too coarse or too fine." in page
    assert f"{PAGE}{made.pk}" in page


def test_the_list_costs_the_same_however_many_reports(people: People, project: Project) -> None:
    report(project, **{"is": "fine", "merge": "next"})
    with CaptureQueriesContext(
        connection,
    ) as few:
        people.manager.get(PAGE)
    for _ in range(4):
        report(project, **{"is": "fine", "merge": "next"})
    with CaptureQueriesContext(connection) as many:
        people.manager.get(PAGE)
    assert len(many) == len(few)


def test_a_report_can_be_followed_with_one_button(people: People, project: Project) -> None:
    made = report(project, **{"is": "coarse", "at": 7})
    assert 'value="split:0:7"' in people.manager.get(f"{PAGE}{made.pk}").content.decode()


def test_buttons_change_the_page_and_nothing_else_until_they_are_applied(
    people: People, project: Project
) -> None:
    made = solution(project)
    path = f"{PAGE}{made.pk}"
    shown = people.manager.post(path, {"plan": "[]", "do": "split:0:7"})
    assert [each["step"].text for each in shown.context["steps"]] == ["First.", "Second.", "third", "fourth"]
    shown = people.manager.post(path, {"plan": shown.context["plan"], "do": "merge:2"})
    assert json.loads(shown.context["plan"]) == ["split:0:7", "merge:2"]
    assert Solution.objects.count() == 1
    reply = people.manager.post(path, {"plan": shown.context["plan"], "do": "apply"}, follow=True)
    assert "Cut anew: 0 labels went over" in reply.content.decode()
    new = Solution.objects.get(derived_from=made)
    assert [step["text"] for step in new.steps] == ["First.", "Second.", "third\n\nfourth"]


def test_the_last_change_can_be_taken_back(people: People, project: Project) -> None:
    path = f"{PAGE}{solution(project).pk}"
    shown = people.manager.post(path, {"plan": '["split:0:7"]', "do": "back"})
    assert shown.context["plan"] == "[]"


@pytest.mark.parametrize(
    "do", ["merge:2", "split:0:0", "split:9:1", "burn:1", "merge:x", "split:0:99999999999"]
)
def test_a_change_that_cannot_be_made_is_said_and_the_others_are_kept(
    people: People, project: Project, do: str
) -> None:
    reply = people.manager.post(
        f"{PAGE}{solution(project).pk}", {"plan": '["split:0:7", "merge:2"]', "do": do}
    )
    assert reply.status_code == 422
    assert "That can" in reply.content.decode()
    assert json.loads(reply.context["plan"]) == ["split:0:7", "merge:2"]


def test_a_list_of_changes_holds_up_to_the_first_that_cannot_be_made(
    people: People, project: Project
) -> None:
    plan = json.dumps(["split:0:7", "bad", "merge:2"])
    reply = people.manager.post(f"{PAGE}{solution(project).pk}", {"plan": plan, "do": "apply"})
    assert (reply.status_code, reply.context["plan"]) == (422, '["split:0:7"]')
    assert not Solution.objects.exclude(derived_from=None).exists()


def test_one_change_too_many_is_said(
    people: People, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.web.segmentation.MOST_CHANGES", 1)
    reply = people.manager.post(f"{PAGE}{solution(project).pk}", {"plan": '["split:0:7"]', "do": "merge:2"})
    assert "one visit makes at most 1 changes" in reply.content.decode()


def test_what_a_change_costs_is_said_before(people: People, project: Project) -> None:
    made = report(project, **{"is": "coarse", "at": 7})
    page = people.manager.post(f"{PAGE}{made.pk}", {"plan": "[]", "do": "merge:1"}).content.decode()
    assert "The first 1 step is unchanged." in page
    assert "Labels that go over: 0; that come back as drafts: 1." in page


def test_a_batch_is_shown_before_it_is_cut(people: People, project: Project) -> None:
    made = solution(project)
    Problem.objects.update(subject="Sets")
    form = {"rule": "sentence", "subject": "Sets", "do": "preview"}
    page = people.manager.post(PAGE, form)
    assert "1 would change, 0 are cut so already." in page.content.decode()
    assert Solution.objects.count() == 1
    apply = {**form, "do": "apply", "seen": page.context["seen"]}
    reply = people.manager.post(PAGE, apply, follow=True).content.decode()
    assert "1 solution was cut anew." in reply
    assert Solution.objects.get(derived_from=made).derived_reason == "rule sentence"


def test_what_was_not_looked_at_is_shown_rather_than_cut(people: People, project: Project) -> None:
    solution(project)
    Problem.objects.update(subject="Sets", domain="maths")
    seen = people.manager.post(PAGE, {"rule": "sentence", "subject": "Sets"}).context["seen"]
    other = {"rule": "sentence", "domain": "maths", "seen": seen, "do": "apply"}
    reply = people.manager.post(PAGE, other)
    assert reply.status_code == 422
    assert "You have chosen otherwise since you looked." in reply.content.decode()
    assert (reply.context["preview"].changed, Solution.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"rule": "sentence"}, "Choose a subject, a domain or an import first."),
        ({"rule": "sentence", "domain": "nowhere"}, "No solution in this project is of that subject"),
        ({"rule": "nonsense", "subject": "Sets"}, "no segmentation rule is called"),
    ],
)
def test_a_batch_without_a_choice_or_a_rule_is_refused(
    people: People, project: Project, form: dict[str, str], said: str
) -> None:
    solution(project)
    Problem.objects.update(subject="Sets")
    reply = people.manager.post(PAGE, {**form, "do": "apply"})
    assert reply.status_code == 422
    assert said in reply.content.decode()


def test_a_change_can_be_undone_from_the_list(people: People, project: Project) -> None:
    made = solution(project)
    people.manager.post(f"{PAGE}{made.pk}", {"plan": '["merge:0"]', "do": "apply"})
    new = Solution.objects.get(derived_from=made)
    page = people.manager.post(f"{PAGE}{new.pk}/undo", follow=True).content.decode()
    assert "The earlier steps are back." in page
    assert people.manager.get(f"{PAGE}{new.pk}").status_code == 404
