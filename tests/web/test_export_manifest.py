"""The manifest and the dataset card beside a download."""

from __future__ import annotations

import hashlib

import pytest

from annotator.models import Problem, Project
from tests import factories as make
from tests.actions.leaving import said
from tests.web.conftest import People

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/exports/"


def test_it_is_for_managers(people: People) -> None:
    asked = [people.manager, people.annotator, people.stranger, people.nobody]
    assert [each.get(f"{PAGE}manifest").status_code for each in asked] == [200, 403, 404, 302]


def test_it_describes_what_the_same_choice_downloads(people: People, project: Project) -> None:
    said(make.solution(project), 1, 1, 1), said(make.solution(project, holdout=True), 1, 1, 1)
    query = "?format=native&split=train"
    content = b"".join(people.manager.get(f"{PAGE}download{query}").streaming_content)  # type: ignore[attr-defined]
    manifest = people.manager.get(f"{PAGE}manifest{query}").json()
    assert manifest["sha256"] == hashlib.sha256(content).hexdigest()
    assert (manifest["written"], manifest["recipe"]["split"]) == (1, "train")


def test_the_card_is_markdown(people: People, project: Project) -> None:
    reply = people.manager.get(f"{PAGE}manifest?format=native&as=card")
    assert reply["Content-Type"].startswith("text/markdown")
    assert reply.content.startswith(b"# Maths\n")


def test_the_page_offers_the_domains_there_are(people: People, project: Project) -> None:
    Problem.objects.filter(pk=make.solution(project).problem_id).update(domain="algebra")
    assert '<option value="algebra"' in people.manager.get(PAGE).content.decode()


@pytest.mark.parametrize("wrong", ["split=left", "since=soon", "format=word", "labels=mine"])
def test_a_choice_the_page_does_not_offer_comes_back_with_the_reason(people: People, wrong: str) -> None:
    assert people.manager.get(f"{PAGE}manifest?{wrong}").status_code == 422
