"""Submit shows the next solution at once and sends behind it; what can't be sent waits; what is refused comes back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from annotator.models import Annotation, Assignment, Membership, Project
from tests import factories as make
from tests.browser.bench import Open, eventually, next_is_ready, over, press, ready, saved, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SUBMIT = re.compile(r"/submit$")


def cut_off(page: Page) -> None:
    """The server is gone: every request fails."""
    page.context.set_offline(True)


def back_again(page: Page) -> None:
    page.context.set_offline(False)


def test_the_next_solution_is_there_before_the_server_has_answered(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, priority=0.9, texts=["first of one"])
    make.work(project, priority=0.1, texts=["first of two with $x^2$"])
    page = open_as(member)
    ready(page)
    next_is_ready(page)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(SUBMIT, hold)

    press(page, "1 Enter")

    expect(page.locator("#bench .steps")).to_contain_text("first of two")
    expect(page.locator("#bench .steps .katex")).to_have_count(1)
    expect(page.locator("[data-step]").first).to_be_focused()
    assert not Annotation.objects.exists()
    held[0].continue_()
    expect(page.locator("[data-progress]")).to_contain_text("1 today")
    assert Annotation.objects.get().labels == [1]


def test_several_submits_wait_for_the_connection_and_arrive_in_order(
    open_as: Open, project: Project, member: Membership
) -> None:
    for number in range(3):
        make.work(project, priority=1 - number / 10, texts=[f"solution {number}", "more"])
    page = open_as(member)
    ready(page)
    next_is_ready(page)

    cut_off(page)
    press(page, "1 3 Enter")
    expect(page.locator("#bench .steps")).to_contain_text("solution 1")
    expect(page.locator("[data-outbox]")).to_contain_text("1 solution unsent")
    page.wait_for_timeout(400)
    press(page, "2 1 Enter")
    expect(page.locator("[data-outbox]")).to_contain_text("2 solutions unsent")
    expect(page.locator("[data-alert]")).to_contain_text("Everything is kept")
    assert not Annotation.objects.exists()
    back_again(page)

    expect(page.locator("#bench .steps")).to_contain_text("solution 2")
    expect(page.locator("[data-outbox]")).to_be_hidden()
    labels = Annotation.objects.order_by("submitted_at").values_list("labels", flat=True)
    assert list(labels) == [[1, -1], [0, 1]]


def test_a_reply_that_was_lost_is_asked_for_again_and_stored_once(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    lost: list[str] = []

    def lose_the_first_reply(route: Route) -> None:
        if not lost:
            route.fetch()
            lost.append("the server has it")
            route.abort()
        else:
            route.continue_()

    page.route(SUBMIT, lose_the_first_reply)
    press(page, "1 1 1 Enter")
    over(page)
    assert Annotation.objects.count() == 1


def test_what_waits_when_the_tab_is_closed_is_sent_at_the_next_visit(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    page.route(SUBMIT, lambda route: route.abort())
    press(page, "1 2 1 Enter")
    expect(page.locator("[data-outbox]")).to_contain_text("1 solution unsent")
    page.unroute(SUBMIT)
    page = open_as(member)
    over(page)
    assert stored().labels == [1, 0, 1]


def test_what_the_server_refuses_comes_back_with_all_that_was_marked(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, priority=0.9, texts=["the former"])
    make.work(project, priority=0.1, texts=["the next"])
    page = open_as(member)
    ready(page)
    next_is_ready(page)
    Project.objects.update(require_comment=True)  # the page still has the old rules

    press(page, "3 Enter")

    expect(page.locator("#bench .steps")).to_contain_text("the former")
    expect(page.locator("[data-alert]")).to_contain_text("Say in a comment what is wrong with step 1")
    expect(page.locator("[data-step]").first).to_have_attribute("data-label", "-1")
    page.wait_for_timeout(750)  # keys meant for the next solution rest for a moment
    press(page, "c")
    page.keyboard.type("adds wrongly")
    press(page, "Enter Enter")
    expect(page.locator("#bench .steps")).to_contain_text("the next")
    expect(page.locator("[data-progress]")).to_contain_text("1 today")
    assert stored().details["comments"] == {"0": "adds wrongly"}


def test_keys_meant_for_the_next_solution_do_not_label_one_that_came_back(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, priority=0.9, texts=["the former"])
    make.work(project, priority=0.1, texts=["the next"])
    page = open_as(member)
    ready(page)
    next_is_ready(page)
    Project.objects.update(require_comment=True)
    press(page, "3 Enter")
    expect(page.locator("[data-alert]")).to_be_visible()
    press(page, "1")
    expect(page.locator("[data-step]").first).to_have_attribute("data-label", "-1")


def test_two_tabs_one_clear_message_and_no_silent_overwrite(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    press(other, "1 1")
    saved(other)

    press(page, "2")
    expect(page.locator("[data-alert]")).to_contain_text("changed later in another tab")
    assert Assignment.objects.get().draft["labels"] == [1, 1, None]
    page.get_by_role("button", name="Keep mine").click()
    saved(page)
    assert Assignment.objects.get().draft["labels"] == [0, None, None]


def test_a_solution_handed_in_elsewhere_is_said_so_and_work_goes_on(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, priority=0.9)
    make.work(project, priority=0.1, texts=["another one"])
    page = open_as(member)
    ready(page)
    next_is_ready(page)
    Assignment.objects.order_by("claimed_at").filter(pk=Assignment.objects.earliest("claimed_at").pk).update(
        state="skipped", slot=None
    )
    press(page, "1")
    expect(page.locator("[data-alert]")).to_contain_text("no longer yours")
    press(page, "Enter")
    expect(page.locator("#bench .steps")).to_contain_text("another one")


def test_drafts_of_both_solutions_survive_the_tab(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, priority=0.9, texts=["a", "b"])
    make.work(project, priority=0.1, texts=["c", "d"])
    page = open_as(member)
    ready(page)
    next_is_ready(page)
    page.route(SUBMIT, lambda route: route.abort())
    press(page, "1 1 Enter")
    page.wait_for_timeout(400)
    press(page, "2")
    saved(page)
    page.unroute(SUBMIT)
    page = open_as(member)
    expect(page.locator("#bench .steps")).to_contain_text("c")
    expect(page.locator("[data-step]").first).to_have_attribute("data-label", "0")
    eventually(page, Annotation.objects.exists)
    assert Annotation.objects.get().labels == [1, 1]


def test_thirty_solutions_need_one_key_a_step_and_one_each_and_keys_never_die(
    open_as: Open, project: Project, member: Membership
) -> None:
    for number in range(30):
        make.work(project, priority=1 - number / 100, texts=[f"solution {number}", "b", "c", "d"])
    page = open_as(member)
    ready(page)
    keys = 0
    for number in range(30):
        expect(page.get_by_text(f"solution {number}", exact=True)).to_be_visible()
        press(page, "1 2 1 1")
        keys += 4
        expect(page.locator("[data-step]").last).to_have_attribute("data-label", "1")
        press(page, "Enter")
        keys += 1
    over(page)
    assert list(Annotation.objects.values_list("labels", flat=True)) == [[1, 0, 1, 1]] * 30
    assert keys <= 1.05 * 120 + 30
    assert len(page.context.pages) == 1
