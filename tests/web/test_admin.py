"""The admin: a look at the tables for superusers, and a way to change nothing."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User

from annotator.models import Solution
from tests import factories as make
from tests.web.conftest import People, browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def superuser() -> User:
    return User.objects.create_superuser("root", password="a password for tests")


def test_only_superusers_come_in(people: People) -> None:
    for someone in (people.manager, people.annotator, people.nobody):
        assert someone.get("/admin/").status_code == 302


def test_a_table_can_be_looked_at_but_offers_nothing_to_save(superuser: User) -> None:
    solution = make.solution(make.project())
    page = browser(superuser).get(f"/admin/annotator/solution/{solution.pk}/change/")

    assert page.status_code == 200
    assert b'name="_save"' not in page.content
    assert browser(superuser).post(page.request["PATH_INFO"], {"n_steps": 7}).status_code == 403
    assert Solution.objects.get(pk=solution.pk).n_steps == solution.n_steps


def test_accounts_show_no_password_and_cannot_be_changed(superuser: User) -> None:
    page = browser(superuser).get(f"/admin/auth/user/{superuser.pk}/change/")

    assert page.status_code == 200
    assert superuser.password.encode() not in page.content
    assert b"pbkdf2" not in page.content
    assert browser(superuser).post(page.request["PATH_INFO"], {"is_staff": "on"}).status_code == 403


def test_nobody_is_made_a_superuser_past_the_actions(superuser: User) -> None:
    assert browser(superuser).get("/admin/auth/user/add/").status_code == 403
    assert not admin.site.is_registered(Group)
