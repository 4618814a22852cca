"""Gold, and what a manager does on the queue page."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotator.models import CalibrationRound, Gold, Guidelines, Membership, Problem, Project, QueueRow
from tests import factories as make
from tests.actions.flow import checked, label
from tests.web.conftest import People

pytestmark = pytest.mark.django_db


@pytest.fixture
def member(project: Project) -> Membership:
    return make.member(project)


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
