"""A file dropped on the import page, looked at, imported, paused and gone on with."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotator.models import ImportBatch, Project, Role
from tests import factories as make
from tests.files import jsonl, native

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]


def dropped_on(page: Page, selector: str, path: Path) -> None:
    """What the browser gets when somebody lets a file go over an element."""
    box = page.locator(selector).bounding_box()
    assert box is not None
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "data": data}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **place})


def test_a_file_is_dropped_looked_at_imported_paused_and_gone_on_with(
    open_as: Open, project: Project, tmp_path: Path, settings: Any
) -> None:
    settings.STEPMARK_UPLOADS = tmp_path / "uploads"
    row = {"problem": {"text": "Is $x^2 = 1$?"}, "solution": "Say $x = 1$.\n\nThen $x^2 = 1$."}
    file = tmp_path / "rows.jsonl"
    file.write_bytes(jsonl(row, b"{", *[native(number) for number in range(30)]).getvalue())
    page = open_as(make.member(project, Role.MANAGER), "/p/maths/imports/")

    dropped_on(page, "#import-file", file)
    page.get_by_role("button", name="Look at it").click()

    expect(page.locator(".import-row")).to_have_count(20)
    expect(page.locator(".import-row").first.locator(".katex").first).to_be_visible()
    expect(page.locator(".headline")).to_contain_text("native")
    page.get_by_role("button", name="Import it as shown").click()

    history = page.locator("#history")
    expect(history).to_contain_text("waiting")
    history.get_by_role("button", name="Pause").click()
    expect(history).to_contain_text("paused")
    history.get_by_role("button", name="Go on").click()
    expect(history).to_contain_text("waiting")
    history.get_by_role("button", name="Cancel").click()
    expect(history).to_contain_text("cancelled")
    assert ImportBatch.objects.get().state == "cancelled"


def test_the_focus_stays_in_what_renews_itself_and_goes_to_what_went_wrong(
    open_as: Open, project: Project
) -> None:
    make.batch(project)
    ImportBatch.objects.update(state="queued", upload=uuid.uuid4())
    page = open_as(make.member(project, Role.MANAGER), "/p/maths/imports/")
    history = page.locator("#history")

    history.get_by_role("button", name="Pause").focus()
    page.evaluate(
        "new Promise((done) => document.addEventListener('htmx:afterSettle', done, { once: true }))"
    )
    expect(history.get_by_role("button", name="Pause")).to_be_focused()
    page.keyboard.press("Enter")
    expect(history.get_by_role("button", name="Go on")).to_be_focused()

    page.goto(page.url.replace("imports", "segmentation"))
    page.get_by_role("button", name="See what would change").press("Enter")
    expect(page.get_by_role("alert")).to_be_focused()


def test_a_dialog_gives_the_focus_back_to_the_menu_it_came_from(open_as: Open, project: Project) -> None:
    page = open_as(make.member(project, Role.MANAGER), "/p/maths/queue/")
    page.locator(".menu-name").press("Enter")
    page.get_by_role("button", name="Preferences").press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator(".menu-name")).to_be_focused()
