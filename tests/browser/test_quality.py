"""The quality page in a real Chromium: plots under the page's own policy, both themes, a phone."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from annotator.models import Project, Role
from tests import factories as make
from tests.queries.labels import audited, checked

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
SOUND, AT_ONE, AT_TWO = (1, 1, 1), (1, -1, None), (1, 1, -1)


def labelled(project: Project) -> None:
    """Three people with agreements, disputes and hidden checks."""
    Project.objects.filter(pk=project.pk).update(labels_audit=2)
    chance = random.Random(4)
    people = [make.member(project) for _ in range(3)]
    for _ in range(30):
        one, other = chance.sample(people, 2)
        audited(project, one, other, chance.choice([SOUND, AT_ONE]), chance.choice([SOUND, AT_ONE, AT_TWO]))
    for minutes in range(4):
        gold = make.gold(project, AT_ONE)
        for person in people:
            checked(gold, person, *chance.choice([AT_ONE, SOUND]), minutes=minutes)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_plots_are_drawn_and_nothing_is_in_anybodys_way(
    open_as: Open, project: Project, page: Page, scheme: str, width: int
) -> None:
    labelled(project)
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text) if said.type == "error" else None)
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 900})

    open_as(make.member(project, Role.MANAGER), "/p/maths/quality/")

    plots = page.locator("[data-plot]")
    expect(page.locator("[data-plot] > svg")).to_have_count(plots.count())
    assert plots.count() >= 5
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    assert [each["id"] for each in Axe().run(page).response["violations"]] == []
    assert refused == []


def test_each_plot_has_its_table_under_it(open_as: Open, project: Project) -> None:
    labelled(project)
    page = open_as(make.member(project, Role.MANAGER), "/p/maths/quality/")

    page.locator("#agreement summary").click()

    expect(page.locator("#agreement table")).to_contain_text("Same first error")
