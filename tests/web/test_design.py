"""The living page of the design system."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from annotator.web.design import COLOURS, THEMES
from tests.web.conftest import People

pytestmark = pytest.mark.django_db
CSS = Path(django_settings.BASE_DIR) / "frontend" / "src" / "css"


def test_it_is_not_there_in_production(people: People) -> None:
    assert people.manager.get("/design/").status_code == 404


def test_with_debug_it_shows_every_theme(people: People, settings: Any) -> None:
    settings.DEBUG = True
    page = people.nobody.get("/design/").content.decode()
    for _, theme, contrast in THEMES:
        assert f'data-theme="{theme}" data-contrast="{contrast}"' in page


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def tokens(selector: str) -> dict[str, str]:
    """The colours that tokens.css gives to a selector standing at the start of a line."""
    text = (CSS / "tokens.css").read_text(encoding="utf-8")
    block = text[text.index(f"\n{selector} {{") :]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[: block.index("\n}")]))


SELECTORS = {
    ("light", "normal"): '[data-theme="light"]',
    ("dark", "normal"): '[data-theme="dark"]',
    ("light", "high"): '[data-contrast="high"]',
    ("dark", "high"): '[data-theme="dark"][data-contrast="high"]',
}


@pytest.mark.parametrize("theme", SELECTORS, ids=" ".join)
def test_text_is_readable_wherever_it_stands(theme: tuple[str, str]) -> None:
    found = tokens(SELECTORS[theme])
    least = 7.0 if theme[1] == "high" else 4.5
    texts = ["ink", "ink-2", "ink-3", "accent", "correct", "neutral", "incorrect"]
    poor = {
        (text, ground): round(contrast(found[text], found[ground]), 2)
        for text in texts
        for ground in ("paper", "sheet", "sunk")
        if contrast(found[text], found[ground]) < least
    }
    assert poor == {}


@pytest.mark.parametrize("theme", SELECTORS, ids=" ".join)
def test_marks_are_readable_on_their_own_washes_and_fields_have_an_edge(theme: tuple[str, str]) -> None:
    found = tokens(SELECTORS[theme])
    for mark in ("correct", "neutral", "incorrect", "accent"):
        assert contrast(found[mark], found[f"{mark}-wash"]) >= 4.5, mark
        assert contrast(found["ink"], found[f"{mark}-wash"]) >= 7, mark
    assert contrast(found["field-edge"], found["sheet"]) >= 3
    assert contrast(found["on-accent"], found["accent"]) >= 4.5


def test_the_systems_dark_and_the_chosen_dark_are_the_same() -> None:
    text = (CSS / "tokens.css").read_text(encoding="utf-8")
    for start, selector in (
        ('  :root:not([data-theme="light"], [data-theme="dark"]) {', '[data-theme="dark"]'),
        (
            '  :root[data-contrast="high"]:not([data-theme="light"], [data-theme="dark"]) {',
            '[data-theme="dark"][data-contrast="high"]',
        ),
    ):
        block = text[text.index(start) :]
        by_system = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[: block.index("\n  }")]))
        assert by_system == tokens(selector)


def test_every_colour_of_the_page_is_a_token() -> None:
    assert {name for name, _ in COLOURS} <= set(tokens(SELECTORS["light", "normal"]))
