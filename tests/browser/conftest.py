"""A person at a real browser: signed in, with a project to work in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import Page, expect

from annotator.models import Membership, Project
from tests import factories as make

#: Milliseconds to wait for what a page should show; a failure takes as long, a success never does.
PATIENCE = 20_000


@pytest.fixture(autouse=True)
def _bundles_are_built() -> None:
    if finders.find("workbench.js") is None:
        pytest.fail("The front end isn't built; run make setup.")


@pytest.fixture(autouse=True, scope="session")
def _busy_machines_take_their_time() -> None:
    expect.set_options(timeout=PATIENCE)


@pytest.fixture
def project(transactional_db: None) -> Project:
    return make.project(slug="maths", name="Maths", labels_per_solution=1)


@pytest.fixture
def member(project: Project) -> Membership:
    return make.member(project)


@pytest.fixture
def _server_is_idle(live_server: Any) -> Iterator[None]:
    """After the test, wait for requests that the page left behind: the tables are emptied next."""
    under_way: list[object] = []

    def started(**_: Any) -> None:
        under_way.append(None)

    def finished(**_: Any) -> None:
        under_way.pop()

    request_started.connect(started)
    request_finished.connect(finished)
    yield
    until = time.monotonic() + PATIENCE / 1000
    while under_way and time.monotonic() < until:
        time.sleep(0.02)
    request_started.disconnect(started)
    request_finished.disconnect(finished)


@pytest.fixture
def open_as(page: Page, live_server: Any, _server_is_idle: None) -> Iterator[Callable[..., Page]]:
    """Open a page as a member; a script error on the way fails the test."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def opened(member: Membership, path: str = "/p/maths/label/") -> Page:
        client = Client()
        client.force_login(member.user, backend="django.contrib.auth.backends.ModelBackend")  # type: ignore[arg-type]
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        page.context.add_cookies(
            [{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}]
        )
        page.goto(live_server.url + path)
        return page

    yield opened
    page.context.set_offline(True)  # nothing is sent any more
    assert errors == []
