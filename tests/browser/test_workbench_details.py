"""What a person says beside the labels, by keyboard: kinds of error, corrections, cuts, questions, aids, notes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotator.actions import preferences
from annotator.models import Assignment, Membership, Project, Question
from tests import factories as make
from tests.browser.bench import Open, active, over, press, ready, rules, saved, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_required_kind_of_error_is_asked_for_before_the_submit(
    open_as: Open, project: Project, member: Membership
) -> None:
    rules(require_error_type=True)
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "1 3")
    expect(page.locator("[data-next]")).to_contain_text("Step 2 needs a kind of error. Enter asks for it.")
    press(page, "Enter Enter")  # a second Enter chooses nothing
    expect(page.get_by_role("group", name="What kind of error is in step 2?")).to_be_visible()
    press(page, "2")
    expect(page.locator("[data-step]").nth(1)).to_contain_text("wrong formula or theorem")
    press(page, "Enter")
    over(page)
    assert stored().details["error_types"] == {"1": "wrong formula or theorem"}


def test_where_every_step_is_judged_the_kind_of_error_is_that_of_the_step_just_marked(
    open_as: Open, project: Project, member: Membership
) -> None:
    rules(mode="all_steps")
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "3 e a")
    assert active(page) == 1
    press(page, "1 1 Enter")
    over(page)
    assert stored().details["error_types"] == {"0": "notation or unit"}


def test_a_kind_of_error_is_taken_back_with_its_label_and_by_undo(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=["one", "two"])
    page = open_as(member)
    ready(page)
    press(page, "3 e 1 k 1 u")
    expect(page.locator("[data-step]").first.locator(".facts")).to_have_text("calculation")
    press(page, "Control+z")
    expect(page.locator("[data-step]").first.locator(".facts")).to_be_hidden()


def test_correct_through_here_is_off_by_default_and_recorded_as_implied_where_it_is_on(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=["a", "b", "c", "d"])
    page = open_as(member)
    ready(page)
    press(page, "j j Shift+1")
    assert page.locator("[data-step][data-label='1']").count() == 0
    rules(correct_through=True)
    page = open_as(member)
    ready(page)
    press(page, "j j Shift+1")
    assert active(page) == 3
    press(page, "k k k 2 j j 1 Enter")
    over(page)
    assert (stored().labels, stored().details["implied"]) == ([0, 1, 1, 1], [1, 2])


def test_a_cut_is_reported_with_its_place_by_keyboard_and_by_mouse(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=["𝔽 is a field. So $a.b = 0$. Hence done.", "too short", "end"])
    page = open_as(member)
    ready(page)
    press(page, "m ArrowDown ArrowDown ArrowDown Enter")
    expect(page.locator("[data-step]").first.locator(".facts")).to_contain_text(
        "split after “𝔽 is a field. So"
    )
    press(page, "j m p 1 k k 1 1 1 Enter")
    over(page)
    assert stored().details["segmentation"] == {
        "0": {"is": "coarse", "at": 28},
        "1": {"is": "fine", "merge": "previous"},
    }


def test_the_step_that_corrects_an_error_is_named_from_either_side(
    open_as: Open, project: Project, member: Membership
) -> None:
    rules(mode="all_steps")
    make.work(project, texts=["a", "b", "c", "d"])
    page = open_as(member)
    ready(page)
    press(page, "3 k v 1 Enter")
    expect(page.locator(".panel-error")).to_have_text("A step from 2 to 4")
    press(page, "3 Enter")
    expect(page.locator("[data-step]").first.locator(".facts")).to_have_text("corrected in step 3")
    press(page, "j 3 1 v Enter 1 Enter")  # from step 4, whose suggestion is the error in step 2
    over(page)
    assert stored().details["recovered_at"] == {"0": 2, "1": 3}


def test_a_question_reaches_the_lead_and_work_goes_on(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "1 q")
    page.keyboard.type("Is rounding 1 an error?")
    press(page, "Enter")
    expect(page.locator("[data-next]")).to_contain_text("with the lead")
    press(page, "1 1 Enter")
    over(page)
    asked = Question.objects.get()
    assert (asked.text, asked.step, stored().labels) == ("Is rounding 1 an error?", 1, [1, 1, 1])


def test_a_question_that_can_not_be_sent_keeps_its_words(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    page.context.set_offline(True)
    press(page, "q")
    page.keyboard.type("why?")
    press(page, "Enter")
    expect(page.locator("[data-alert]")).to_contain_text("The question was not sent")
    expect(page.locator("#reason-text")).to_have_value("why?")


def test_aids_open_on_purpose_and_their_use_is_recorded(
    open_as: Open, project: Project, member: Membership
) -> None:
    rules(aid_equations=True, aid_answer=True)
    make.work(project, texts=["So $3+4=8$ and $2+2=4$.", "x"])
    page = open_as(member)
    ready(page)
    expect(page.locator(".verdict")).to_have_count(0)
    press(page, "a 1")
    expect(page.locator(".verdict")).to_have_text(["does not hold", "holds"])
    expect(page.locator("[data-aids]")).to_contain_text("One that does not hold is in step 1")
    press(page, "3 Enter")
    over(page)
    assert stored().details["aids"] == ["equations"]


def test_notes_to_oneself_stay_in_the_draft_and_their_digits_label_nothing(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "n")
    page.keyboard.type("x = 123, u")
    saved(page)
    press(page, "Escape 1")
    expect(page.locator("[data-step][data-label='1']")).to_have_count(1)
    assert Assignment.objects.get().draft["details"]["scratch"] == "x = 123, u"
    press(page, "1 1 Enter")
    over(page)
    assert "scratch" not in stored().details


def test_a_remapped_key_labels_and_stands_on_its_button(
    open_as: Open, project: Project, member: Membership
) -> None:
    preferences.save(user_id=member.user_id or 0, changes={"keys": {"correct": "7", "submit": "w"}})
    make.work(project, texts=["only"])
    page = open_as(member)
    ready(page)
    expect(page.locator(".label-key.is-correct kbd")).to_have_text("7")
    expect(page.locator("[data-next]")).to_contain_text("w goes to step 1")
    page.keyboard.press("1")
    expect(page.locator("[data-step][data-label='1']")).to_have_count(0)
    page.keyboard.press("7")
    expect(page.locator("[data-next]")).to_contain_text("w submits")
    page.keyboard.press("w")
    over(page)
    assert stored().labels == [1]


def test_the_keys_stand_on_the_buttons_and_under_the_question_mark(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    expect(page.locator(".label-key kbd")).to_have_text(["1", "2", "3"])
    press(page, "?")
    dialog = page.get_by_role("dialog", name="All keys")
    expect(dialog).to_contain_text("kind of error")
    expect(dialog).to_contain_text("can't be verified within 2 minutes")
    press(page, "1 Escape 1")
    expect(page.locator("[data-step][data-label='1']")).to_have_count(1)


def seconds_of(page: Page) -> dict[str, float]:
    found: dict[str, float] = stored().details["step_seconds"]
    return found


def test_time_is_counted_by_step(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project, texts=["slow", "quick"])
    page = open_as(member)
    ready(page)
    page.wait_for_timeout(700)
    press(page, "1 1 Enter")
    over(page)
    assert 0.6 <= seconds_of(page)["0"] <= (stored().active_seconds or 0)
