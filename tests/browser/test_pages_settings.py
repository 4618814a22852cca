"""Settings, questions and my submissions in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotator.actions import labeling, queueing
from annotator.models import Annotation, Guidelines, Membership, Project, Role
from tests import factories as make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]


def test_the_preview_follows_what_is_typed_and_markup_stays_text(open_as: Open, project: Project) -> None:
    page = open_as(make.member(project, Role.MANAGER), "/p/maths/settings/")
    page.locator("#id_guidelines").fill("Judge **each** step, as $x^2$.\n\n<b>not bold</b>")
    preview = page.get_by_role("region", name="As people see it")
    expect(preview.locator("strong")).to_have_text("each")
    expect(preview.locator(".katex")).to_have_count(1)
    expect(preview).to_contain_text("<b>not bold</b>")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("status").first).to_contain_text("Saved.")
    assert Guidelines.objects.get().text.startswith("Judge **each** step")


def test_after_a_refusal_the_focus_is_on_what_is_wrong(open_as: Open, project: Project) -> None:
    page = open_as(make.member(project, Role.MANAGER), "/p/maths/settings/")
    page.locator("#id_lease_seconds").fill("1")
    page.get_by_role("button", name="Save settings").click()
    expect(page.locator("[data-focus]")).to_be_focused()
    page.get_by_role("link", name="Lease in seconds").click()
    expect(page.locator("#id_lease_seconds")).to_be_in_viewport()
    expect(page.locator("#id_lease_seconds")).to_have_value("1")


def test_a_submission_is_opened_again_changed_and_handed_in(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    actor = make.as_actor(member)
    done = queueing.next_assignment(actor=actor)
    labeling.submit(actor=actor, assignment_id=done.pk, work=make.marked(1, 1, 1))
    page = open_as(member, "/p/maths/mine/")
    page.get_by_role("button", name="Open again").click()
    expect(page.locator("[data-step][aria-current]")).to_be_visible()
    page.locator("#step-1").click()
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("#bench h1")).to_have_text("All done")
    assert Annotation.objects.get(current=True).labels == [1, -1, None]


def test_times_are_shown_in_the_readers_own_zone(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project)
    actor = make.as_actor(member)
    done = queueing.next_assignment(actor=actor)
    labeling.submit(actor=actor, assignment_id=done.pk, work=make.marked(1, 1, 1))
    page = open_as(member, "/p/maths/mine/")
    expect(page.locator("time[data-local]").first).not_to_contain_text("UTC")


def test_on_a_phone_the_pages_of_a_project_fold_into_a_menu(open_as: Open, project: Project) -> None:
    page = open_as(make.member(project, Role.MANAGER), "/p/maths/mine/")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".project-nav")).to_be_hidden()
    page.locator(".project-menu summary").click()
    page.get_by_role("link", name="Settings").click()
    expect(page).to_have_url(re.compile(r"/p/maths/settings/$"))
