"""The API's page: Swagger draws it under the strict policy."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.api.test_description import OPERATIONS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_swagger_draws_every_operation_and_the_policy_refuses_nothing(page: Page, live_server: Any) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.goto(f"{live_server.url}/api/docs/")
    expect(page.locator(".opblock")).to_have_count(len(OPERATIONS))
    assert said == []
