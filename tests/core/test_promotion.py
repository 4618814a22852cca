"""The rule by which a challenger takes the champion's place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotator.core.promotion import Answer, Heard, duel, verdict

#: Two steps a solution; in half of them the second one is wrong.
TRUTH = [(1.0, 1.0), (1.0, 0.0)] * 200
PROBLEM = list(range(400))


def saying(right: float, *, sure: float = 0.9, seed: int = 0) -> Heard:
    """A version that is right about the second step with this chance, and that sure of it."""
    random = np.random.default_rng(seed)
    values = [
        (0.95, sure if (wrong == 1.0) == (random.random() < right) else 1.0 - sure) for _, wrong in TRUTH
    ]
    return Heard(values, 0.5)


def answer(champion: Heard, challenger: Heard, fewest: int = 400) -> Answer:
    return verdict(duel(champion, challenger, TRUTH, PROBLEM, draws=400), fewest=fewest).answer


def test_a_better_challenger_is_promoted() -> None:
    assert answer(saying(0.7), saying(0.9, seed=1)) is Answer.PROMOTED


def test_a_worse_challenger_is_refused() -> None:
    assert answer(saying(0.9), saying(0.7, seed=1)) is Answer.REFUSED


def test_the_same_again_is_not_enough_evidence() -> None:
    found = verdict(duel(saying(0.8), saying(0.8), TRUTH, PROBLEM, draws=400), fewest=400)
    assert found.answer is Answer.UNDECIDED
    assert found.why == "The two say the same of the holdout."


def test_as_good_within_noise_is_not_enough_evidence() -> None:
    assert answer(saying(0.8, seed=2), saying(0.8, seed=3)) is Answer.UNDECIDED


def test_below_the_least_number_of_solutions_nothing_is_decided() -> None:
    found = verdict(duel(saying(0.6), saying(0.95, seed=1), TRUTH, PROBLEM, draws=400), fewest=401)
    assert found.answer is Answer.UNDECIDED
    assert found.why == "The holdout has 400 labelled solutions; the rule asks for 401."


def test_the_same_stops_with_worse_probabilities_are_refused() -> None:
    assert answer(saying(0.8, sure=0.8), saying(0.8, sure=0.99)) is Answer.REFUSED


def test_the_same_stops_with_surely_better_probabilities_are_promoted() -> None:
    assert answer(saying(0.8, sure=0.99), saying(0.8, sure=0.8)) is Answer.PROMOTED


def test_a_better_f1_with_worse_probabilities_is_not_promoted() -> None:
    bold = Heard([(0.95, 0.999 if second > 0.5 else 0.001) for _, second in saying(0.85, seed=1).values], 0.5)
    assert answer(saying(0.7, sure=0.7), bold) is not Answer.PROMOTED


def test_without_an_error_in_the_holdout_nothing_is_decided() -> None:
    sound = [(1.0, 1.0)] * 10
    heard = Heard([(0.9, 0.9)] * 10, 0.5)
    found = duel(heard, heard, sound, range(10), draws=50)
    assert found.f1 is None
    assert verdict(found, fewest=10).answer is Answer.UNDECIDED


def test_an_empty_holdout_has_no_figures() -> None:
    found = duel(Heard([], 0.5), Heard([], 0.5), [], [])
    assert (found.n, found.champion_f1.value, found.f1, found.loss) == (0, None, None, None)
    assert verdict(found).answer is Answer.UNDECIDED


def test_figures_are_those_of_the_hand() -> None:
    """Champion: the error found, one of two sound ones alarmed: F1 2/3. Challenger: all right."""
    truth = [(1.0, 0.0), (1.0, None), (1.0, None)]
    before = Heard([(0.9, 0.4), (0.4, None), (0.9, None)], 0.5)
    after = Heard([(0.9, 0.4), (0.8, None), (0.9, None)], 0.5)
    found = duel(before, after, truth, ["a", "b", "c"], draws=50)
    assert (found.champion_f1.value, found.challenger_f1.value) == (pytest.approx(2 / 3), 1.0)
    losses = [-math.log(0.9), -math.log(0.6), -math.log(0.9)]
    assert found.champion_loss == pytest.approx((sum(losses) - math.log(0.4)) / 4)
    assert found.challenger_loss == pytest.approx((sum(losses) - math.log(0.8)) / 4)


def test_solutions_of_one_problem_are_drawn_together() -> None:
    """Where the gain of one half undoes the loss of the other within each problem, no draw differs from another."""
    truth = [(1.0, 0.0), (1.0, 1.0)] * 20
    good, bad = [(0.9, 0.1), (0.9, 0.9)], [(0.9, 0.9), (0.9, 0.1)]
    champion, challenger = Heard([*good, *bad] * 10, 0.5), Heard([*bad, *good] * 10, 0.5)
    pairs = [n // 4 for n in range(40)]
    found = duel(champion, challenger, truth, pairs, draws=50)
    assert found.problems == 10
    assert found.f1 is not None
    assert (found.f1.low, found.f1.high) == (0.0, 0.0)
    apart = duel(champion, challenger, truth, range(40), draws=50).f1
    assert apart is not None
    assert apart.low < 0.0 < apart.high
