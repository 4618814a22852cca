"""The first page."""

from __future__ import annotations

import pytest
from django.test import Client

from annotator.actions import queueing
from annotator.models import Membership, Project, Role
from tests import factories as make
from tests.web.conftest import People, browser

pytestmark = pytest.mark.django_db


def test_nobody_is_sent_to_sign_in(people: People) -> None:
    reply = people.nobody.get("/")
    assert (reply.status_code, reply["Location"]) == (302, "/sign-in/?next=/")


def test_a_member_sees_their_projects_and_no_others(people: People) -> None:
    page = people.stranger.get("/").content.decode()
    assert "Maths" not in page
    assert "Maths" in people.annotator.get("/").content.decode()


def test_a_removed_member_sees_the_project_no_more(project: Project) -> None:
    member = make.member(project, state=Membership.State.REMOVED)
    assert "Maths" not in browser(member.user).get("/").content.decode()


def test_only_managers_see_the_way_to_queue_and_exports(people: People) -> None:
    assert "/p/maths/queue/" in people.manager.get("/").content.decode()
    assert "/p/maths/queue/" not in people.annotator.get("/").content.decode()


def test_a_person_without_projects_is_told_what_to_do() -> None:
    reply = browser(make.user()).get("/")
    assert reply.status_code == 200
    assert reply.context["projects"] == []


def test_the_number_of_queries_does_not_grow_with_projects(django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    user = make.user()
    for _ in range(5):
        project = make.project()
        make.member(project, Role.MANAGER, user=user)
        make.work(project)
    client = browser(user)
    with django_assert_num_queries(4):  # session, user, projects, preferences
        client.get("/")


def test_counts_say_what_is_labelled_and_what_is_left(project: Project) -> None:
    client = browser(make.member(project).user)
    make.work(project)
    make.work(project)
    (card,) = client.get("/").context["projects"]
    assert (card.total, card.left, card.labelled) == (2, 2, 0)


def test_what_somebody_holds_is_not_labelled_yet_for_a_manager(project: Project) -> None:
    manager = make.member(project, Role.MANAGER)
    make.work(project), make.work(project)
    queueing.next_assignment(actor=make.actor(project))
    (card,) = browser(manager.user).get("/").context["projects"]
    assert (card.total, card.left, card.labelled) == (2, 2, 0)


def test_a_wrong_password_is_told_without_saying_which_half_was_wrong() -> None:
    make.user("ada").set_password("right-password-1")
    reply = Client().post("/sign-in/", {"username": "ada", "password": "wrong"})
    assert reply.status_code == 200
    assert reply.context["form"].non_field_errors()


def test_after_eight_wrong_passwords_the_door_is_closed_for_a_while() -> None:
    user = make.user("ada")
    user.set_password("right-password-1")
    user.save()
    client = Client()
    for _ in range(8):
        client.post("/sign-in/", {"username": "ada", "password": "wrong"})
    reply = client.post("/sign-in/", {"username": "ada", "password": "right-password-1"})
    assert reply.status_code == 429


def test_sign_in_leads_only_to_our_own_pages() -> None:
    user = make.user("ada")
    user.set_password("right-password-1")
    user.save()
    reply = Client().post(
        "/sign-in/?next=https://evil.example/", {"username": "ada", "password": "right-password-1"}
    )
    assert (reply.status_code, reply["Location"]) == (302, "/")


def test_help_is_there_for_everybody(people: People) -> None:
    assert people.nobody.get("/help/").status_code == 200


def test_health_and_readiness_answer_without_signing_in(people: People) -> None:
    assert [people.nobody.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]
