"""Nothing is lost: not by a lost session, a dead server, a closed tab, a slip of the finger."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotator.models import Annotation, Assignment, Membership, Project, QueueRow
from tests import factories as make
from tests.browser.bench import Open, active, next_is_ready, over, press, ready, saved, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
EVERYTHING = re.compile(r"/p/maths/")
PASSWORD = "steps-and-marks"


@pytest.fixture
def sign_in(member: Membership) -> Callable[[Page], None]:
    """Sign in through the alert, by keyboard."""
    assert member.user is not None
    member.user.set_password(PASSWORD)
    member.user.save()

    def signed_in(page: Page) -> None:
        page.locator("[data-sign-in] input[type=password]").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.locator("[data-sign-in]")).to_have_count(0)

    return signed_in


def sign_out_elsewhere(page: Page) -> None:
    """The session is gone, and with it the token that the page arrived with."""
    page.context.clear_cookies()


def kept_here(page: Page) -> int:
    """How many things of a person this browser keeps."""
    count: int = page.evaluate(
        "Object.keys(localStorage).filter((key) => key.startsWith('stepmark:work:')).length"
    )
    return count


def test_an_expired_session_is_renewed_in_place_and_nothing_is_lost(
    open_as: Open, project: Project, member: Membership, sign_in: Callable[[Page], None]
) -> None:
    make.work(project, priority=0.9, texts=["a", "b"])
    make.work(project, priority=0.1, texts=["c"])
    page = open_as(member)
    ready(page)
    next_is_ready(page)
    sign_out_elsewhere(page)
    press(page, "1 2 Enter")
    expect(page.locator("#bench .steps")).to_contain_text("c")
    expect(page.locator("[data-alert]")).to_contain_text("You are signed out")
    press(page, "1")  # work goes on meanwhile

    sign_in(page)

    expect(page.locator("[data-progress]")).to_contain_text("1 today")
    press(page, "Enter")
    over(page)
    assert list(Annotation.objects.order_by("pk").values_list("labels", flat=True)) == [[1, 0], [1]]


def test_a_wrong_password_is_said_and_can_be_tried_again(
    open_as: Open, project: Project, member: Membership, sign_in: Callable[[Page], None]
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    sign_out_elsewhere(page)
    press(page, "1")
    page.locator("[data-sign-in] input[type=password]").fill("not it")
    press(page, "Enter")
    expect(page.locator("[data-sign-in] [role=status]")).not_to_be_empty()
    sign_in(page)
    saved(page)
    assert Assignment.objects.get().draft["labels"] == [1, None, None]


def test_an_idle_page_whose_lease_ran_out_still_hands_in(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "1 1 1")
    saved(page)
    Assignment.objects.update(state="expired", slot=None)
    QueueRow.objects.update(taken=0)
    press(page, "Enter")
    over(page)
    assert stored().labels == [1, 1, 1]


def test_while_the_server_is_away_work_goes_on_and_all_of_it_arrives(
    open_as: Open, project: Project, member: Membership
) -> None:
    for number in range(2):
        make.work(project, priority=1 - number / 10, texts=[f"number {number}", "b"])
    page = open_as(member)
    ready(page)
    next_is_ready(page)
    page.route(EVERYTHING, lambda route: route.abort("connectionrefused"))
    press(page, "1 c")
    page.keyboard.type("written in the dark")
    press(page, "Enter 1 Enter")
    expect(page.locator("#bench .steps")).to_contain_text("number 1")
    press(page, "2 2")
    expect(page.locator("[data-saved]")).to_contain_text("unsent")
    page.unroute(EVERYTHING)

    expect(page.locator("[data-progress]")).to_contain_text("1 today")
    saved(page)
    press(page, "Enter")
    over(page)
    first, second = Annotation.objects.order_by("pk")
    assert (first.details["comments"], second.labels) == ({"1": "written in the dark"}, [0, 0])


def test_a_server_that_answers_with_errors_or_slowly_costs_no_work(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    page.route(EVERYTHING, lambda route: route.fulfill(status=500, body="<h1>Server Error</h1>"))
    press(page, "1 0 2")
    expect(page.locator("[data-saved]")).to_contain_text("unsent")
    expect(page.locator("[data-step]")).to_have_count(3)
    page.unroute(EVERYTHING)
    saved(page)
    assert Assignment.objects.get().draft["labels"] == [1, 0, None]


def test_labels_given_in_a_hurry_are_all_stored_though_no_draft_was_saved_yet(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=list("abcdefgh"))
    page = open_as(member)
    ready(page)
    press(page, "1 2 1 2 1 2 1 2 Enter")
    over(page)
    assert stored().labels == [1, 0] * 4


def test_every_change_is_saved_whatever_the_pace(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project, texts=list("abcd"))
    page = open_as(member)
    ready(page)
    for key in ["1", "2", "k", "1", "f", "u", "j", "1"]:
        page.keyboard.press(key)
        page.wait_for_timeout(180)
    shown = [page.locator("[data-step]").nth(i).get_attribute("data-label") for i in range(4)]
    saved(page)
    draft = Assignment.objects.get().draft["labels"]
    assert [str(label) if label is not None else "none" for label in draft] == shown


def test_backspace_and_delete_throw_nothing_away(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "1 2 Backspace Delete Control+Backspace Escape")
    expect(page.locator("[data-step][data-label='1'], [data-step][data-label='0']")).to_have_count(2)
    assert page.url.endswith("/label/")


def test_undo_takes_back_one_thing_and_keeps_the_rest(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "1 2 c")
    page.keyboard.type("kept")
    press(page, "Escape f Control+z")
    expect(page.locator("[data-step]").nth(2)).not_to_have_attribute("data-unsure", "")
    expect(page.locator("[data-remark]")).to_have_text("kept")
    press(page, "Control+z Control+z")
    expect(page.locator("[data-step][data-label='1']")).to_have_count(1)
    press(page, "Control+Shift+z Control+Shift+z 1 Enter")
    over(page)
    assert (stored().labels, stored().details["comments"]) == ([1, 0, 1], {"2": "kept"})


def test_the_active_step_is_in_sight_and_in_the_upper_part(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=[f"Step {i}: " + "some words of mathematics " * 12 for i in range(40)])
    page = open_as(member)
    ready(page)
    height = page.viewport_size["height"] if page.viewport_size else 720
    for _ in range(39):
        page.keyboard.press("1")
        box = page.locator("[data-step][data-active]").bounding_box()
        assert box is not None
        assert 0 < box["y"] < height * 0.6
        expect(page.locator("[data-step][data-active]")).to_be_focused()
    assert active(page) == 39


def test_digits_typed_in_any_field_label_nothing(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    for key in ("c", "s", "x", "b", "q", "n"):
        page.keyboard.press(key)
        page.keyboard.type("123u")
        page.keyboard.press("Escape")
    expect(page.locator("[data-step][data-label=none]")).to_have_count(3)


def test_copies_hold_no_text_of_the_corpus_and_are_wiped_at_sign_out(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=["a secret of the corpus"])
    page = open_as(member)
    ready(page)
    page.context.set_offline(True)
    press(page, "1")
    expect(page.locator("[data-saved]")).to_contain_text("unsent")
    assert kept_here(page) == 1
    assert "secret" not in page.evaluate("JSON.stringify({...localStorage})")
    page.context.set_offline(False)
    page.locator(".menu-name").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#id_username")).to_be_visible()
    assert kept_here(page) == 0
    assert Assignment.objects.get().draft["labels"] == [1]


def test_signing_out_with_unsent_work_asks_first(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    page.route(EVERYTHING, lambda route: route.abort())
    press(page, "1 1 1 Enter")
    expect(page.locator("[data-outbox]")).to_be_visible()
    page.locator(".menu-name").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("[data-alert]")).to_contain_text("not sent yet. Signing out now forgets it.")
    page.unroute(EVERYTHING)
    page.get_by_role("button", name="Sign out and forget").click()
    expect(page.locator("#id_username")).to_be_visible()
    assert kept_here(page) == 0
