"""Cases decided by keyboard; the pages about people without an accessibility violation, in each theme."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotator.actions import adjudication, calibration, members
from annotator.models import (
    Adjudication,
    AdjudicationCase,
    Gold,
    Membership,
    Problem,
    Project,
    QueueRow,
    Role,
)
from tests import factories as make
from tests.actions.flow import checked, claim, label
from tests.browser.test_pages_axe import violations, violations_in_each_theme

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
STEPS = [r"Let $x = 2$, so \(x^2 = 4\).", r"Then \[x^3 = \sum_{k=1}^{2} 3k = 8.\]", "So the answer is 8."]


def tie(project: Project, **fields: object) -> AdjudicationCase:
    row = make.work(project, wanted=2, texts=STEPS, **fields)
    label(make.actor(project), 1, -1, None, details={"comments": {"1": "the sum is 9"}, "unsure": [0]})
    label(make.actor(project), 1, 1, 1)
    return AdjudicationCase.objects.get(solution_id=row.pk)


@pytest.fixture
def reviewer(project: Project) -> Membership:
    Project.objects.filter(pk=project.pk).update(labels_max=2)
    return make.member(project, Role.REVIEWER)


def test_a_case_is_decided_by_keyboard_alone(open_as: Open, project: Project, reviewer: Membership) -> None:
    tie(project), tie(project)
    page = open_as(reviewer, "/p/maths/adjudicate/")
    page.get_by_role("button", name="Take the next case").press("Enter")
    expect(page.locator("[data-step][data-active]")).to_have_attribute("data-step", "0")
    for key in ("1", "3", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("The sum is 9, not 8.")
    page.keyboard.press("Enter")
    expect(page.locator(".notice.is-done")).to_have_text("Decided.")

    made = Adjudication.objects.get()
    assert (made.labels, made.stop, made.reason) == ([1, -1, None], 1, "The sum is 9, not 8.")
    expect(page.locator("[data-step][data-active]")).to_have_attribute("data-step", "0")


def test_undo_moves_and_a_bad_problem_go_by_keyboard_too(
    open_as: Open, project: Project, reviewer: Membership
) -> None:
    tie(project)
    page = open_as(reviewer, "/p/maths/adjudicate/")
    page.get_by_role("button", name="Take the next case").click()
    for key in ("3", "u", "j", "k"):
        page.keyboard.press(key)
    expect(page.locator("[data-step][data-label='-1']")).to_have_count(0)
    page.keyboard.press("b")
    expect(page.locator("#bad_problem")).to_be_checked()
    page.keyboard.press("c")
    page.keyboard.type("It asks for nothing.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="No case waits")).to_be_visible()
    assert Adjudication.objects.get().labels == [None, None, None]


def test_digits_typed_in_the_reason_label_nothing(
    open_as: Open, project: Project, reviewer: Membership
) -> None:
    tie(project)
    page = open_as(reviewer, "/p/maths/adjudicate/")
    page.get_by_role("button", name="Take the next case").click()
    page.locator("#reason").fill("")
    page.locator("#reason").press_sequentially("1 and 3")
    expect(page.locator("[data-step]:not([data-label='none'])")).to_have_count(0)


@pytest.fixture
def manager(project: Project) -> Membership:
    """A manager of a project in which something has happened on every page."""
    Project.objects.filter(pk=project.pk).update(
        labels_max=2, gold_rate=0.2, calibration_size=2, standing_shown="accuracy", exam_size=1
    )
    project.refresh_from_db()
    Membership.objects.filter(project=project).update(exam="passed")
    made = make.member(project, Role.MANAGER, exam="passed")
    actor = make.as_actor(made)
    Project.objects.filter(pk=project.pk).update(exam_size=0)
    tie(project), tie(project)
    for _ in range(4):
        row = make.work(project, texts=STEPS)
    Problem.objects.filter(pk=row.solution.problem_id).update(subject="Algebra", domain="math")
    QueueRow.objects.filter(pk=row.pk).update(skill="algebra")
    for _ in range(8):
        make.gold(project)
    calibration.start(actor=actor)
    checked(make.member(project, skills=["algebra"]), [False] * 12)
    checked(make.member(project), [False] * 6)
    claim(make.actor(project))
    members.invite(actor=actor, role=Role.REVIEWER, skills=["sets"])
    members.remove(actor=actor, member_id=make.member(project).pk, reason="left the lab")
    Gold.objects.filter(pk=make.gold(project).pk).update(suspect=True)
    Project.objects.filter(pk=project.pk).update(exam_size=1)
    case = adjudication.take_next(actor=actor)
    decision = adjudication.Decision([1, -1, None], "The sum is 9.", note="Work sums out.")
    adjudication.decide(actor=actor, case_id=case.pk, decision=decision)
    adjudication.take_next(actor=actor)
    return made


def pages(manager: Membership) -> list[str]:
    decided = AdjudicationCase.objects.exclude(closed_at=None).get().pk
    held = AdjudicationCase.objects.filter(closed_at=None, claimed_by=manager).get().pk
    return [
        "/p/maths/adjudicate/",
        f"/p/maths/adjudicate/{held}/",
        f"/p/maths/adjudicate/{decided}/",
        "/p/maths/members/",
        "/p/maths/progress/",
        "/p/maths/queue/",
        "/p/maths/gold/",
        "/p/maths/audit/",
        "/p/maths/settings/",
    ]


#: Looked at in every theme by test_pages_axe.
ELSEWHERE = {"/p/maths/queue/", "/p/maths/settings/"}


def test_the_pages_about_people_are_clean_in_each_theme(open_as: Open, manager: Membership) -> None:
    bad: dict[str, dict[str, list[str]]] = {}
    for path in pages(manager):
        if path in ELSEWHERE:
            continue
        page = open_as(manager, path)
        for opened in page.locator("details:not([data-menu]) > summary").all():
            if opened.is_visible():
                opened.click()
        if found := violations_in_each_theme(page):
            bad[path] = found
    assert bad == {}, json.dumps(bad, indent=1)


def test_no_page_about_people_scrolls_sideways_on_a_phone(
    open_as: Open, manager: Membership, page: Page
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for path in pages(manager):
        opened = open_as(manager, path)
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390, path


def test_the_invitations_page_is_clean_and_lets_a_new_person_in(
    page: Page, live_server: object, project: Project, reviewer: Membership
) -> None:
    actor = make.actor(project, Role.MANAGER)
    token = members.invite(actor=actor, role=Role.ANNOTATOR).token
    page.goto(f"{live_server.url}/join/{token}/")  # type: ignore[attr-defined]
    assert violations(page) == []
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("seven grey herons fly")
    page.get_by_role("button", name="Make an account and join").click()
    expect(page).to_have_url(re.compile("/#maths$"))
    expect(page.get_by_role("heading", name="Maths")).to_be_visible()
