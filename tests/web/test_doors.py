"""What no page can use is refused at the door, with a sentence."""

from __future__ import annotations

import pytest

from annotator.actions.pictures import keep
from annotator.models import Problem, Project, Role
from tests import factories as make
from tests.core.test_pictures import drawn
from tests.web.conftest import People

pytestmark = pytest.mark.django_db
NUL = "a\0b"


@pytest.mark.parametrize(
    ("page", "form"),
    [
        ("segmentation/", {"rule": "line", "subject": NUL}),
        ("queue/reserve", {"domain": NUL}),
        ("members/invite", {"role": "annotator", "skills": NUL}),
        ("segmentation/", {NUL: "1"}),
    ],
)
def test_a_nul_in_a_form_is_refused(
    people: People, project: Project, page: str, form: dict[str, str]
) -> None:
    reply = people.manager.post(f"/p/maths/{page}", form)
    assert reply.status_code == 400
    assert "What was sent holds a NUL character, which no text has." in reply.content.decode()


def test_a_nul_in_a_picture_s_words_is_refused(people: People, project: Project) -> None:
    kept = keep(actor=make.actor(project, Role.MANAGER), data=drawn())
    make.work(project)
    Problem.objects.update(external_id="p")
    reply = people.manager.post(f"/p/maths/pictures/{kept.sha256}/attach", {"problem": "p", "alt": NUL})
    assert (reply.status_code, Problem.objects.get().images) == (400, [])


def test_a_nul_in_an_address_is_refused(people: People, project: Project) -> None:
    assert people.annotator.get("/p/maths/files/%00").status_code == 400


def test_a_stranger_learns_nothing_from_a_nul(people: People, project: Project) -> None:
    assert people.stranger.get("/p/maths/files/%00").status_code == 404


def test_a_filter_that_a_page_does_not_know_is_named(people: People, project: Project) -> None:
    reply = people.manager.get("/p/maths/exports/changes?password=x")
    assert reply.status_code == 400
    assert "be filtered by &#x27;password&#x27; like that." in reply.content.decode()
