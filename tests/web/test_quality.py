"""The quality page: managers only."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.core.management import call_command

from annotator.actions import alerts
from annotator.models import Alert, Membership, Project, Role, StandingEvent
from tests import factories as make
from tests.queries.labels import audited, checked
from tests.web.conftest import People, signed_in_to

pytestmark = pytest.mark.django_db
PAGES = ["/p/maths/quality/", "/p/maths/quality/people.csv"]
SOUND, AT_ONE = (1, 1, 1), (1, -1, None)


@pytest.fixture
def pair(project: Project) -> tuple[Membership, Membership]:
    return make.member(project), make.member(project)


@pytest.mark.parametrize("page", PAGES)
def test_a_manager_gets_in_and_others_do_not(people: People, page: str) -> None:
    codes = [
        who.get(page).status_code
        for who in (people.manager, people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [200, 403, 404, 302]


def test_a_reviewer_does_not_see_it(project: Project) -> None:
    assert signed_in_to(project, Role.REVIEWER).get("/p/maths/quality/").status_code == 403


def test_without_labels_each_block_says_why_there_is_nothing(people: People) -> None:
    page = people.manager.get("/p/maths/quality/")

    assert "can&#x27;t be told yet: there are no labels yet" in page.content.decode()
    assert all(block.sentence.endswith(".") for block in page.context["blocks"])
    assert "None" not in page.content.decode()


def test_the_first_sentence_has_the_number_in_it(
    people: People, project: Project, pair: tuple[Membership, Membership]
) -> None:
    for second in (SOUND, SOUND, SOUND, AT_ONE):
        audited(project, *pair, SOUND, second)

    headline = people.manager.get("/p/maths/quality/").context["headline"]

    assert headline.startswith("Two people name the same first error, or both none, 75 % (")
    assert "over 4 solutions" in headline


def test_the_page_takes_as_many_queries_for_many_people_as_for_one(
    people: People, project: Project, pair: tuple[Membership, Membership], django_assert_max_num_queries: Any
) -> None:
    people.manager.get("/p/maths/quality/")
    for _ in range(10):
        audited(project, pair[0], make.member(project), SOUND, AT_ONE)
    people.manager.get("/p/maths/quality/")
    with django_assert_max_num_queries(13):
        people.manager.get("/p/maths/quality/")


def test_a_manager_pauses_and_clears_a_person_with_a_reason(
    people: People, project: Project, pair: tuple[Membership, Membership]
) -> None:
    address = f"/p/maths/quality/people/{pair[0].pk}"

    people.manager.post(address, {"word": "pause", "reason": "far too fast"})
    pair[0].refresh_from_db()
    paused = (pair[0].state, pair[0].state_reason)
    people.manager.post(address, {"word": "clear", "reason": "we talked"})
    pair[0].refresh_from_db()

    assert paused == ("paused", "far too fast")
    assert pair[0].state == "active"
    assert list(StandingEvent.objects.order_by("pk").values_list("kind", "reason")) == [
        ("pause", "far too fast"),
        ("clear", "we talked"),
    ]


@pytest.mark.parametrize("form", [{"word": "pause", "reason": " "}, {"word": "fire", "reason": "why not"}])
def test_without_a_reason_or_with_another_word_nothing_changes(
    people: People, pair: tuple[Membership, Membership], form: dict[str, str]
) -> None:
    reply = people.manager.post(f"/p/maths/quality/people/{pair[0].pk}", form, follow=True)

    assert "Nothing was changed" in reply.content.decode()
    assert not StandingEvent.objects.exists()


def test_only_a_manager_of_the_same_project_decides(
    people: People, project: Project, pair: tuple[Membership, Membership]
) -> None:
    elsewhere = signed_in_to(make.project(slug="other"), Role.MANAGER)
    form = {"word": "pause", "reason": "no"}

    codes = [
        people.annotator.post(f"/p/maths/quality/people/{pair[0].pk}", form).status_code,
        people.stranger.post(f"/p/maths/quality/people/{pair[0].pk}", form).status_code,
        elsewhere.post(f"/p/other/quality/people/{pair[0].pk}", form).status_code,
    ]

    assert codes == [403, 404, 404]
    assert not StandingEvent.objects.exists()


def test_an_alert_goes_when_it_was_seen_to(people: People, project: Project) -> None:
    alerts.open_alert(project_id=project.pk, kind="k", subject="s", sentence="Gold runs out.")
    alert = Alert.objects.get()
    before = "Gold runs out." in people.manager.get("/p/maths/quality/").content.decode()

    refused = people.annotator.post(f"/p/maths/quality/alerts/{alert.pk}/close").status_code
    people.manager.post(f"/p/maths/quality/alerts/{alert.pk}/close")

    assert (before, refused) == (True, 403)
    assert "Gold runs out." not in people.manager.get("/p/maths/quality/").content.decode()


def test_a_table_comes_as_csv_in_which_no_name_is_a_formula(people: People, project: Project) -> None:
    make.member(project, pseudonym="=HYPERLINK(1)")

    reply = people.manager.get("/p/maths/quality/people.csv")
    rows = list(csv.reader(io.StringIO(reply.content.decode())))

    assert reply["Content-Type"].startswith("text/csv")
    assert "'=HYPERLINK(1)" in {row[0] for row in rows}
    assert {len(row) for row in rows} == {len(rows[0])}


def test_there_is_no_table_of_another_name(people: People) -> None:
    assert people.manager.get("/p/maths/quality/secrets.csv").status_code == 404


def test_a_name_in_a_plot_is_escaped(people: People, project: Project) -> None:
    evil = '"><script>alert(1)</script>'
    one, other = make.member(project, pseudonym=evil), make.member(project)
    for _ in range(3):
        audited(project, one, other, SOUND, SOUND)

    page = people.manager.get("/p/maths/quality/").content.decode()

    assert "<script>alert" not in page
    assert "data-plot=" in page


def test_the_command_prints_figures_with_their_intervals(
    project: Project, pair: tuple[Membership, Membership], capsys: pytest.CaptureFixture[str]
) -> None:
    for second in (SOUND, SOUND, AT_ONE, AT_ONE):
        audited(project, *pair, SOUND, second)
    checked(make.gold(project, AT_ONE), pair[0], *AT_ONE)

    call_command("agreement", project="maths", json=True)
    told = json.loads(capsys.readouterr().out)

    figure = {"value", "low", "high", "n", "reason"}
    assert {"stop", "has_error", "steps", "gold", "people"} <= set(told)
    assert (told["stop"]["exact"]["value"], told["stop"]["n"]) == (0.5, 4)
    assert figure <= set(told["has_error"])
    assert set(told["steps"]["neutral_incorrect"]) == figure
    assert (told["gold"]["value"], told["people"][0]["items"]["value"]) == (1.0, 1.0)


def test_the_command_says_the_answer_to_a_person(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("agreement", project="maths")

    assert "there are no labels yet" in capsys.readouterr().out
