"""Reading by program: annotations and the quality report."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotator.actions import labeling, queueing
from annotator.models import Membership, Project
from tests import factories as make
from tests.api.conftest import Scripts, script, send

pytestmark = pytest.mark.django_db
LIST = "/api/v1/projects/maths/annotations"


def label(person: Membership, *labels: int | None, **marked: Any) -> int:
    """A person claims what comes and hands this in; the annotation's number."""
    actor = make.as_actor(person)
    assignment = queueing.next_assignment(actor=actor)
    work = make.marked(*labels, **marked)
    return labeling.submit(actor=actor, assignment_id=assignment.pk, work=work).annotation_id


def numbers(client: Client, query: str = "") -> list[int]:
    reply = send(client, "GET", LIST + query)
    assert reply.status_code == 200, reply.json()
    return [each["annotation"] for each in reply.json()["results"]]


@pytest.fixture
def two(project: Project) -> tuple[Membership, Membership, list[int]]:
    """Two people with one submission each."""
    first, second = make.member(project), make.member(project)
    make.work(project), make.work(project)
    return first, second, [label(first, 1, 1, 1), label(second, 1, -1, None)]


def test_a_person_sees_their_own_and_a_manager_everybodys(
    scripts: Scripts, two: tuple[Membership, Membership, list[int]]
) -> None:
    first, second, made = two
    assert numbers(script(first.user)) == made[:1]
    assert numbers(script(second.user)) == made[1:]
    assert numbers(scripts.manager) == made[::-1]


def test_who_and_what_of_is_for_managers_alone(
    scripts: Scripts, two: tuple[Membership, Membership, list[int]]
) -> None:
    mine = send(script(two[0].user), "GET", LIST).json()["results"][0]
    assert (mine["annotator"], mine["solution"], mine["uncounted_reason"]) == (None, None, None)
    everybodys = send(scripts.manager, "GET", LIST).json()["results"][-1]
    assert everybodys["annotator"] == two[0].pseudonym
    assert everybodys["solution"].startswith("s")


def test_another_projects_annotations_are_not_among_them(scripts: Scripts, project: Project) -> None:
    other = make.project()
    make.work(other)
    label(make.member(other), 1, 1, 1)
    assert numbers(scripts.manager) == []


def test_pages_follow_each_other_without_gaps_while_new_ones_come(scripts: Scripts, project: Project) -> None:
    person = make.member(project)
    for _ in range(5):
        make.work(project)
    made = [label(person, 1, 1, 1) for _ in range(4)]
    page = send(scripts.manager, "GET", f"{LIST}?limit=2").json()
    label(person, 1, 1, 1)
    rest = send(scripts.manager, "GET", f"{LIST}?limit=2&cursor={page['next']}").json()
    assert [each["annotation"] for each in page["results"] + rest["results"]] == made[::-1]
    assert rest["next"] is None


@pytest.mark.parametrize(
    "query",
    [
        "?color=red",
        "?cursor=12",
        "?limit=0",
        "?limit=9999",
        "?since=yesterday",
        "?counted=perhaps",
        "?finish_reason=tired",
        "?limit=1&limit=2",
        "?annotator=%00",
    ],
)
def test_a_parameter_that_is_unknown_or_unreadable_is_refused(scripts: Scripts, query: str) -> None:
    assert send(scripts.manager, "GET", LIST + query).status_code == 400


def test_an_annotator_cannot_ask_for_anothers(two: tuple[Membership, Membership, list[int]]) -> None:
    reply = send(script(two[0].user), "GET", f"{LIST}?annotator={two[1].pseudonym}")
    assert (reply.status_code, list(reply.json()["errors"])) == (400, ["annotator"])


def test_the_filters_narrow_down(scripts: Scripts, two: tuple[Membership, Membership, list[int]]) -> None:
    _, second, made = two
    assert numbers(scripts.manager, "?finish_reason=found_error") == made[1:]
    assert numbers(scripts.manager, f"?annotator={second.pseudonym}") == made[1:]
    assert numbers(scripts.manager, "?counted=false") == []
    assert numbers(scripts.manager, "?since=2999-01-01T00:00:00Z") == []
    assert len(numbers(scripts.manager, "?until=2999-01-01T00:00:00Z&counted=true")) == 2


def test_a_longer_list_needs_no_more_queries(scripts: Scripts, project: Project) -> None:
    person = make.member(project)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            numbers(scripts.manager)
        return len(asked)

    make.work(project)
    label(person, 1, 1, 1)
    numbers(scripts.manager)  # so that both counted requests find the token used a moment ago
    before = queries()
    for _ in range(5):
        make.work(project)
        label(person, 1, 1, 1)
    assert queries() == before


def test_the_quality_report_has_its_parts(scripts: Scripts) -> None:
    report = send(scripts.manager, "GET", "/api/v1/projects/maths/quality").json()
    assert {"computed_at", "fresh", "mode", "sample", "stop", "steps", "gold", "people"} <= set(report)
