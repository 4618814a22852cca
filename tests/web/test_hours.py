"""Hours as CSV: for managers, without names, harmless to spreadsheets."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from annotator.models import Membership, Project
from annotator.queries.hours import hours as rows_of
from tests import factories as make
from tests.web.conftest import People
from tests.web.test_mine import hand_in, handed_in_ago

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/exports/hours"


def rows(client: Client) -> list[list[str]]:
    text = b"".join(client.get(PAGE).streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.reader(io.StringIO(text)))


def test_a_manager_gets_in_and_others_do_not(people: People) -> None:
    codes = [
        who.get(PAGE).status_code
        for who in (people.manager, people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [200, 403, 404, 302]


def test_a_row_is_a_person_and_a_day(people: People, project: Project) -> None:
    me = make.member(project)
    hand_in(me, 1, -1, None)
    hand_in(me, 1, 1, 1)
    (head, row) = rows(people.manager)
    assert head == ["pseudonym", "day", "solutions", "steps", "hours"]
    assert [row[0], *row[2:]] == [me.pseudonym, "2", "5", f"{25 / 3600:.3f}"]


def test_days_are_apart_and_no_other_project_is_in_it(people: People, project: Project) -> None:
    me = make.member(project)
    handed_in_ago(me, timedelta(days=3))
    handed_in_ago(me, timedelta(days=100))
    hand_in(make.member(make.project()), 1, 1, 1)
    assert [row[0] for row in rows(people.manager)[1:]] == [me.pseudonym, me.pseudonym]


def test_nobodys_user_name_leaves(people: People, project: Project) -> None:
    me = make.member(project, user=make.user("ada-lovelace"))
    hand_in(me, 1, 1, 1)
    assert "ada-lovelace" not in str(rows(people.manager))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_pseudonym_that_would_begin_a_formula_is_made_text(
    people: People, project: Project, start: str
) -> None:
    me = make.member(project)
    Membership.objects.filter(pk=me.pk).update(pseudonym=f"{start}cmd|' /C calc'!A0")
    hand_in(me, 1, 1, 1)
    assert rows(people.manager)[1][0] == f"'{start}cmd|' /C calc'!A0"


def test_one_query_reads_all(project: Project, django_assert_num_queries: Any) -> None:
    for _ in range(5):
        hand_in(make.member(project), 1, 1, 1)
    with django_assert_num_queries(1):
        assert len(list(rows_of(project.pk))) == 5


def test_the_exports_page_offers_it(people: People) -> None:
    assert f'href="{PAGE}"' in people.manager.get("/p/maths/exports/").content.decode()
