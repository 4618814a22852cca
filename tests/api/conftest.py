"""What the API's tests share: scripts with tokens, of the four people who come to any address."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from annotator.actions import tokens
from annotator.actions.tokens import Scope
from annotator.models import Project, Role
from tests import factories as make


def script(user: User | None = None, *scopes: Scope) -> Client:
    """A client with a token of these scopes (all where none is named)."""
    if user is None:
        return Client()
    made = tokens.make(user_id=user.pk, name="test", scopes=scopes or list(Scope))
    return Client(headers={"Authorization": f"Bearer {made.secret}"})


def script_in(project: Project, role: Role = Role.ANNOTATOR) -> Client:
    return script(make.member(project, role).user)


def send(client: Client, method: str, path: str, body: Any = None) -> Any:
    data = b"" if body is None else json.dumps(body)
    return client.generic(method, path, data, content_type="application/json")


@dataclass(frozen=True)
class Scripts:
    """Scripts of a manager, an annotator, somebody of another project, and one without a token."""

    manager: Client
    annotator: Client
    stranger: Client
    nobody: Client


@pytest.fixture(autouse=True)
def _nobody_has_asked_before() -> Iterator[None]:
    """What was counted for the rate limits is forgotten."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def project() -> Project:
    return make.project(slug="maths", name="Maths")


@pytest.fixture
def scripts(project: Project) -> Scripts:
    return Scripts(
        manager=script_in(project, Role.MANAGER),
        annotator=script_in(project),
        stranger=script_in(make.project(slug="other")),
        nobody=script(),
    )
