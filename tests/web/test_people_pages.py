"""Progress, audit, gold, and what a manager does on the queue page."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotator.models import (
    Adjudication,
    AuditEvent,
    CalibrationRound,
    Gold,
    Guidelines,
    Membership,
    Problem,
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


# --- audit ---


def event(
    project: Project, name: str = "member:changed", member: Membership | None = None, **data: Any
) -> None:
    AuditEvent.objects.record(
        name, "member A9", project_id=project.pk, member_id=member.pk if member else None, data=data
    )


def names(client: Client, query: str = "") -> list[str]:
    return [each.name for each in client.get(f"/p/maths/audit/{query}").context["found"].events]


def test_events_show_who_did_what_and_what_was_before(
    people: People, project: Project, member: Membership
) -> None:
    event(
        project, member=member, before={"role": "annotator", "cap": 3}, after={"role": "reviewer", "cap": 3}
    )
    found = people.manager.get("/p/maths/audit/").context["found"].events[0]
    assert (found.actor, found.name) == (member.pseudonym, "member:changed")
    assert found.changes == [("role", "annotator", "reviewer")]


def test_events_of_other_projects_are_not_shown(people: People) -> None:
    event(make.project(), "gold:made")
    assert "gold:made" not in names(people.manager)
    exported = b"".join(people.manager.get("/p/maths/audit/export").streaming_content).decode()
    assert "gold:made" not in exported


def test_events_are_filtered_by_topic_person_and_day(
    people: People, project: Project, member: Membership
) -> None:
    event(project, "gold:made", member), event(project, "case:decided")
    today, tomorrow = timezone.now().date(), timezone.now().date() + timedelta(days=1)

    assert names(people.manager, "?topic=gold") == ["gold:made"]
    assert names(people.manager, f"?member={member.pk}&topic=gold") == ["gold:made"]
    assert names(people.manager, "?topic=case&member=0") == ["case:decided"]
    assert names(people.manager, f"?since={tomorrow}") == []
    assert names(people.manager, f"?topic=gold&since={today}&until={today}") == ["gold:made"]


BAD = [
    "member__user__password=x",
    "topic=user__password",
    "topic=gold&topic=case",
    "member=x",
    "since=yesterday",
    "after=1",
    "after=2026-01-01~1",
    "order=at",
]


@pytest.mark.parametrize("query", BAD)
def test_any_other_filter_is_a_400(people: People, query: str) -> None:
    assert people.manager.get(f"/p/maths/audit/?{query}").status_code == 400


@pytest.mark.parametrize(
    "query", ["member__user__password=x", "topic=x", "after=2026-01-01T00:00:00+00:00~1"]
)
def test_the_export_takes_the_same_filters_and_no_other(people: People, query: str) -> None:
    assert people.manager.get(f"/p/maths/audit/export?{query}").status_code == 400


def test_pages_by_cursor_lose_and_repeat_nothing(people: People, project: Project) -> None:
    for number in range(230):  # all at one moment of the database: the cursor must tell them apart
        event(project, number=number)
    seen: list[int] = []
    query = ""
    while True:
        context = people.manager.get(f"/p/maths/audit/?{query}").context
        seen += [each.id for each in context["found"].events]
        query = context["later"]
        if not query:
            break
    assert sorted(seen, reverse=True) == seen
    assert len(seen) == len(set(seen)) == AuditEvent.objects.filter(project=project).count()


def test_the_export_holds_everything_and_runs_no_formula(people: People, project: Project) -> None:
    for _ in range(120):
        event(project, before={"reason": "–"}, after={"reason": "x"})
    AuditEvent.objects.record("member:removed", '=HYPERLINK("x")', project_id=project.pk, member_id=None)
    reply = people.manager.get("/p/maths/audit/export?topic=member")
    rows = list(csv.DictReader(io.StringIO(b"".join(reply.streaming_content).decode())))

    assert len(rows) == AuditEvent.objects.filter(project=project, name__startswith="member:").count()
    assert rows[0]["subject"] == '\'=HYPERLINK("x")'
    assert "attachment" in reply["Content-Disposition"]


# --- gold ---


def gold_rows(client: Client, show: str = "all") -> list[Any]:
    return list(client.get(f"/p/maths/gold/?show={show}").context["gold"].rows)


def test_gold_shows_how_often_an_item_was_failed(
    people: People, project: Project, member: Membership
) -> None:
    item = make.gold(project)
    checked(member, [False], item), checked(make.member(project), [True], item)
    (row,) = gold_rows(people.manager)
    assert (row.had, row.failed, row.first_errors, row.sound) == (2, 1, [2], False)


@pytest.mark.parametrize(
    ("do", "shown_under"),
    [("retire", "retired"), ("wrong", "retired"), ("exam", "exam"), ("practice", "practice")],
)
def test_an_items_use_changes(people: People, project: Project, do: str, shown_under: str) -> None:
    item = make.gold(project)
    people.manager.post(f"/p/maths/gold/{item.pk}/change", {"do": do, "reason": "too easy"})
    assert [row.id for row in gold_rows(people.manager, shown_under)] == [item.pk]
    assert gold_rows(people.manager, "hidden") == []


def test_a_suspicion_is_cleared_and_a_retired_item_comes_back(people: People, project: Project) -> None:
    item = make.gold(project)
    Gold.objects.update(suspect=True, retired=True)
    people.manager.post(f"/p/maths/gold/{item.pk}/change", {"do": "bring_back"})
    people.manager.post(f"/p/maths/gold/{item.pk}/change", {"do": "clear"})
    item.refresh_from_db()
    assert (item.suspect, item.retired) == (False, False)


def test_gold_of_another_project_and_unknown_verbs_are_not_found(people: People, project: Project) -> None:
    foreign, item = make.gold(make.project()), make.gold(project)
    assert people.manager.post(f"/p/maths/gold/{foreign.pk}/change", {"do": "retire"}).status_code == 404
    assert people.manager.post(f"/p/maths/gold/{item.pk}/change", {"do": "delete"}).status_code == 404


def test_the_supply_begins_with_who_runs_out_first(
    people: People, project: Project, member: Membership
) -> None:
    Project.objects.update(gold_rate=0.05)
    for _ in range(3):
        make.gold(project)
    make.work(project)
    label(make.as_actor(member))
    first = people.manager.get("/p/maths/gold/").context["gold"].supply[0]
    assert (first.pseudonym, first.unseen, round(first.days)) == (member.pseudonym, 3, 420)


# --- the queue page ---


def test_the_forecast_goes_by_what_counted_lately(
    people: People, project: Project, member: Membership
) -> None:
    for _ in range(4):
        make.work(project)
    label(make.as_actor(member))
    forecast = people.manager.get("/p/maths/queue/").context["outlook"].forecast
    assert (forecast.owed, forecast.a_day, forecast.days) == (3, 1.0, 3.0)
    assert forecast.hours == pytest.approx(3 * 12.5 / 3600)


def test_without_labels_there_is_no_forecast(people: People, project: Project) -> None:
    make.work(project)
    forecast = people.manager.get("/p/maths/queue/").context["outlook"].forecast
    assert (forecast.owed, forecast.hours, forecast.days) == (1, None, None)


def test_the_queue_says_who_holds_what(people: People, project: Project, member: Membership) -> None:
    from tests.actions.flow import claim

    row = make.work(project)
    claim(make.as_actor(member))
    (held,) = people.manager.get("/p/maths/queue/").context["outlook"].held
    assert (held.pseudonym, held.external_id, held.marked, held.n_steps) == (
        member.pseudonym,
        row.solution.external_id,
        0,
        3,
    )


def test_a_part_is_reserved_from_the_page(people: People, project: Project) -> None:
    row = make.work(project)
    Problem.objects.filter(pk=row.solution.problem_id).update(subject="Algebra")
    people.manager.post("/p/maths/queue/reserve", {"subject": "Algebra", "skill": "algebra"})
    assert people.manager.get("/p/maths/queue/").context["outlook"].reserved == [("algebra", 1)]


def test_choosing_nothing_says_so_and_changes_nothing(people: People, project: Project) -> None:
    make.work(project)
    for verb in ("reserve", "relabel"):
        reply = people.manager.post(f"/p/maths/queue/{verb}", {"skill": "x"})
        assert (reply.status_code, bool(reply.context["error"])) == (422, True)
    assert not QueueRow.objects.exclude(skill="").exists()


def test_a_calibration_round_opens_and_closes_from_the_page(people: People, project: Project) -> None:
    assert people.manager.post("/p/maths/queue/calibrate").status_code == 409
    Project.objects.update(calibration_size=1)
    make.gold(project)
    people.manager.post("/p/maths/queue/calibrate")
    assert people.manager.get("/p/maths/queue/").context["outlook"].calibration.items == 1
    people.manager.post("/p/maths/queue/calibrate", {"close": "1"})
    assert CalibrationRound.objects.get().closed_at is not None


def test_a_part_is_judged_anew_from_the_page(people: People, project: Project, member: Membership) -> None:
    Guidelines.objects.create(project=project, version=1, text="old")
    row = make.work(project)
    label(make.as_actor(member))
    Guidelines.objects.create(project=project, version=2, text="new")
    people.manager.post("/p/maths/queue/relabel", {"batch": row.solution.batch_id})
    row.refresh_from_db()
    assert row.taken == 0


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
        event(project)
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
