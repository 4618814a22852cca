"""Practice by keyboard alone: a hint at a time, the comparison, and on to the real work."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotator.models import Annotation, Assignment, Gold, Membership, Preferences, Project
from tests import factories as make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
PAGE = "/p/maths/practice/"


def practice_item(project: Project) -> Gold:
    item = make.gold(project)
    Gold.objects.filter(pk=item.pk).update(use=Gold.Use.PRACTICE, note="Twice two is four.")
    return item


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def ready(page: Page) -> None:
    expect(page.locator("[data-step][aria-current]")).to_be_visible()


def test_the_whole_tour_takes_only_keys(open_as: Open, project: Project, member: Membership) -> None:
    practice_item(project), practice_item(project)
    make.work(project)
    page = open_as(member, PAGE)
    ready(page)
    press(page, "1 3 Enter")
    expect(page.locator("[data-outcome]")).to_have_text("Your labels are acceptable.")
    press(page, "Enter")
    ready(page)
    press(page, "3 Enter")
    expect(page.locator("[data-outcome]")).to_have_text("Not quite: compare the framed steps.")
    expect(page.locator("#bench")).to_contain_text("Twice two is four.")
    press(page, "Enter")
    expect(page).to_have_url(re.compile(r"/p/maths/label/$"))
    ready(page)
    assert list(Annotation.objects.values_list("labels", flat=True)) == [[1, -1, None], [-1, None, None]]


def test_one_hint_at_a_time_each_when_it_can_be_used(
    open_as: Open, project: Project, member: Membership
) -> None:
    practice_item(project)
    page = open_as(member, PAGE)
    hint = page.locator("[data-coach-text]")
    expect(hint).to_contain_text("framed step")
    press(page, "1")
    expect(hint).to_contain_text("takes the last label back")
    press(page, "1")
    expect(hint).to_contain_text("In doubt")
    press(page, "1")
    expect(hint).to_contain_text("Nothing is missing")
    press(page, "u k 3")
    expect(hint).to_contain_text("After the first error")


def test_hints_name_the_keys_in_use(open_as: Open, project: Project, member: Membership) -> None:
    Preferences.objects.create(user_id=member.user_id, data={"keys": {"correct": "w"}})
    practice_item(project)
    page = open_as(member, PAGE)
    expect(page.locator("[data-coach-text] kbd").first).to_have_text("w")


def test_hints_can_be_hidden_and_are_gone_once_seen(
    open_as: Open, project: Project, member: Membership
) -> None:
    practice_item(project), practice_item(project)
    page = open_as(member, PAGE)
    ready(page)
    page.get_by_role("button", name="Hide hints").click()
    expect(page.locator("[data-coach]")).to_have_count(0)
    press(page, "1 3 Enter")
    expect(page.locator("[data-outcome]")).to_be_visible()
    press(page, "Enter")
    ready(page)
    expect(page.locator("[data-coach]")).to_have_count(0)


def test_practice_cannot_be_skipped_and_claims_no_work(
    open_as: Open, project: Project, member: Membership
) -> None:
    practice_item(project)
    make.work(project)
    page = open_as(member, PAGE)
    ready(page)
    press(page, "s")
    expect(page.locator("[data-reason]:visible")).to_have_count(0)
    expect(page.get_by_role("button", name="Skip")).to_have_count(0)
    press(page, "1 3 Enter")
    expect(page.locator("[data-outcome]")).to_be_visible()
    assert list(Assignment.objects.values_list("purpose", flat=True)) == ["practice"]


def test_labels_are_kept_when_the_page_is_left_half_way(
    open_as: Open, project: Project, member: Membership
) -> None:
    practice_item(project)
    page = open_as(member, PAGE)
    ready(page)
    press(page, "1")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    page = open_as(member, PAGE)
    ready(page)
    expect(page.locator("#step-0")).to_have_attribute("data-label", "1")
    expect(page.locator("[data-coach-text]")).to_contain_text("takes the last label back")


def test_the_end_offers_the_real_work(open_as: Open, project: Project, member: Membership) -> None:
    page = open_as(member, PAGE)
    expect(page.get_by_role("heading", level=1)).to_contain_text("nothing to practise on")
    press(page, "Enter")
    expect(page).to_have_url(re.compile(r"/p/maths/label/$"))
