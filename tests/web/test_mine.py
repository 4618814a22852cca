"""My submissions: what I handed in, my days, and opening again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotator.actions import labeling, questions, queueing
from annotator.models import Annotation, Assignment, Membership, Project, Role
from annotator.templatetags.durations import NARROW, duration
from tests import factories as make
from tests.web.conftest import People, browser, signed_in_to

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/mine/"


@pytest.fixture
def me(project: Project) -> Membership:
    return make.member(project)


@pytest.fixture
def client(me: Membership) -> Client:
    return browser(me.user)


def hand_in(me: Membership, *labels: int | None) -> Assignment:
    make.work(me.project)
    actor = make.as_actor(me)
    assignment = queueing.next_assignment(actor=actor)
    labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(*labels))
    return assignment


def handed_in_ago(me: Membership, ago: timedelta) -> Annotation:
    """A submission of the past; annotations can't be moved there, so it is written there."""
    solution = make.work(me.project).solution
    assignment = Assignment.objects.create(
        project=me.project,
        solution=solution,
        member=me,
        state=Assignment.State.SUBMITTED,
        slot=1,
        lease_expires_at=timezone.now(),
    )
    return Annotation.objects.create(
        solution=solution,
        member=me,
        assignment=assignment,
        n_steps=3,
        labels=[1, 1, 1],
        stop=-1,
        finish_reason="solution",
        active_seconds=60.0,
        submitted_at=timezone.now() - ago,
    )


def test_members_get_in_others_do_not(people: People) -> None:
    codes = [
        who.get(PAGE).status_code
        for who in (people.manager, people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [200, 200, 404, 302]


def test_before_the_first_submission_the_page_says_what_will_stand_there(people: People) -> None:
    page = people.annotator.get(PAGE).content.decode()
    assert "Nothing handed in yet" in page
    assert 'href="/p/maths/label/"' in page


def test_it_shows_my_submissions_and_nobody_elses(me: Membership, client: Client) -> None:
    mine = hand_in(me, 1, -1, None)
    hand_in(make.member(me.project), 1, 1, 1)
    shown = client.get(PAGE).context["submissions"]
    assert [(each.assignment_id, each.labels) for each in shown] == [(mine.pk, [1, -1, None])]


def test_marks_are_said_in_words_for_those_who_cannot_see_them(me: Membership, client: Client) -> None:
    hand_in(me, 1, -1, None)
    page = client.get(PAGE).content.decode()
    assert "3 steps: 1 correct, 1 incorrect (step 2), 1 not judged" in page


def test_only_the_last_twenty_are_listed(me: Membership, client: Client) -> None:
    for hours in range(22):
        handed_in_ago(me, timedelta(hours=hours))
    assert len(client.get(PAGE).context["submissions"]) == 20


def test_the_number_of_queries_does_not_grow(
    me: Membership,
    client: Client,
    django_assert_max_num_queries: Any,
) -> None:
    for hours in range(12):
        handed_in_ago(me, timedelta(hours=hours))
    with django_assert_max_num_queries(8):
        client.get(PAGE)


def test_opening_again_leads_to_the_workbench_with_this_solution(me: Membership, client: Client) -> None:
    done = hand_in(me, 1, 1, 1)
    reply = client.post(f"/p/maths/label/{done.pk}/reopen")
    assert (reply.status_code, reply["Location"]) == (302, f"/p/maths/label/?open={done.pk}")
    assert client.get(reply["Location"]).context["bench"].assignment_id == str(done.pk)


def test_what_is_too_old_says_so_and_offers_no_button(me: Membership, client: Client) -> None:
    old = handed_in_ago(me, timedelta(hours=25))
    page = client.get(PAGE).content.decode()
    assert "Closed: older than 24 hours" in page
    assert f"{old.assignment_id}/reopen" not in page


def test_a_forced_reopening_of_what_is_too_old_is_refused_in_words(me: Membership, client: Client) -> None:
    old = handed_in_ago(me, timedelta(hours=25))
    reply = client.post(f"/p/maths/label/{old.assignment_id}/reopen")
    assert reply.status_code == 409
    assert "24 hours" in reply.context["error"]
    assert not Assignment.objects.get(pk=old.assignment_id).reopened


def test_a_project_that_opens_nothing_again_says_so(me: Membership, client: Client) -> None:
    hand_in(me, 1, 1, 1)
    Project.objects.update(reopen_hours=0)
    page = client.get(PAGE).content.decode()
    assert "this project opens nothing again" in page
    assert "/reopen" not in page


def test_what_is_open_can_be_left_as_it_was(me: Membership, client: Client) -> None:
    done = hand_in(me, 1, 1, 1)
    client.post(f"/p/maths/label/{done.pk}/reopen")
    assert f"{done.pk}/leave" in client.get(PAGE).content.decode()
    reply = client.post(f"/p/maths/label/{done.pk}/leave")
    assert reply["Location"] == PAGE
    assert Annotation.objects.get(assignment=done).labels == [1, 1, 1]
    assert not Assignment.objects.get(pk=done.pk).reopened


def test_nobody_opens_somebody_elses(me: Membership, project: Project) -> None:
    done = hand_in(me, 1, 1, 1)
    other = signed_in_to(project, Role.MANAGER)
    assert other.post(f"/p/maths/label/{done.pk}/reopen").status_code == 404


def test_my_days_count_a_solution_that_was_opened_again_once(me: Membership, client: Client) -> None:
    done = hand_in(me, 1, 1, 1)
    actor = make.as_actor(me)
    labeling.reopen(actor=actor, assignment_id=done.pk)
    labeling.submit(actor=actor, assignment_id=done.pk, work=make.marked(1, -1, None))
    (day,) = client.get(PAGE).context["days"]
    assert (day.solutions, day.steps, round(day.hours * 3600, 1)) == (1, 2, 12.5)


def test_the_headline_sums_up_the_days(me: Membership, client: Client) -> None:
    handed_in_ago(me, timedelta(days=1))
    handed_in_ago(me, timedelta(days=2))
    total = client.get(PAGE).context["total"]
    assert (total.solutions, total.steps, round(total.hours * 60)) == (2, 6, 2)


def test_i_see_the_answer_to_my_question_whether_or_not_it_was_published(
    me: Membership, client: Client, people: People
) -> None:
    done = hand_in(me, 1, 1, 1)
    asked = questions.ask(actor=make.as_actor(me), assignment_id=done.pk, text="Neutral or correct?")
    lead = make.actor(me.project, Role.REVIEWER)
    questions.answer(actor=lead, question_id=asked.pk, text="Take neutral.", publish=False)
    assert "Take neutral." in client.get(PAGE).content.decode()
    assert "Take neutral." not in people.annotator.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "–"),
        (0, "0 s"),
        (8.4, "8 s"),
        (75, "1 min 15 s"),
        (659, "10 min"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
    ],
)
def test_a_length_of_time_is_said_in_the_units_that_matter(seconds: float | None, said: str) -> None:
    assert duration(seconds).replace(NARROW, " ") == said
