"""Strategies, mixtures of them, and what every beginning of the order keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotator.core.selection import (
    ERROR_FREE,
    KEPT_APART,
    NAMES,
    STRATEGIES,
    InvalidMixture,
    InvalidPool,
    Mixture,
    Pool,
    Ranked,
    Strategy,
    expected_sound,
    preference,
    rank,
)

U, W, D, C, R, M, G, L = STRATEGIES


def pool(size: int, **arrays: Any) -> Pool:
    """Solutions that differ in nothing but their lot, which rises with their index."""
    given = {name: np.asarray(array) for name, array in arrays.items()}
    usual = {
        "uncertainty": np.zeros(size),
        "tiebreak": np.zeros(size),
        "trajectory": np.full(size, 0.5),
        "answer_wrong": np.zeros(size, dtype=np.bool_),
        "disagreement": np.zeros(size),
        "sound": np.ones(size),
        "stratum": np.zeros(size, dtype=np.int64),
        "done": np.zeros(size, dtype=np.int64),
        "group": np.arange(size),
        "shuffle": np.arange(size) / max(size, 1),
        "certain": np.zeros(size, dtype=np.bool_),
        **{name: np.zeros(size) for name in ("mistakes", "gain", "learning")},
    }
    return Pool(**{**usual, **given})


def only(strategy: Strategy, **more: Any) -> Mixture:
    return Mixture({strategy: 1.0}, **{"sound_share": 0.0, "apart": 0, **more})


def names(ranked: Ranked) -> list[str]:
    """What put each of them in its place."""
    return [NAMES[code] for code in ranked.strategy]


# Each strategy by itself


def test_uncertainty_puts_the_least_sure_first_and_breaks_ties_by_spread_then_lot() -> None:
    given_pool = pool(5, uncertainty=[0.1, 0.6, 0.6, 0.6, np.nan], tiebreak=[0, 0.1, 0.2, 0.1, 9])
    assert preference(given_pool, U).tolist() == [2, 1, 3, 0]


def test_convincing_wrong_takes_wrong_answers_with_the_highest_score_first() -> None:
    given_pool = pool(4, trajectory=[0.9, 0.2, 0.8, np.nan], answer_wrong=[False, True, True, True])
    assert preference(given_pool, W).tolist() == [2, 1]


@pytest.mark.parametrize("strategy", [M, G, L])
def test_what_is_worth_most_by_step_comes_first_and_what_has_no_score_not_at_all(strategy: Strategy) -> None:
    given_pool = pool(4, **{strategy.value: [0.1, 0.3, np.nan, 0.3]})
    assert preference(given_pool, strategy).tolist() == [1, 3, 0]


def test_disagreement_puts_what_scorers_differ_on_first() -> None:
    assert preference(pool(3, disagreement=[0.1, 0.3, np.nan]), D).tolist() == [1, 0]


def test_coverage_takes_strata_in_turn_however_large_they_are() -> None:
    given_pool = pool(8, stratum=[7, 7, 7, 7, 7, 7, 3, 5])
    assert {int(given_pool.stratum[i]) for i in preference(given_pool, C)[:3]} == {3, 5, 7}


def test_coverage_prefers_strata_with_fewer_labels() -> None:
    given_pool = pool(4, stratum=[1, 1, 2, 2], done=[5, 5, 0, 0])
    assert given_pool.stratum[preference(given_pool, C)].tolist() == [2, 2, 1, 1]


def test_random_follows_the_lot() -> None:
    assert preference(pool(3, shuffle=[0.5, 0.1, 0.9]), R).tolist() == [1, 0, 2]


# Mixtures


def test_strategies_take_turns_by_their_weights() -> None:
    ranked = rank(pool(400, uncertainty=np.random.default_rng(1).random(400)), Mixture({U: 3.0, C: 1.0}))
    assert np.bincount(ranked.strategy[:100], minlength=5)[[0, 3]].tolist() == [75, 25]


def test_a_strategy_that_has_nothing_left_leaves_its_turns_to_the_others_by_their_weights() -> None:
    given_pool = pool(400, answer_wrong=[False] * 390 + [True] * 10)
    ranked = rank(given_pool, Mixture({W: 0.5, U: 0.3, C: 0.2}, sound_share=0.0))
    counts = np.bincount(ranked.strategy[:120], minlength=5)
    assert counts[1] == 10
    assert abs(counts[0] - 0.6 * 110) <= 3


def test_what_no_strategy_may_choose_comes_last_by_lot() -> None:
    ranked = rank(pool(4, uncertainty=[np.nan, 0.5, np.nan, 0.1]), only(U))
    assert ranked.order.tolist() == [1, 3, 0, 2]
    assert [STRATEGIES[code] for code in ranked.strategy] == [U, U, R, R]


def test_every_beginning_holds_its_share_of_sound_solutions() -> None:
    unsure_and_wrong = pool(100, uncertainty=np.linspace(1, 0, 100), sound=np.arange(100) >= 60)
    ranked = rank(unsure_and_wrong, Mixture({U: 1.0}))
    sound = unsure_and_wrong.sound[ranked.order]
    assert all(np.cumsum(sound) >= 0.4 * np.arange(1, 101))


def test_where_sound_solutions_run_out_the_rest_still_comes() -> None:
    ranked = rank(pool(10, sound=np.arange(10) == 0), Mixture({U: 1.0}))
    assert sorted(ranked.order.tolist()) == list(range(10))


def test_a_strategy_without_sound_solutions_keeps_its_weight_beside_one_that_has_them() -> None:
    half = [True] * 200 + [False] * 200
    ranked = rank(
        pool(400, answer_wrong=half, sound=[not wrong for wrong in half]), Mixture({W: 0.5, R: 0.5})
    )
    counts = np.bincount(ranked.strategy[:100], minlength=len(NAMES))
    assert counts[NAMES.index(ERROR_FREE)] == 40
    assert abs(counts[1] - counts[4]) <= 1


def test_where_the_strategies_keep_the_share_up_by_themselves_the_floor_changes_nothing() -> None:
    random = np.random.default_rng(2)
    half = pool(200, uncertainty=random.random(200), sound=np.full(200, 0.5))
    with_floor, without = (rank(half, Mixture({U: 1.0}, sound_share=share)) for share in (0.4, 0.0))
    assert with_floor.order.tolist() == without.order.tolist()
    assert ERROR_FREE not in names(with_floor)


def test_what_the_floor_puts_in_between_says_so_and_is_the_least_certain_of_its_kind() -> None:
    sound = np.tile([True, False, False], 10)
    ranked = rank(pool(30, uncertainty=np.linspace(1, 0, 30), sound=sound), Mixture({U: 1.0}))
    between = [
        item for item, name in zip(ranked.order.tolist(), names(ranked), strict=True) if name == ERROR_FREE
    ]
    assert between
    assert between == sorted(between)
    assert all(sound[between])


@given(st.integers(0, 2**32), st.floats(0, 0.9), st.sampled_from([5, 40, 1000]))
def test_what_uncertainty_or_the_floor_put_there_never_gets_less_certain(
    seed: int, share: float, groups: int
) -> None:
    random = np.random.default_rng(seed)
    given_pool = pool(
        150,
        uncertainty=random.random(150),
        sound=random.random(150),
        group=random.integers(0, groups, 150),
        shuffle=random.random(150),
    )
    ranked = rank(given_pool, Mixture({U: 1.0}, sound_share=share))
    for name in (U.value, ERROR_FREE):
        mine = given_pool.uncertainty[ranked.order][ranked.strategy == NAMES.index(name)]
        assert np.all(np.diff(mine) <= 0)


def test_near_duplicates_stand_apart() -> None:
    pairs = pool(100, uncertainty=np.linspace(1, 0, 100), group=np.arange(100) // 2)
    groups = pairs.group[rank(pairs, only(U, apart=10)).order].tolist()
    # the last ones have nothing left to stand between them
    assert all(groups[place] not in groups[max(0, place - 10) : place] for place in range(85))


def test_what_uncertainty_passes_over_for_a_near_duplicate_says_so() -> None:
    pair = pool(4, uncertainty=[0.9, 0.8, 0.7, 0.6], group=[1, 1, 2, 3])
    ranked = rank(pair, only(U, apart=1))
    assert (ranked.order.tolist(), names(ranked)) == ([0, 2, 1, 3], [U, U, KEPT_APART, U])


def test_where_nothing_else_is_left_near_duplicates_come_all_the_same() -> None:
    assert len(rank(pool(5, group=[1] * 5), Mixture()).order) == 5


def test_what_needs_no_label_can_be_left_out() -> None:
    given_pool = pool(4, certain=[True, False, True, False])
    ranked = rank(given_pool, only(R, skip_certain=True))
    assert (ranked.order.tolist(), ranked.left_out) == ([1, 3], 2)


def test_after_the_careful_places_the_rest_follows_by_uncertainty_then_by_lot() -> None:
    given_pool = pool(6, uncertainty=[0.1, np.nan, 0.3, 0.2, np.nan, 0.4])
    ranked = rank(given_pool, only(R), places=2)
    assert ranked.order.tolist() == [0, 1, 5, 2, 3, 4]
    assert [STRATEGIES[code] for code in ranked.strategy] == [R, R, U, U, U, R]


def test_an_empty_pool_has_an_empty_order() -> None:
    assert rank(pool(0), Mixture({U: 1.0, C: 1.0})).order.tolist() == []


def test_a_wrong_answer_is_not_expected_to_be_sound_whatever_the_scorer_says() -> None:
    assert expected_sound([[0.9, 0.9], [None]], [False, None]).tolist() == [0.0, 0.0]


def test_a_right_answer_makes_a_solution_likelier_to_be_sound() -> None:
    unknown, right = expected_sound([[0.9, None, 0.9]] * 2, [None, True])
    assert (unknown, right) == pytest.approx((0.81, 0.81 / (0.81 + 0.19 * 0.1)))


# Properties


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    """Any pool: missing scores, few strata, few groups, ties."""
    size = draw(st.integers(0, 120))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    missing = draw(st.sampled_from([0.0, 0.3, 1.0]))

    def scores() -> Any:
        return np.where(random.random(size) < missing, np.nan, random.integers(0, 6, size) / 5)

    return pool(
        size,
        uncertainty=scores(),
        tiebreak=scores(),
        trajectory=scores(),
        answer_wrong=random.random(size) < draw(st.floats(0, 1)),
        disagreement=scores(),
        sound=random.random(size) ** draw(st.floats(0.1, 10)),
        stratum=random.integers(0, 4, size),
        done=random.integers(0, 3, size),
        group=random.integers(0, draw(st.sampled_from([1, 10, 1000])), size),
        shuffle=random.random(size),
        certain=random.random(size) < 0.2,
    )


weights = st.dictionaries(st.sampled_from(STRATEGIES), st.floats(0.05, 1.0), min_size=1)


@given(pools(), weights, st.floats(0, 0.9), st.booleans(), st.sampled_from([None, 0, 7, 500]))
def test_every_solution_comes_exactly_once(
    given_pool: Pool, given_weights: dict[Strategy, float], share: float, skip: bool, places: int | None
) -> None:
    mixture = Mixture(given_weights, sound_share=share, skip_certain=skip)
    ranked = rank(given_pool, mixture, places=places)
    expected = np.flatnonzero(~given_pool.certain) if skip else np.arange(len(given_pool))
    assert sorted(ranked.order.tolist()) == expected.tolist()
    assert len(ranked.order) + ranked.left_out == len(given_pool)


@given(pools(), weights, st.floats(0, 0.9), st.integers(0, 30))
def test_every_beginning_holds_the_share_for_as_long_as_there_are_solutions_above_it(
    given_pool: Pool, given_weights: dict[Strategy, float], share: float, apart: int
) -> None:
    ranked = rank(given_pool, Mixture(given_weights, sound_share=share, apart=apart))
    sound = given_pool.sound[ranked.order]
    last_above = np.flatnonzero(sound >= share).max(initial=-1)
    means = np.cumsum(sound) / np.arange(1, len(sound) + 1)
    assert np.all(means[: last_above + 1] >= share - 1e-6)


@given(pools(), weights, st.floats(0, 0.9))
def test_strategies_that_may_choose_anything_keep_their_weights_in_every_beginning(
    given_pool: Pool, given_weights: dict[Strategy, float], share: float
) -> None:
    assume(len(given_pool) > 0)
    size = len(given_pool)
    free = replace(
        given_pool,
        uncertainty=np.zeros(size),
        trajectory=np.zeros(size),
        disagreement=np.zeros(size),
        answer_wrong=np.ones(size, dtype=np.bool_),
        group=np.arange(size),
    )
    mixture = Mixture(given_weights, sound_share=share)
    ranked = rank(free, mixture)
    turns = np.cumsum(ranked.strategy != NAMES.index(ERROR_FREE))
    for strategy, part in mixture.shares().items():
        counts = np.cumsum(ranked.strategy == STRATEGIES.index(strategy))
        assert np.all(np.abs(counts - part * turns) < len(STRATEGIES))


# What is refused


@pytest.mark.parametrize(
    "given_weights", [{}, {U: 0.0}, {U: -1.0}, {U: float("nan")}, {U: float("inf")}, {U: 1.0, R: -0.5}]
)
def test_weights_that_make_no_order_are_refused(given_weights: dict[Strategy, float]) -> None:
    with pytest.raises(InvalidMixture):
        Mixture(given_weights)


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_that_cannot_be_held_is_refused(share: float) -> None:
    with pytest.raises(InvalidMixture):
        Mixture({U: 1.0}, sound_share=share)


@pytest.mark.parametrize(
    "change",
    [
        {"sound": [1.0]},
        {"sound": [0.0, 1.1, 0.5]},
        {"sound": [0.0, np.nan, 0.5]},
        {"shuffle": [0.1, 1.0, 0.2]},
        {"shuffle": [0.1, np.nan, 0.2]},
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, list[float]]) -> None:
    with pytest.raises(InvalidPool):
        pool(3, **change)
