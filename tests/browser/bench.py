"""What the workbench's browser tests share: pressing keys, waiting for what a person would wait for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from annotator.models import Annotation, Project

Open = Callable[..., Page]


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def ready(page: Page) -> None:
    """The bench is drawn and listens."""
    expect(page.locator("#bench [aria-current=step]")).to_be_visible()


def next_is_ready(page: Page) -> None:
    """The solution after this one was claimed and set off-screen."""
    expect(page.locator("body")).to_have_attribute("data-ahead", "ready")


def saved(page: Page) -> None:
    expect(page.locator("[data-saved]")).to_contain_text("Saved")


def over(page: Page) -> None:
    """The last solution was taken by the server, and nothing is left for this person."""
    expect(page.locator("#bench.bench-empty h1")).to_be_visible()


def rules(**fields: Any) -> None:
    """Change the one project's rules."""
    Project.objects.update(**fields)


def eventually(page: Page, holds: Callable[[], bool]) -> None:
    """What is sent behind the next solution arrives a moment after that was shown."""
    for _ in range(400):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not come true within 20 s")


def stored() -> Annotation:
    """The one annotation."""
    found: Annotation = Annotation.objects.get()
    return found


def active(page: Page) -> int:
    """The framed step, 0-based."""
    return int(page.locator("[data-step][data-active]").get_attribute("data-step") or -1)
