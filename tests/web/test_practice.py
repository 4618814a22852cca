"""Practice: labels are shown after one's own submit, and never any other gold's."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.test import Client

from annotator.actions import labeling, queueing
from annotator.models import Annotation, Gold, Membership, Project, QueueRow
from tests import factories as make
from tests.web.conftest import People, browser

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/practice/"


@pytest.fixture
def me(project: Project) -> Membership:
    return make.member(project)


@pytest.fixture
def client(me: Membership) -> Client:
    return browser(me.user)


def practice_item(project: Project, *labels: int | None, note: str = "The sum is off by one.") -> Gold:
    item = make.gold(project, labels or (1, -1, None))
    Gold.objects.filter(pk=item.pk).update(use=Gold.Use.PRACTICE, note=note)
    return item


def submit(client: Client, assignment_id: Any, *labels: int | None) -> Any:
    reason = "found_error" if -1 in labels else "solution"
    data = {
        "labels": json.dumps(labels),
        "finish_reason": reason,
        "active_seconds": "9",
        "details": "{}",
        "client_id": str(uuid.uuid4()),
    }
    return client.post(f"{PAGE}{assignment_id}/submit", data)


def test_members_get_in_others_do_not(people: People) -> None:
    codes = [
        who.get(PAGE).status_code
        for who in (people.manager, people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [200, 200, 404, 302]


def test_the_page_tells_neither_labels_nor_note_before_the_submit(client: Client, project: Project) -> None:
    practice_item(project)
    reply = client.get(PAGE)
    assert reply.context["bench"].assignment_id
    assert "off by one" not in reply.content.decode()
    assert "Acceptable" not in reply.content.decode()


def test_after_the_submit_own_labels_stand_beside_the_acceptable_ones(
    client: Client, project: Project
) -> None:
    practice_item(project)
    reply = submit(client, client.get(PAGE).context["bench"].assignment_id, -1, None, None)
    revealed = reply.context["revealed"]
    assert (revealed.right, [step.right for step in revealed.steps]) == (False, [False, None, None])
    page = reply.content.decode()
    assert "The sum is off by one." in page
    assert "You: incorrect." in page
    assert 'id="bench"' in page


def test_right_labels_are_called_acceptable(client: Client, project: Project) -> None:
    practice_item(project)
    reply = submit(client, client.get(PAGE).context["bench"].assignment_id, 1, -1, None)
    assert reply.context["revealed"].right
    assert "Your labels are acceptable." in reply.content.decode()


def test_one_after_the_other_and_then_the_real_work(client: Client, project: Project) -> None:
    practice_item(project), practice_item(project)
    first = submit(client, client.get(PAGE).context["bench"].assignment_id, 1, -1, None)
    assert f'href="{PAGE}" data-practice-next' in first.content.decode()
    last = submit(client, client.get(PAGE).context["bench"].assignment_id, 1, -1, None)
    assert 'href="/p/maths/label/" data-practice-next' in last.content.decode()
    assert "That was the practice" in client.get(PAGE).content.decode()


def test_incomplete_labels_come_back_with_what_was_marked(client: Client, project: Project) -> None:
    practice_item(project)
    reply = submit(client, client.get(PAGE).context["bench"].assignment_id, 1, None, None)
    assert reply.status_code == 422
    assert [step.label for step in reply.context["bench"].steps] == [1, None, None]
    assert "revealed" not in reply.context
    assert "off by one" not in reply.content.decode()


def test_a_lost_reply_may_be_asked_for_again(client: Client, project: Project) -> None:
    practice_item(project)
    assignment = client.get(PAGE).context["bench"].assignment_id
    codes = [submit(client, assignment, 1, -1, None).status_code for _ in range(2)]
    assert (codes, Annotation.objects.count()) == ([200, 200], 1)


def test_hidden_gold_is_never_revealed_through_this_door(
    me: Membership, client: Client, project: Project
) -> None:
    hidden = make.gold(project)
    Gold.objects.filter(pk=hidden.pk).update(note="a secret reason")
    Project.objects.update(gold_rate=1.0)
    make.work(project)
    assignment = queueing.next_assignment(actor=make.as_actor(me))
    assert assignment.solution_id == hidden.solution_id
    reply = submit(client, assignment.pk, 1, -1, None)
    assert reply.status_code == 404
    assert "secret" not in reply.content.decode()


def test_ordinary_work_handed_in_here_reveals_nothing(
    me: Membership, client: Client, project: Project
) -> None:
    make.work(project)
    assignment = queueing.next_assignment(actor=make.as_actor(me))
    assert submit(client, assignment.pk, 1, -1, None).status_code == 404
    assert not Annotation.objects.filter(assignment=assignment).exists()


def test_nobody_sees_the_labels_through_somebody_elses_submit(
    me: Membership, client: Client, project: Project, people: People
) -> None:
    practice_item(project)
    assignment = client.get(PAGE).context["bench"].assignment_id
    submit(client, assignment, 1, -1, None)
    assert submit(people.annotator, assignment, 1, -1, None).status_code == 404


def test_practice_fills_no_slot_and_enters_no_list_of_mine(client: Client, project: Project) -> None:
    make.work(project)
    practice_item(project)
    submit(client, client.get(PAGE).context["bench"].assignment_id, 1, -1, None)
    assert QueueRow.objects.get().taken == 0
    assert client.get("/p/maths/mine/").context["submissions"] == []


def test_practice_stays_closed(me: Membership, client: Client, project: Project) -> None:
    practice_item(project)
    assignment = client.get(PAGE).context["bench"].assignment_id
    submit(client, assignment, 1, -1, None)
    assert client.post(f"/p/maths/label/{assignment}/reopen").status_code == 409
    assert Annotation.objects.get().labels == [1, -1, None]


def test_where_there_is_none_the_page_says_so(client: Client) -> None:
    page = client.get(PAGE).content.decode()
    assert "nothing to practise on" in page
    assert "data-submit-url" not in page


def test_hints_come_until_the_tour_was_seen(client: Client, project: Project) -> None:
    practice_item(project)
    assert "data-coach" in client.get(PAGE).content.decode()
    client.post("/preferences", json.dumps({"tour_seen": True}), content_type="application/json")
    assert "data-coach-text" not in client.get(PAGE).content.decode()


def test_home_offers_practice_until_it_was_had(me: Membership, client: Client, project: Project) -> None:
    practice_item(project)
    make.work(project)
    assert "New here?" in client.get("/").content.decode()
    assignment = queueing.next_practice(actor=make.as_actor(me))
    assert "New here?" in client.get("/").content.decode()
    labeling.submit(actor=make.as_actor(me), assignment_id=assignment.pk, work=make.marked(1, -1, None))
    assert "New here?" not in client.get("/").content.decode()


def test_the_number_of_queries_does_not_grow_with_practice(
    client: Client, project: Project, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        practice_item(project)
    client.get(PAGE)
    with django_assert_max_num_queries(22):
        client.get(PAGE)
