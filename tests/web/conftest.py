"""What page tests share: the four people who come to any page."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.test import Client

from annotator.models import Project, Role
from tests import factories as make


@dataclass(frozen=True)
class People:
    """Browsers of a manager, an annotator, somebody of another project, and somebody who is not signed in."""

    manager: Client
    annotator: Client
    stranger: Client
    nobody: Client


def browser(user: object = None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")  # type: ignore[arg-type]
    return client


def signed_in_to(project: Project, role: Role = Role.ANNOTATOR) -> Client:
    return browser(make.member(project, role).user)


@pytest.fixture
def project() -> Project:
    return make.project(slug="maths", name="Maths")


@pytest.fixture
def people(project: Project) -> People:
    return People(
        manager=signed_in_to(project, Role.MANAGER),
        annotator=signed_in_to(project),
        stranger=signed_in_to(make.project()),
        nobody=browser(),
    )
