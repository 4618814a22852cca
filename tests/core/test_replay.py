"""Replays: what is bought, with what the scorer is trained, and what is measured, on toy tables worked out by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from annotator.core.replay.curves import band, level, rising, share_of_oracle, smallest_budget
from annotator.core.replay.design import design
from annotator.core.replay.orders import Order, Standing, choose
from annotator.core.replay.pace import Pace, TooFewTimes, fit_pace, in_seconds
from annotator.core.replay.plot import svg
from annotator.core.replay.report import simulate
from annotator.core.replay.run import expected_threshold, found_by_budget, replay, whole_set
from annotator.core.replay.table import (
    Fitted,
    Table,
    Unreplayable,
    out_of_fold,
    split,
    tuned_threshold,
)
from annotator.core.replay.text import plain, tables
from annotator.core.uncertainty import predicted_stop, stop_probabilities

BUDGETS = (0.1, 0.2, 0.5, 1.0)
SEED = 3


def a_table(solutions: int = 60, steps: int = 4) -> Table:
    """Every third solution has an error at step 1; the one feature hints at it."""
    random = np.random.default_rng(1)
    stop = np.where(np.arange(solutions) % 3 == 0, 1, -1)
    owner = np.repeat(np.arange(solutions), steps)
    place = np.tile(np.arange(steps), solutions)
    hint = 2.0 * (place == stop[owner]) + random.standard_normal(len(owner))
    return Table(
        rows=hint[:, None],
        owner=owner,
        stop=stop,
        problem=np.arange(solutions) // 2,
        step_cost=np.ones(len(owner)),
        base_cost=np.zeros(solutions),
        answer=np.full(solutions, -1),
    )


class Watched:
    """A learner that believes the hint, and remembers what it was trained on."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.trained: list[set[int]] = []

    def fit(self, chosen: Sequence[int], seed: int) -> Fitted | None:
        self.trained.append(set(chosen))
        if not any(self.table.stop[item] >= 0 for item in chosen):
            return None
        hint = self.table.rows[:, 0]
        members = [1 / (1 + np.exp(shift * hint - 2.5)) for shift in (0.8, 1.0, 1.2)]
        return Fitted(np.array(members), 0.7)


@pytest.fixture(scope="module")
def table() -> Table:
    return a_table()


# The table


def test_a_solution_costs_its_steps_up_to_the_first_error(table: Table) -> None:
    assert table.cost[:3].tolist() == [2.0, 4.0, 4.0]


def test_the_likeliest_stop_and_the_first_below_are_those_of_single_solutions(table: Table) -> None:
    values = np.random.default_rng(2).uniform(0.2, 1.0, len(table.owner))
    rows = [values[table.owner == item].tolist() for item in range(len(table))]
    likeliest = [max((chances := stop_probabilities(row)), key=lambda stop: chances[stop]) for row in rows]
    assert table.likeliest_stop(values).tolist() == likeliest
    assert table.first_below(values, 0.5).tolist() == [predicted_stop(row, 0.5) for row in rows]


def test_a_problem_is_in_the_pool_or_outside_it(table: Table) -> None:
    pool, rest = split(table, SEED)
    assert not set(table.problem[pool]) & set(table.problem[rest])
    assert len(set(table.problem[pool])) == round(0.7 * 30)


@pytest.mark.parametrize("stops", [[-1] * 60, [1] * 60])
def test_one_kind_of_solution_alone_teaches_nothing(table: Table, stops: list[int]) -> None:
    with pytest.raises(Unreplayable, match="with an error and solutions without"):
        replace(table, stop=np.array(stops))


def test_out_of_fold_values_come_from_scorers_that_never_saw_the_problem(table: Table) -> None:
    learner = Watched(table)
    out_of_fold(table, learner, folds=5)
    left_out = [set(range(60)) - trained for trained in learner.trained]
    assert sorted(item for each in left_out for item in each) == list(range(60))
    assert all(item ^ 1 in each for each in left_out for item in each)  # the problem's other solution


def test_the_tuned_threshold_separates_what_can_be_separated(table: Table) -> None:
    values = np.where(table.correct | ~table.at_risk, 0.9, 0.6)
    assert 0.6 < tuned_threshold(table, values) < 0.9


def test_the_expected_threshold_needs_no_labels(table: Table) -> None:
    values = np.where(table.correct, 0.97, 0.4)
    pool = np.arange(len(table))
    assert 0.4 < expected_threshold(table, values, pool) <= 0.97
    assert expected_threshold(
        replace(table, stop=table.stop[::-1].copy()), values, pool
    ) == expected_threshold(table, values, pool)


# Buying


@pytest.mark.parametrize("order", [order for order in Order if order is not Order.ORACLE])
def test_only_the_pool_is_ever_trained_on_and_always_from_nothing(table: Table, order: Order) -> None:
    learner = Watched(table)
    replay(table, learner, order, BUDGETS, SEED)
    pool, _ = split(table, SEED)
    assert all(trained <= set(pool.tolist()) for trained in learner.trained)
    assert learner.trained[-1] == set(pool.tolist())
    assert table.cost[list(learner.trained[0])].sum() <= 0.1 * table.cost[pool].sum()


def test_the_first_purchase_is_made_without_a_scorer(table: Table) -> None:
    """So every order that goes by a scorer buys the same lot first."""
    bought = []
    for order in (Order.UNCERTAINTY, Order.MISTAKES, Order.GAIN, Order.LEARNING):
        learner = Watched(table)
        replay(table, learner, order, BUDGETS, SEED)
        bought.append(learner.trained[0])
    assert all(each == bought[0] for each in bought)


def test_the_oracle_finds_no_less_than_a_strategy_and_a_strategy_something(table: Table) -> None:
    given = out_of_fold(table, Watched(table))
    oracle, mistakes = (
        found_by_budget(table, given, order, BUDGETS, SEED) for order in (Order.ORACLE, Order.MISTAKES)
    )
    assert np.all(oracle >= mistakes)
    assert np.all(mistakes[:-1] > 0)
    assert oracle[-1] == mistakes[-1] == 1.0


def test_mistakes_come_first_where_they_are_expected(table: Table) -> None:
    given = out_of_fold(table, Watched(table))
    seeds = range(12)
    found = {
        order: np.mean([found_by_budget(table, given, order, (0.2,), seed) for seed in seeds])
        for order in (Order.RANDOM, Order.MISTAKES)
    }
    assert found[Order.MISTAKES] > found[Order.RANDOM] + 0.05


def test_a_design_takes_what_is_unlike_and_cheap() -> None:
    rows = np.zeros((24, 2))
    rows[1::2, 0], rows[0, 1], rows[2, 1] = 1.0, 5.0, 5.0  # solutions 0 and 1 have what no other has
    table = Table(
        rows=rows,
        owner=np.repeat(np.arange(12), 2),
        stop=np.array([0, *[-1] * 11]),
        problem=np.arange(12),
        step_cost=np.r_[np.ones(2), np.full(2, 9.0), np.ones(20)],
        base_cost=np.zeros(12),
        answer=np.full(12, -1),
    )
    nothing = np.zeros(12, dtype=np.bool_)
    assert design(table, np.full(24, 0.85), nothing, np.arange(12), 1.0).tolist()[:1] == [0]


def test_a_budget_is_never_overdrawn(table: Table) -> None:
    nothing = np.zeros(60, dtype=np.bool_)
    now = Standing(table, None, nothing, np.arange(60), np.zeros(60))
    for order in (Order.RANDOM, Order.DESIGN):
        assert table.cost[choose(order, now, 13.0, np.random.default_rng(0))].sum() <= 13.0


# Measuring


def test_the_whole_set_counts_people_where_bought_and_the_scorer_elsewhere(table: Table) -> None:
    pool = np.arange(6)  # errors in 0 and 3
    bought = np.array([item == 0 for item in range(60)])
    accuracy, f1 = whole_set(table, None, bought, pool)
    # The untaught scorer finds no error: 3 is missed. F1 = 2·1 / (1 named + 2 human).
    assert (accuracy, f1) == (pytest.approx(5 / 6), pytest.approx(2 / 3))


def test_isotonic_curves_pool_what_falls() -> None:
    assert rising(np.array([[3.0, 1.0, 2.0, 5.0], [1.0, 2.0, 3.0, 4.0]])).tolist() == [
        [2.0, 2.0, 2.0, 5.0],
        [1.0, 2.0, 3.0, 4.0],
    ]


def test_a_budget_lies_on_the_line_between_two_points() -> None:
    grid, curve = np.array([0.1, 0.2, 0.4]), np.array([0.5, 0.6, 0.8])
    assert smallest_budget(grid, curve, 0.7) == pytest.approx(0.3)
    assert smallest_budget(grid, curve, 0.4) == 0.1
    assert np.isnan(smallest_budget(grid, curve, 0.9))


def test_half_the_budget_is_a_ratio_of_one_half() -> None:
    budgets = (0.1, 0.2, 0.4, 0.8)
    random = np.array([[0.1, 0.2, 0.4, 0.8]] * 4)
    other = np.array([[0.2, 0.4, 0.8, 0.9]] * 4)
    found = level(budgets, random, other, 0.4)
    assert (found.quality, found.budget, found.ratio) == pytest.approx((0.4, 0.2, 0.5))
    assert found.valid


def test_where_random_stands_still_a_ratio_is_not_valid() -> None:
    random = np.array([[0.1, 0.5, 0.5, 0.5]] * 3)
    assert not level((0.1, 0.2, 0.4, 0.8), random, random, 0.4).valid


def test_what_is_never_reached_has_no_ratio() -> None:
    random, other = np.array([[0.1, 0.5, 0.9]] * 2), np.array([[0.1, 0.2, 0.3]] * 2)
    assert level((0.1, 0.5, 1.0), random, other, 0.5).ratio is None


def test_the_share_of_the_oracles_lead() -> None:
    value, low, high = share_of_oracle(np.array([0.2, 0.2]), np.array([0.3, 0.35]), np.array([0.4, 0.4]))
    assert value == pytest.approx((0.325 - 0.2) / (0.4 - 0.2))
    assert low is not None
    assert high is not None
    assert low < value < high


def test_a_band_holds_its_mean() -> None:
    found = band(np.random.default_rng(0).random((6, 3)))
    assert all(low <= mean <= high for low, mean, high in zip(found.low, found.mean, found.high, strict=True))


# Seconds


def test_a_pace_is_read_off_times() -> None:
    random = np.random.default_rng(0)
    steps, nats = random.integers(1, 9, 80), random.random(80) * 3
    pace = fit_pace((12 + 7 * steps + 4 * nats).tolist(), steps.tolist(), nats.tolist())
    assert (pace.per_solution, pace.per_step, pace.per_nat) == pytest.approx((12, 7, 4))


def test_no_part_of_a_pace_is_below_zero() -> None:
    steps = [1.0, 2.0, 3.0, 4.0] * 10
    pace = fit_pace([20 - step for step in steps], steps, [0.0] * 40)
    assert min(pace.per_solution, pace.per_step) >= 0.0


def test_too_few_times_make_no_pace() -> None:
    with pytest.raises(TooFewTimes, match="Only 2 annotations"):
        fit_pace([1.0, 2.0], [1, 2], [0, 0])


def test_uncertain_steps_cost_more_seconds(table: Table) -> None:
    value = np.where(table.owner == 1, 0.5, 0.999)
    timed = in_seconds(table, Fitted(value[None, :], 0.5), Pace(10.0, 5.0, 8.0, 50))
    assert timed.cost[1] > timed.cost[2] > 10 + 4 * 5


# What is told


def test_a_simulation_is_told_in_tables_values_and_a_picture(table: Table) -> None:
    learner = Watched(table)
    told: list[tuple[int, int]] = []
    one = simulate(
        *(table, learner, out_of_fold(table, learner), Order.MISTAKES),
        budgets=BUDGETS,
        seeds=2,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(done, 4) for done in range(4)]
    values = plain(one)
    assert set(values["misjudged_found"]["curves"]) == {"mistakes", "random", "oracle"}
    assert values["whole_set"]["accuracy"]["curves"]["mistakes"]["mean"][-1] == 1.0
    assert "At 20% of the budget: (found - random) / (oracle - random)" in tables(one)
    panels = ET.fromstring(svg(one)).findall("{http://www.w3.org/2000/svg}g")
    assert len(panels) == 5
