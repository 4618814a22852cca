"""Kinds of wording: passing a text over never changes a count."""

from __future__ import annotations

import pytest

from annotator.scorers.builtin.wording import WORDINGS, counted

TEXTS = {
    "hedges": "it is approximately, about, roughly, probably, perhaps, maybe; it seems, seem likely, might, unclear; "
    "however",
    "assumes": "assume assuming suppose let's say presumably not specified not given not stated would mean",
    "second_thoughts": "wait mistake incorrect actually recheck re-check correction instead contradicts error",
    "concludes": "therefore thus hence so, in conclusion finally",
    "restates": "we know we are given we have, let's break let's start let's define to find to solve to determine",
    "questions": "why? how?",
    "compares_with_more_or_less": "more than fewer than taller than twice times as",
    "percentages": "5% percent",
    "fractions": r"\frac \dfrac 1/2 half thirds quarters",
    "solves_for_unknown": "solving substitute subtract simplify isolate dividing both x = 3",
    "shares_of_a_whole": "remaining rest left each every per total altogether combined average",
    "units_of_time": "hour minutes second day weeks month years",
    "rounds": "rounded nearest whole number integer ceiling floor",
}


@pytest.mark.parametrize("kind", WORDINGS)
def test_each_alternative_is_found_on_its_own(kind: str) -> None:
    found = [match.group() for match in WORDINGS[kind].pattern.finditer(TEXTS[kind])]
    assert len(found) >= 2
    assert [WORDINGS[kind].count(one) for one in found] == [1] * len(found)


@pytest.mark.parametrize("kind", WORDINGS)
def test_all_alternatives_stand_in_the_text(kind: str) -> None:
    assert WORDINGS[kind].count(TEXTS[kind]) >= len(WORDINGS[kind].needs)


def test_a_text_without_any_has_zeros() -> None:
    assert counted("nothing of that kind") == [0.0] * len(WORDINGS)
