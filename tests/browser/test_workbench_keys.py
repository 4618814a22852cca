"""Labeling in a real Chromium, by keyboard alone."""

from __future__ import annotations

import pytest
from django.db import transaction
from playwright.sync_api import expect

from annotator.actions.slots import take_slot
from annotator.models import Annotation, Assignment, Membership, Project, QueueRow
from tests import factories as make
from tests.browser.bench import Open, eventually, press, ready, saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_five_solutions_are_labelled_with_one_key_a_step(
    open_as: Open, project: Project, member: Membership
) -> None:
    for _ in range(5):
        make.work(project)
    page = open_as(member)
    for done in range(1, 6):
        ready(page)
        press(page, "1 2 1 Enter")
        expect(page.locator("#bench")).to_contain_text(f"{done} today")

    expect(page.locator("#bench h1")).to_have_text("All done")
    assert list(Annotation.objects.values_list("labels", flat=True)) == [[1, 0, 1]] * 5


def test_the_first_incorrect_step_closes_the_rest(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=["a", "b", "c", "d"])
    page = open_as(member)
    ready(page)
    press(page, "1 3 Enter")
    expect(page.locator("#bench h1")).to_have_text("All done")

    stored = Annotation.objects.get()
    assert (stored.labels, stored.stop, stored.finish_reason) == ([1, -1, None, None], 1, "found_error")


def test_a_mistaken_error_can_be_taken_back_in_place(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "3 k 1 1 1 Enter")
    expect(page.locator("#bench h1")).to_have_text("All done")
    assert Annotation.objects.get().labels == [1, 1, 1]


def test_undo_and_redo_go_through_the_whole_solution(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "1 2 3 u u u Control+Shift+Z Control+Shift+Z j 1 Enter")
    expect(page.locator("#bench h1")).to_have_text("All done")
    assert Annotation.objects.get().labels == [1, 0, 1]


def test_enter_says_what_is_missing_and_sends_nothing(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "1 Enter")
    expect(page.locator("[data-next]")).to_contain_text("2")
    assert not Annotation.objects.exists()


def test_a_draft_is_there_again_after_the_tab_was_closed(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "1 2")
    saved(page)
    page = open_as(member)
    ready(page)
    press(page, "1 Enter")
    expect(page.locator("#bench h1")).to_have_text("All done")
    assert Annotation.objects.get().labels == [1, 0, 1]


def test_keys_do_nothing_while_typing_a_comment(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "c")
    page.keyboard.type("see step 3, u x s 1")
    press(page, "Escape 1 1 1 Enter")
    expect(page.locator("#bench h1")).to_have_text("All done")
    stored = Annotation.objects.get()
    assert (stored.labels, stored.details["comments"]) == ([1, 1, 1], {"0": "see step 3, u x s 1"})


def test_doubt_is_a_flag_and_not_a_label(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "f 1 1 1 Enter")
    expect(page.locator("#bench h1")).to_have_text("All done")
    assert Annotation.objects.get().details["unsure"] == [0]


def test_in_all_steps_every_judged_step_is_labelled_and_context_is_not(
    open_as: Open, member: Membership
) -> None:
    Project.objects.update(mode="all_steps")
    project = Project.objects.get()
    make.work(project, texts=["do", "saw", "do more"], kinds=["action", "observation", "action"])
    page = open_as(member)
    ready(page)
    press(page, "3 1 Enter")
    expect(page.locator("#bench h1")).to_have_text("All done")
    stored = Annotation.objects.get()
    assert (stored.labels, stored.finish_reason) == ([-1, None, 1], "solution")


@pytest.mark.parametrize(("key", "reason"), [("x", "give_up"), ("b", "bad_problem")])
def test_one_can_stop_with_a_reason(
    open_as: Open, project: Project, member: Membership, key: str, reason: str
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, f"1 {key}")
    page.keyboard.type("the statement lacks a number")
    press(page, "Enter")
    expect(page.locator("#bench.bench-empty h1")).to_be_visible()
    stored = Annotation.objects.get()
    assert (stored.finish_reason, stored.labels[0]) == (reason, 1)
    assert stored.details["reason"] == "the statement lacks a number"


def test_skip_asks_why_and_brings_the_next(open_as: Open, project: Project, member: Membership) -> None:
    skipped, other = make.work(project, priority=0.9), make.work(project, priority=0.1)
    page = open_as(member)
    ready(page)
    press(page, "s")
    page.keyboard.type("outside my field")
    press(page, "Enter")
    expect(page.locator("#bench")).to_contain_text(other.solution.problem.text)
    eventually(page, lambda: Assignment.objects.filter(skip_reason="outside my field").exists())
    assert Assignment.objects.get(solution=skipped.solution).state == "skipped"
    assert QueueRow.objects.get(pk=skipped.pk).taken == 0


def test_two_enters_submit_once(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    press(page, "1 1 1 Enter Enter Enter")
    expect(page.locator("#bench h1")).to_have_text("All done")
    assert Annotation.objects.count() == 1


def test_a_lost_connection_keeps_the_work_and_sends_it_later(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    page = open_as(member)
    ready(page)
    page.context.set_offline(True)
    press(page, "1 1 1")
    expect(page.locator("[data-saved]")).to_contain_text("unsent")
    press(page, "Enter")
    page.context.set_offline(False)
    expect(page.locator("#bench h1")).to_have_text("All done")
    assert Annotation.objects.get().labels == [1, 1, 1]


def test_formulas_are_set_and_prices_are_not(open_as: Open, project: Project, member: Membership) -> None:
    make.work(
        project, texts=["Each costs $2 and $y = x^2$ holds.", r"\[\frac{1}{2}\]", r"bad: $\frac{1$ and $z$"]
    )
    page = open_as(member)
    ready(page)
    steps = page.locator("[data-step]")
    expect(steps.nth(0).locator(".katex")).to_have_count(1)
    expect(steps.nth(0)).to_contain_text("Each costs $2 and")
    expect(steps.nth(1).locator(".katex-display")).to_have_count(1)
    expect(steps.nth(2)).to_contain_text(r"\frac{1")


def test_markup_in_a_step_stays_text(open_as: Open, project: Project, member: Membership) -> None:
    make.work(
        project, texts=["<img src=x onerror=alert(1)>", r"$\href{javascript:alert(1)}{x}$", "<b>bold</b>"]
    )
    page = open_as(member)
    ready(page)
    expect(page.locator("[data-step]").nth(0)).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("[data-step] img, [data-step] a[href^=javascript], [data-step] b").count() == 0


def expire_and_give_to(other: Membership, row: QueueRow) -> None:
    """At once: the page, which looks for its next solution meanwhile, must not find this one open."""
    with transaction.atomic():
        row = QueueRow.objects.select_for_update().get(pk=row.pk)
        Assignment.objects.update(state="expired", slot=None)
        row.taken = 0
        Assignment.objects.create(
            project=other.project,
            solution=row.solution,
            member=other,
            slot=take_slot(row, other.project),
            lease_expires_at="2100-01-01T00:00Z",
        )


def test_a_late_submit_without_a_free_slot_is_kept_and_the_person_goes_on(
    open_as: Open, project: Project, member: Membership
) -> None:
    row = make.work(project)
    page = open_as(member)
    ready(page)
    expire_and_give_to(make.member(project), row)
    press(page, "1 1 1 Enter")
    expect(page.locator("#bench h1")).to_have_text("Nothing for you at the moment")
    stored = Annotation.objects.get(member=member)
    assert (stored.counted, stored.uncounted_reason) == (False, "late")
