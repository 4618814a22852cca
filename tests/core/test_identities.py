"""Equations with variables: what always holds, what never does, and what is left alone."""

from __future__ import annotations

import pytest

from annotator.core.checks import Verdict, check_equations
from annotator.core.identities import check_all, contradicted

HOLDS, FAILS, UNCHECKED = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.NOT_CHECKED


def verdicts(text: str) -> set[Verdict]:
    return {check.verdict for check in check_all(text, seconds=60.0)}


@pytest.mark.parametrize(
    "text",
    [
        "$(x+1)^2 = x^2 + 2x + 1$",
        r"\(\sin^2 x + \cos^2 x = 1\)",
        r"\[\sum_{k=1}^{n} k = \frac{n(n+1)}{2}\]",
        r"$\log_2 8 = 3$",
        r"$\frac{d}{dx} x^2 = 2x$",
        r"\begin{align*} (a+b)(a-b) &= a^2 - ab + ab - b^2 \\ &= a^2 - b^2 \end{align*}",
        "$(1)^2 - 4(1) + c = 1 - 4 + c$",
    ],
)
def test_what_always_holds(text: str) -> None:
    assert HOLDS in verdicts(text)
    assert FAILS not in verdicts(text)


@pytest.mark.parametrize(
    "text",
    [
        "$(x+1)^2 = x^2 + 2x + 2$",
        r"\(2(x+1) = 2x + 3\)",
        "$-(x-3) = -x-3$",
        r"$\frac{x}{2} + \frac{x}{2} = x + 1$",
        r"\begin{align*} y &= 2x + 4 - 2x \\ 3x - 3x + y &= y + 1 \end{align*}",
    ],
)
def test_what_never_holds(text: str) -> None:
    assert FAILS in verdicts(text)


@pytest.mark.parametrize(
    "text",
    [
        "$x + 3 = 5$",  # a condition
        "$(x+1)^2 = x^2 + 1$",  # holds for 0
        r"\(2x + 1 = 2x + 3\), which has no solution",
        "$i = 3$",
        "$f(2) = f + 2$",
        r"$\cos 60 = \frac{1}{2}$",  # degrees, perhaps
        r"$x + \sqrt{2} - x = 1.41$",  # rounded
        r"$2x + 1 \equiv 2x + 3$",
        "(x+1)^2 = x^2 + 2x + 2",  # not marked as a formula
    ],
)
def test_what_is_a_condition_or_a_convention_is_not_refuted(text: str) -> None:
    assert FAILS not in verdicts(text)


def test_numbers_are_decided_without_the_server_and_keep_their_places() -> None:
    text = "$3 + 4 = 8$ and $x + x = 2x$"
    first, second = check_all(text)
    assert [first] == [one for one in check_equations(text) if one.verdict is FAILS]
    assert text[second.start : second.end] == "x + x = 2x"


def test_nothing_is_asked_once_the_time_is_over() -> None:
    assert {check.verdict for check in check_all("$x + x = 2x$", seconds=-1.0)} <= {UNCHECKED}


def test_a_contradiction_in_numbers_is_found_fast() -> None:
    assert contradicted("So 3 + 4 = 8.")
    assert not contradicted("So 3 + 4 = 7, and x = 2.")
