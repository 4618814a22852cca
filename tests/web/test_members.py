"""Members, and coming in by a link."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotator.models import AuditEvent, Invitation, Membership, Project, Role
from tests import factories as make
from tests.web.conftest import People, browser, signed_in_to

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/members/"
PASSWORD = "seven grey herons fly"
LINK = re.compile(r"/join/[\w-]+/")


@pytest.fixture
def annotator(project: Project) -> Membership:
    return make.member(project)


def invited(manager: Client, role: str = "annotator", **fields: Any) -> str:
    reply = manager.post(f"{PAGE}invite", {"role": role, **fields})
    assert reply.status_code == 200
    return LINK.search(reply.content.decode()).group()  # type: ignore[union-attr]


def test_only_managers_get_in(people: People, project: Project) -> None:
    reviewer = signed_in_to(project, Role.REVIEWER)
    who = (people.manager, reviewer, people.annotator, people.stranger, people.nobody)
    assert [each.get(PAGE).status_code for each in who] == [200, 403, 403, 404, 302]


@pytest.mark.parametrize("verb", ["change", "pause", "clear", "exam", "remove"])
def test_each_verb_is_for_managers_of_this_project(people: People, annotator: Membership, verb: str) -> None:
    address, form = f"{PAGE}{annotator.pk}/{verb}", {"reason": "x", "role": "manager"}
    who = (people.annotator, people.stranger, people.nobody)
    assert [each.post(address, form).status_code for each in who] == [403, 404, 302]
    annotator.refresh_from_db()
    assert (annotator.role, annotator.state) == ("annotator", "active")


@pytest.mark.parametrize("verb", ["change", "pause", "clear", "exam", "remove"])
def test_a_member_of_another_project_is_not_found(people: People, verb: str) -> None:
    foreign = make.member(make.project())
    form = {"reason": "x", "role": "manager"}
    assert people.manager.post(f"{PAGE}{foreign.pk}/{verb}", form).status_code == 404


@pytest.mark.parametrize("verb", ["pause", "clear", "exam", "remove"])
def test_nobody_decides_about_themselves(project: Project, verb: str) -> None:
    me = make.member(project, Role.MANAGER)
    assert browser(me.user).post(f"{PAGE}{me.pk}/{verb}", {"reason": "x"}).status_code == 409
    me.refresh_from_db()
    assert (me.state, me.exam) == ("active", "open")


def test_nobody_raises_themselves(project: Project) -> None:
    me = make.member(project, Role.MANAGER)
    reply = browser(me.user).post(f"{PAGE}{me.pk}/change", {"role": "reviewer", "skills": ""})
    me.refresh_from_db()
    assert (reply.status_code, me.role) == (409, "manager")


def test_the_link_is_shown_once(people: People) -> None:
    link = invited(people.manager)
    assert link not in people.manager.get(PAGE).content.decode()


def test_a_link_can_be_revoked(people: People) -> None:
    link = invited(people.manager)
    people.manager.post(f"/p/maths/invitations/{Invitation.objects.get().pk}/revoke")
    assert browser().get(link).status_code == 410


def test_links_of_another_project_are_not_revoked(people: People) -> None:
    link = invited(people.manager)
    elsewhere = make.project(slug="elsewhere")
    stranger = signed_in_to(elsewhere, Role.MANAGER)
    stranger.post(f"/p/elsewhere/invitations/{Invitation.objects.get().pk}/revoke")
    assert browser().get(link).status_code == 200


def test_changes_are_saved(people: People, annotator: Membership) -> None:
    people.manager.post(
        f"{PAGE}{annotator.pk}/change", {"role": "reviewer", "skills": "algebra, sets", "cap": "30"}
    )
    annotator.refresh_from_db()
    assert (annotator.role, annotator.skills, annotator.cap_per_day) == ("reviewer", ["algebra", "sets"], 30)


@pytest.mark.parametrize("form", [{"role": "root"}, {"cap": "-1"}, {"cap": "many"}, {"cap": "99999999"}])
def test_what_no_field_offers_is_refused(people: People, annotator: Membership, form: dict[str, str]) -> None:
    assert people.manager.post(f"{PAGE}{annotator.pk}/change", form).status_code == 422


def test_pausing_and_clearing_need_a_reason(people: People, annotator: Membership) -> None:
    assert people.manager.post(f"{PAGE}{annotator.pk}/pause", {"reason": " "}).status_code == 422
    people.manager.post(f"{PAGE}{annotator.pk}/pause", {"reason": "on leave"})
    annotator.refresh_from_db()
    assert (annotator.state, annotator.state_reason) == ("paused", "on leave")
    people.manager.post(f"{PAGE}{annotator.pk}/clear", {"reason": "back"})
    annotator.refresh_from_db()
    assert annotator.state == "active"


def test_a_removed_person_finds_nothing_here(people: People, annotator: Membership) -> None:
    client = browser(annotator.user)
    people.manager.post(f"{PAGE}{annotator.pk}/remove", {"reason": "left"})
    assert client.get("/p/maths/label/").status_code == 404


def test_the_list_takes_as_many_queries_for_many_as_for_few(
    people: People,
    project: Project,
    django_assert_max_num_queries,  # type: ignore[no-untyped-def]
) -> None:
    for _ in range(30):
        make.member(project)
        invited(people.manager)
    with django_assert_max_num_queries(12):
        people.manager.get(PAGE)


# --- the link ---


def test_a_new_person_makes_an_account_and_is_in(people: People, project: Project) -> None:
    client = browser()
    link = invited(people.manager, "reviewer")
    reply = client.post(link, {"username": "ada", "password": PASSWORD})

    assert reply.status_code == 302
    member = Membership.objects.get(user__username="ada")
    assert (member.project, member.role) == (project, "reviewer")
    assert client.get("/p/maths/label/").status_code == 200


def test_whoever_is_signed_in_joins_as_that(people: People) -> None:
    user = make.user("grace")
    browser(user).post(invited(people.manager))
    assert Membership.objects.filter(user=user, project__slug="maths").exists()
    assert User.objects.filter(username="grace").count() == 1


@pytest.mark.parametrize("password", ["short", "password12", "12345678901"])
def test_a_weak_password_makes_no_account_and_leaves_the_link_good(people: People, password: str) -> None:
    link = invited(people.manager)
    reply = browser().post(link, {"username": "ada", "password": password})

    assert reply.status_code == 422
    assert not User.objects.filter(username="ada").exists()
    assert browser().get(link).status_code == 200


def test_a_name_that_somebody_has_is_refused_and_theirs_is_not_touched(people: People) -> None:
    taken = make.user("ada")
    reply = browser().post(invited(people.manager), {"username": "ada", "password": PASSWORD})
    assert reply.status_code == 422
    taken.refresh_from_db()
    assert not taken.has_usable_password() or not taken.check_password(PASSWORD)


def test_a_link_that_is_no_good_tells_nothing_of_the_project(people: People) -> None:
    invited(people.manager)
    reply = browser().get("/join/nothing-like-it/")
    assert reply.status_code == 410
    assert "Maths" not in reply.content.decode()


def test_a_member_who_opens_the_link_does_not_use_it_up(people: People) -> None:
    link = invited(people.manager)
    assert "already" in people.annotator.get(link).content.decode()
    assert browser().get(link).status_code == 200


def test_a_link_raises_nobody(people: People, annotator: Membership) -> None:
    browser(annotator.user).post(invited(people.manager, "manager"))
    annotator.refresh_from_db()
    assert annotator.role == "annotator"


def test_the_password_stands_in_no_event(people: People) -> None:
    browser().post(invited(people.manager), {"username": "ada", "password": PASSWORD})
    assert PASSWORD not in str(list(AuditEvent.objects.values_list("data", flat=True)))
