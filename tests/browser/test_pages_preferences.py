"""The preferences panel: applied at once, kept, and refused where keys collide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotator.models import Membership, Preferences, Project
from tests import factories as make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]


def panel(page: Page) -> Any:
    page.locator(".menu-name").click()
    page.get_by_role("button", name="Preferences").click()
    return page.get_by_role("dialog", name="Preferences")


def saved(page: Page) -> None:
    expect(page.locator("#preferences [data-state]")).to_have_text("Saved")


def kept() -> dict[str, Any]:
    return dict(Preferences.objects.get().data)


def test_a_look_is_applied_at_once_kept_and_there_before_the_first_paint(
    open_as: Open, member: Membership
) -> None:
    page = open_as(member, "/")
    dialog = panel(page)
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    for name in ("Dark", "High", "Larger"):
        dialog.get_by_role("radio", name=name, exact=True).check()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != paper
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "20px"
    saved(page)
    expect(page.locator("#preferences [data-state]")).to_have_text("Saved")
    page.wait_for_load_state("networkidle")
    assert kept() == {"theme": "dark", "contrast": "high", "size": "larger"}

    page.add_init_script(
        "new MutationObserver(() => document.body && (window.first ??= document.documentElement.dataset.theme))"
        ".observe(document, {childList: true, subtree: true})"
    )
    page.goto(page.url)
    assert page.evaluate("window.first") == "dark"


def test_the_sign_in_page_remembers_the_look_of_whoever_was_here_last(
    open_as: Open, member: Membership
) -> None:
    Preferences.objects.create(user_id=member.user_id, data={"theme": "dark", "contrast": "high"})
    page = open_as(member, "/")
    page.context.clear_cookies()
    page.goto(page.url)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("html")).to_have_attribute("data-contrast", "high")


def test_a_key_that_is_taken_is_refused_in_the_servers_sentence_and_both_are_marked(
    open_as: Open, member: Membership
) -> None:
    page = open_as(member, "/")
    panel(page)
    page.locator("[data-key-for=skip]").press("1")
    expect(page.locator("#preferences-error")).to_have_text("'1' would mean both correct and skip.")
    marked = page.locator("#preferences [aria-invalid=true]")
    assert [field.get_attribute("data-key-for") for field in marked.all()] == ["correct", "skip"]
    assert not Preferences.objects.filter(data__has_key="keys").exists()


def test_two_keys_can_change_places(open_as: Open, member: Membership) -> None:
    page = open_as(member, "/")
    panel(page)
    page.locator("[data-key-for=skip]").press("x")
    expect(page.locator("#preferences-error")).to_be_visible()
    page.locator("[data-key-for=give_up]").press("s")
    saved(page)
    expect(page.locator("#preferences-error")).to_be_hidden()
    assert kept()["keys"] == {"skip": "x", "give_up": "s"}


def test_a_refused_key_is_gone_when_the_panel_is_closed(open_as: Open, member: Membership) -> None:
    page = open_as(member, "/")
    panel(page)
    page.locator("[data-key-for=skip]").press("1")
    expect(page.locator("#preferences-error")).to_be_visible()
    page.keyboard.press("Escape")
    panel(page)
    expect(page.locator("[data-key-for=skip]")).to_have_value("s")
    expect(page.locator("#preferences-error")).to_be_hidden()


def test_a_new_key_works_in_the_workbench_without_a_reload(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    expect(page.locator("[data-step][aria-current]")).to_be_visible()
    panel(page)
    page.locator("[data-key-for=correct]").press("w")
    saved(page)
    page.keyboard.press("Escape")
    expect(
        page.locator("[data-key-for=correct]")
    ).to_be_hidden()  # the panel is gone, and keys are the bench's
    page.keyboard.press("1")
    expect(page.locator("#step-0")).to_have_attribute("data-label", "none")
    page.keyboard.press("w")
    expect(page.locator("#step-0")).to_have_attribute("data-label", "1")


def test_all_keys_go_back_to_how_they_came(open_as: Open, member: Membership) -> None:
    Preferences.objects.create(user_id=member.user_id, data={"keys": {"skip": "w"}})
    page = open_as(member, "/")
    panel(page)
    page.get_by_role("button", name="Keys as they came").click()
    saved(page)
    expect(page.locator("[data-key-for=skip]")).to_have_value("s")
    assert kept()["keys"] == {}


def test_without_a_connection_the_panel_says_so(open_as: Open, member: Membership) -> None:
    page = open_as(member, "/")
    panel(page)
    page.context.set_offline(True)
    page.get_by_role("radio", name="Dark", exact=True).check()
    expect(page.locator("#preferences-error")).to_contain_text("could not be saved")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.context.set_offline(False)


def test_hidden_key_hints_leave_the_buttons_alone(
    open_as: Open, project: Project, member: Membership
) -> None:
    Preferences.objects.create(user_id=member.user_id, data={"key_hints": False})
    make.work(project)
    page = open_as(member)
    correct = page.locator(".label-key[data-command=correct]")
    expect(correct).to_be_visible()
    expect(correct.locator("kbd")).to_be_hidden()
