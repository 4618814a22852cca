"""No accessibility violation on any page around the workbench, in each theme."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from annotator.actions import labeling, questions, queueing
from annotator.models import (
    ExportRun,
    Gold,
    Membership,
    Preferences,
    Project,
    Role,
    Webhook,
    WebhookDelivery,
)
from tests import factories as make
from tests.actions.lessons import generation

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
THEMES = [("light", "normal"), ("dark", "normal"), ("light", "high"), ("dark", "high")]
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}


@pytest.fixture
def manager(project: Project) -> Membership:
    """A manager of a project in which something has happened on every page."""
    made = make.member(project, Role.MANAGER)
    actor = make.as_actor(made)
    for labels in ((1, -1, None), (1, 0, 1)):
        make.work(project, texts=["Let $x = 2$.", r"\[x^2 = \sum_{k=1}^{2} 2k - 2\]", "So it is."])
        assignment = queueing.next_assignment(actor=actor)
        labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(*labels))
    for text in ("Is $x$ real?", "And this?"):
        asked = questions.ask(actor=actor, assignment_id=assignment.pk, text=text, step=1)
    questions.answer(actor=actor, question_id=asked.pk, text="Yes.", publish=True)
    item = make.gold(project)
    Gold.objects.filter(pk=item.pk).update(use=Gold.Use.PRACTICE, note="It does not follow.")
    for _ in range(2):
        ExportRun.objects.create(project=project, format="trl", state="done", snapshot=b"")
    scorer = project.scorers.get()
    for people, status in ((100, "live"), (200, "challenger")):
        generation(scorer, people, 0.4, status)
    hook = Webhook.objects.create(project=project, url="https://ci.example.org/", events=["member:paused"])
    WebhookDelivery.objects.create(webhook=hook, event="ping", state="failed", status=500, error="It failed.")
    return made


def look(theme: str, contrast: str) -> dict[str, str]:
    return {"theme": theme, "contrast": contrast}


def looks(member: Membership, theme: str, contrast: str) -> None:
    data = look(theme, contrast)
    Preferences.objects.update_or_create(user_id=member.user_id, defaults={"data": data})


def violations(page: Page, rules: dict[str, Any] = RULES) -> list[str]:
    """Rule, impact and place of each violation."""
    found = Axe().run(page, options=rules).response["violations"]
    return [
        f"{each['id']} ({each['impact']}): {node['target']} {node.get('failureSummary', '')}"
        for each in found
        for node in each["nodes"]
    ]


def violations_in_each_theme(page: Page) -> dict[str, list[str]]:
    """By theme, where there are any. A theme changes colours alone: all rules are tried once, contrast in each."""
    page.emulate_media(reduced_motion="reduce")  # no colour is on its way to another
    bad: dict[str, list[str]] = {}
    for theme, contrast in THEMES:
        page.evaluate(
            "(look) => Object.assign(document.documentElement.dataset, look)", look(theme, contrast)
        )
        if found := violations(page, RULES if (theme, contrast) == THEMES[0] else CONTRAST):
            bad[f"{theme} {contrast}"] = found
    return bad


PAGES = [
    "/",
    "/help/",
    "/design/",
    "/p/maths/mine/",
    "/p/maths/questions/",
    "/p/maths/settings/",
    "/p/maths/exports/",
    "/p/maths/webhooks/",
    "/p/maths/queue/",
    "/p/maths/scorers/",
    "/p/maths/scorers/sources/",
    "/p/maths/scorers/evaluation/",
    "/p/maths/scorers/training/",
    "/p/maths/practice/",
    "/p/nowhere/",
]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_clean_in_each_theme(open_as: Open, manager: Membership, path: str, settings: Any) -> None:
    settings.DEBUG = path == "/design/"
    bad = violations_in_each_theme(open_as(manager, path))
    assert bad == {}, json.dumps(bad, indent=1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_preferences_panel_is_clean_with_an_error_in_it(
    open_as: Open, manager: Membership, theme: str
) -> None:
    looks(manager, theme, "normal")
    page = open_as(manager, "/")
    page.locator(".menu-name").click()
    page.get_by_role("button", name="Preferences").click()
    page.locator("[data-key-for=skip]").press("1")
    expect(page.locator("#preferences-error")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_refused_form_is_clean(open_as: Open, manager: Membership, theme: str) -> None:
    looks(manager, theme, "normal")
    page = open_as(manager, "/p/maths/settings/")
    page.locator("#id_gold_rate").fill("7")
    page.get_by_role("button", name="Save settings").click()
    expect(page.locator("#id_gold_rate")).to_have_attribute("aria-invalid", "true")
    assert violations(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_comparison_after_practice_is_clean(open_as: Open, manager: Membership, theme: str) -> None:
    looks(manager, theme, "normal")
    page = open_as(manager, "/p/maths/practice/")
    expect(page.locator("[data-step][aria-current]")).to_be_visible()
    for key in ("3", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("[data-outcome]")).to_be_visible()
    assert violations(page) == []


def test_signing_in_is_clean(page: Page, live_server: Any, transactional_db: None) -> None:
    page.goto(live_server.url + "/sign-in/")
    assert violations(page) == []


@pytest.mark.parametrize(
    "path", ["/", "/p/maths/mine/", "/p/maths/questions/", "/p/maths/settings/", "/design/"]
)
def test_nothing_runs_over_the_edge_of_a_phone(
    open_as: Open, manager: Membership, path: str, settings: Any
) -> None:
    settings.DEBUG = path == "/design/"
    page = open_as(manager, path)
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
