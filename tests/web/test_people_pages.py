"""Who gets into the pages about people and gold, what progress tells a person, and the rules of quality."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from annotator.models import (
    Adjudication,
    AuditEvent,
    Gold,
    Membership,
    Project,
    QueueRow,
    Role,
)
from tests import factories as make
from tests.actions.flow import checked, label, later
from tests.web.conftest import People, browser, signed_in_to

pytestmark = pytest.mark.django_db
MANAGERS = ["/p/maths/gold/", "/p/maths/audit/", "/p/maths/audit/export", "/p/maths/queue/"]


@pytest.mark.parametrize("page", MANAGERS)
def test_managers_get_in_and_others_do_not(people: People, project: Project, page: str) -> None:
    reviewer = signed_in_to(project, Role.REVIEWER)
    who = (people.manager, reviewer, people.annotator, people.stranger, people.nobody)
    assert [each.get(page).status_code for each in who] == [200, 403, 403, 404, 302]


POSTS = ["queue/reserve", "queue/relabel", "queue/calibrate", "members/invite", "gold/1/change"]


@pytest.mark.parametrize("address", POSTS)
def test_managers_verbs_are_refused_to_others(people: People, project: Project, address: str) -> None:
    reviewer = signed_in_to(project, Role.REVIEWER)
    form = {"do": "retire", "role": "manager", "subject": "x"}
    who = (reviewer, people.annotator, people.stranger, people.nobody)
    codes = [each.post(f"/p/maths/{address}", form).status_code for each in who]
    assert codes == [403, 403, 404, 302]


def test_every_member_sees_their_own_progress_and_strangers_none(people: People) -> None:
    who = (people.manager, people.annotator, people.stranger, people.nobody)
    assert [each.get("/p/maths/progress/").status_code for each in who] == [200, 200, 404, 302]


# --- progress ---


def own(member: Membership) -> Any:
    return browser(member.user).get("/p/maths/progress/").context["own"]


@pytest.fixture
def member(project: Project) -> Membership:
    return make.member(project)


def test_progress_counts_what_was_handed_in_and_its_pace(project: Project, member: Membership) -> None:
    make.work(project), make.work(project)
    label(make.as_actor(member)), label(make.as_actor(member))
    found = own(member)
    assert (found.counts.mine_today, found.counts.mine_total, found.seconds_each) == (2, 2, 12.5)


def test_progress_says_why_nothing_comes(project: Project, member: Membership) -> None:
    assert own(member).nothing == "Every solution in this project has the labels it needs."
    row = make.work(project)
    assert own(member).nothing == ""
    QueueRow.objects.filter(pk=row.pk).update(skill="topology")
    assert "skills" in own(member).nothing
    Membership.objects.filter(pk=member.pk).update(state="paused", state_reason="On leave.")
    assert (own(member).nothing[:9], own(member).state_reason) == ("A manager", "On leave.")


@pytest.mark.parametrize(
    ("change", "heading"),
    [
        ({}, "All done"),
        ({"cap_per_day": 0}, "Enough for today"),
        ({"exam": "failed"}, "Nothing for you at the moment"),
        ({"state": "paused"}, "Paused for now"),
    ],
)
def test_the_workbench_calls_nothing_all_done_that_is_not(
    project: Project, member: Membership, change: dict[str, object], heading: str
) -> None:
    Project.objects.update(exam_size=1)
    Membership.objects.filter(pk=member.pk).update(**{"exam": "passed", **change})
    page = browser(member.user).get("/p/maths/label/").content.decode()
    assert f"<h1>{heading}</h1>" in page


def test_checks_are_told_in_tens_and_a_day_late(project: Project, member: Membership) -> None:
    Project.objects.update(standing_shown="accuracy")
    checked(member, [True] * 12 + [False])
    assert (own(member).standing.checks, own(member).standing.accuracy) == (0, None)
    later(days=2)
    found = own(member).standing
    assert (found.checks, found.accuracy.value) == (10, 1.0)


@pytest.mark.parametrize(("shown", "checks"), [("nothing", None), ("counts", 10), ("accuracy", 10)])
def test_a_project_says_how_much_people_see_of_their_standing(
    project: Project, member: Membership, shown: str, checks: int | None
) -> None:
    Project.objects.update(standing_shown=shown)
    checked(member, [True] * 10)
    later(days=2)
    standing = own(member).standing
    assert (standing and standing.checks) == checks
    assert bool(standing and standing.accuracy) == (shown == "accuracy")


def decided(member: Membership, project: Project, note: str = "Mind the sign.") -> QueueRow:
    row = make.work(project)
    label(make.as_actor(member))
    Adjudication.objects.create(
        solution_id=row.pk,
        member=make.member(project, Role.REVIEWER),
        n_steps=3,
        labels=[1, -1, None],
        stop=1,
        reason="For reviewers alone.",
        note=note,
    )
    return row


def test_what_a_reviewer_wrote_to_learn_from_is_shown_and_the_reason_is_not(
    project: Project, member: Membership
) -> None:
    decided(member, project)
    page = browser(member.user).get("/p/maths/progress/")
    assert [(note.note, note.decided) for note in page.context["own"].notes] == [
        ("Mind the sign.", [1, -1, None])
    ]
    assert "For reviewers alone" not in page.content.decode()


def test_notes_never_tell_of_gold_nor_of_others_work(project: Project, member: Membership) -> None:
    row = decided(member, project)
    assert own(make.member(project)).notes == []
    Gold.objects.create(
        solution_id=row.pk, project=project, n_steps=3, accept=[6, 1, 0], source="adjudicated"
    )
    assert own(member).notes == []


def test_a_decided_solution_cannot_be_opened_again_after_reading_the_note(
    project: Project, member: Membership
) -> None:
    decided(member, project)
    client = browser(member.user)
    assignment = member.assignments.get()
    assert client.post(f"/p/maths/label/{assignment.pk}/reopen").status_code == 409


# --- as many queries for many rows as for few ---

LISTS = [("/p/maths/gold/", 20), ("/p/maths/audit/", 8), ("/p/maths/queue/", 26), ("/p/maths/progress/", 26)]


@pytest.mark.parametrize(("page", "most"), LISTS)
def test_a_list_takes_a_constant_number_of_queries(
    people: People,
    project: Project,
    page: str,
    most: int,
    django_assert_max_num_queries,  # type: ignore[no-untyped-def]
) -> None:
    me = make.member(project, Role.MANAGER)
    for _ in range(12):
        make.gold(project)
        AuditEvent.objects.record("member:changed", "member A9", project_id=project.pk, member_id=None)
        decided(me, project)
        make.work(project)
        label(make.actor(project))
    client = browser(me.user)
    with django_assert_max_num_queries(most):
        client.get(page)


# --- settings ---


def test_the_rules_of_quality_are_changed_on_the_settings_page(people: People, project: Project) -> None:
    form = _form(people.manager, exam_size="25", cap_per_day="", cusum_p0="", standing_shown="accuracy")
    assert people.manager.post("/p/maths/settings/", form).status_code == 302
    project.refresh_from_db()
    assert (project.exam_size, project.cap_per_day, project.cusum_p0, project.standing_shown) == (
        25,
        None,
        None,
        "accuracy",
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("exam_pass", "2"), ("labels_max", "0"), ("cusum_p0", "1.5"), ("standing_shown", "all")],
)
def test_rules_out_of_range_are_refused(people: People, field: str, value: str) -> None:
    reply = people.manager.post("/p/maths/settings/", _form(people.manager, **{field: value}))
    assert reply.status_code == 422
    assert field in reply.context["form"].errors


def _form(client: Client, **changes: str) -> dict[str, str]:
    form = client.get("/p/maths/settings/").context["form"]
    shown = {name: form[name].value() for name in form.fields}
    kept = {name: str(value) for name, value in shown.items() if value is not None and value is not False}
    return {**kept, "guidelines": "", **changes}


def test_no_page_holds_a_script_in_its_text(people: People) -> None:
    for page in [*MANAGERS[:2], "/p/maths/members/", "/p/maths/progress/"]:
        assert not re.search(r"<script(?![^>]*\ssrc=)", people.manager.get(page).content.decode())
