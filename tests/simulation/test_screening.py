"""How soon careless people are paused, and how seldom good ones: 30 people, 200 repetitions, 180 gold items each.

Each person's accuracy is a mean over items of shared difficulty: an item shifts everybody's log-odds alike.
With 2,000 repetitions: careless paused after 28 items (median; 62 at the 95th percentile), who always says correct
after 28 (62); of .96 people none, of .90 0.06 % and of .85 2.9 % are paused over 180 items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from annotator.core.screening import Rule, State, follow
from annotator.core.screening.standing import AFTER_WARNING

REPETITIONS, ITEMS, POOL = 200, 180, 400
#: Standard deviation of an item's difficulty, in log-odds.
DIFFICULTY = 1.0
#: Among gold, as the rule asks: at least 40 % has an error.
ERRONEOUS = 0.4
CARELESS, GOOD = 0.60, (0.96, 0.90, 0.85)

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Crowd:
    """``right`` (repetitions, people, items): two careless, one who says correct always, then nine of each skill."""

    right: Bools

    @property
    def careless(self) -> Bools:
        return self.right[:, :2].reshape(-1, ITEMS)

    @property
    def always_correct(self) -> Bools:
        return self.right[:, 2]

    def good(self, skill: float) -> Bools:
        at = 3 + 9 * GOOD.index(skill)
        return self.right[:, at : at + 9].reshape(-1, ITEMS)


@pytest.fixture(scope="module")
def crowd() -> Crowd:
    rng = np.random.default_rng(20_240_601)
    skills = np.array([CARELESS] * 2 + [CARELESS] + [skill for skill in GOOD for _ in range(9)])
    difficulty = rng.normal(0.0, DIFFICULTY, (REPETITIONS, POOL))
    erroneous = rng.random((REPETITIONS, POOL)) < ERRONEOUS
    right = np.empty((REPETITIONS, len(skills), ITEMS), dtype=bool)
    for repetition in range(REPETITIONS):
        # Each person meets 180 of the 400 gold items, none twice, in an order of his own.
        order = np.argsort(rng.random((len(skills), POOL)), axis=1)[:, :ITEMS]
        odds = centred(skills)[:, None] - difficulty[repetition][order]
        right[repetition] = rng.random(odds.shape) < 1 / (1 + np.exp(-odds))
        right[repetition, 2] = ~erroneous[repetition][order[2]]
    return Crowd(right)


def centred(skills: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Log-odds at which the mean accuracy over difficulties is each skill, by bisection on Gauss-Hermite nodes."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    low, high = np.full(len(skills), -10.0), np.full(len(skills), 10.0)
    for _ in range(60):
        middle = (low + high) / 2
        means = (1 / (1 + np.exp(-(middle[:, None] - DIFFICULTY * nodes)))) @ weights / weights.sum()
        low, high = np.where(means < skills, middle, low), np.where(means < skills, high, middle)
    return (low + high) / 2


def paused_after(right: Bools) -> Ints:
    """Gold items until the pause of each row of outcomes (people, items); a large number where there was none.

    The arithmetic of `follow` for all people at once; the first test compares the two.
    """
    rule = Rule()
    statistic, warned = np.zeros(len(right)), np.zeros(len(right), dtype=bool)
    after = np.full(len(right), 10**6)
    for item in range(right.shape[1]):
        step = np.where(right[:, item], rule.increment(True), rule.increment(False))
        statistic = np.maximum(0.0, statistic + step)
        alarm = statistic >= rule.threshold
        after[alarm & warned & (after > ITEMS)] = item + 1
        statistic[alarm & ~warned] = AFTER_WARNING * rule.threshold
        warned = (warned | alarm) & (statistic > 0.0)
    return after


def alarmed(right: Bools) -> float:
    """Share of people with any alarm."""
    rule = Rule()
    statistic, found = np.zeros(len(right)), np.zeros(len(right), dtype=bool)
    for item in range(right.shape[1]):
        step = np.where(right[:, item], rule.increment(True), rule.increment(False))
        statistic = np.maximum(0.0, statistic + step)
        found |= statistic >= rule.threshold
    return float(found.mean())


def test_the_simulation_follows_the_rule_that_is_used(crowd: Crowd) -> None:
    for outcomes in (*crowd.careless[:60], *crowd.always_correct[:30], *crowd.good(0.85)[:60]):
        path = follow(outcomes.tolist()).path
        pauses = [moment.event + 1 for moment in path if moment.state is State.PAUSED]
        assert paused_after(outcomes[None, :])[0] == (pauses[0] if pauses else 10**6)


def test_the_people_are_as_skilled_as_they_are_said_to_be(crowd: Crowd) -> None:
    for skill in GOOD:
        assert crowd.good(skill).mean() == pytest.approx(skill, abs=0.005)
    assert crowd.careless.mean() == pytest.approx(CARELESS, abs=0.01)


def test_careless_people_are_paused_within_thirty_gold_items_at_the_median(crowd: Crowd) -> None:
    after = paused_after(crowd.careless)
    assert np.median(after) <= 30
    assert np.quantile(after, 0.95) <= 75


def test_somebody_who_always_says_correct_is_paused_as_soon(crowd: Crowd) -> None:
    after = paused_after(crowd.always_correct)
    assert np.median(after) <= 32
    assert np.quantile(after, 0.95) <= 80


@pytest.mark.parametrize(("skill", "most"), [(0.96, 0.005), (0.90, 0.02), (0.85, 0.06)])
def test_good_people_are_seldom_paused_over_180_items(crowd: Crowd, skill: float, most: float) -> None:
    assert (paused_after(crowd.good(skill)) <= ITEMS).mean() < most


@pytest.mark.parametrize(("skill", "about"), [(0.90, 0.004), (0.85, 0.07)])
def test_alarms_are_as_rare_as_documented(crowd: Crowd, skill: float, about: float) -> None:
    people = len(crowd.good(skill))
    assert alarmed(crowd.good(skill)) == pytest.approx(about, abs=3 * math.sqrt(about / people))
