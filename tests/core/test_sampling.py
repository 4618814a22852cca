"""The split and the routes."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from annotator.core.sampling import Route, Shares, choose_route, in_holdout, normalise

SHARES = Shares(gold=0.05, audit=0.1, holdout=0.1)


@given(st.text())
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(), st.text(min_size=1))
def test_case_spacing_and_punctuation_choose_no_side(text: str, key: str) -> None:
    louder = f"  {text.upper().lower()}!  "

    assert in_holdout(key, louder) == in_holdout(key, text.upper().lower())


def test_numbers_choose_no_side() -> None:
    sides = {in_holdout("key", f"Tom has {n} apples and {n * 1_000:,} pears.") for n in range(1, 50)}

    assert len(sides) == 1


def test_a_text_of_signs_alone_has_a_side() -> None:
    assert in_holdout("key", "∫ ∑ ?") in {True, False}


def test_a_tenth_of_many_problems_is_held_out() -> None:
    texts = [f"Problem {chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(5_000)]
    share = sum(in_holdout("key", text) for text in texts) / len(texts)

    assert 0.085 < share < 0.115  # 0.1 expected; standard error 0.0042


def test_another_key_draws_another_holdout() -> None:
    texts = ["".join(random.Random(n).choices("abcdefgh ", k=40)) for n in range(500)]
    one, two = ({text for text in texts if in_holdout(key, text)} for key in ("one", "two"))

    assert len(one & two) < len(one) / 2


@given(st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True))
def test_priority_is_always_among_the_routes_and_none_comes_twice(gold: float, route: float) -> None:
    routes = choose_route(gold, route, SHARES)

    assert Route.PRIORITY in routes
    assert len(set(routes)) == len(routes)


def test_each_route_is_drawn_at_its_rate() -> None:
    chance = random.Random(3)
    drawn = [choose_route(chance.random(), chance.random(), SHARES) for _ in range(20_000)]
    first = Counter(next(route for route in routes if route is not Route.GOLD) for routes in drawn)

    assert abs(sum(Route.GOLD in routes for routes in drawn) / 20_000 - 0.05) < 0.006
    assert abs(first[Route.AUDIT] / 20_000 - 0.1) < 0.008
    assert abs(first[Route.HOLDOUT] / 20_000 - 0.1) < 0.008


def test_audit_and_gold_never_stand_in_for_another_route() -> None:
    assert choose_route(1.0, 0.15, SHARES) == [Route.HOLDOUT, Route.PRIORITY]
    assert choose_route(1.0, 0.99, SHARES) == [Route.PRIORITY, Route.HOLDOUT]
