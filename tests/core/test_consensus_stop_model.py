"""The latent stop: who is believed, what gold does, and when there is no posterior."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.core.agreement import Stops, stops
from annotator.core.consensus import StopRates, fit_stop_rates, stop_posteriors
from annotator.core.consensus.stop_model import DEPTHS
from annotator.core.intervals import Floats
from annotator.core.labels import NO_ERROR

RATES = StopRates(
    np.array([0.02, 0.1, 0.05]),
    np.array([0.2, 0.1, 0.4]),
    np.array([0.3, 0.05, 0.1]),
    np.linspace(0.05, 0.2, len(DEPTHS)),
)


def crowd(
    rng: np.random.Generator, solutions: int, alarm: Floats, miss: Floats, after: float = 0.2
) -> tuple[Stops, Floats]:
    """Everybody judges every solution of eight steps; half of them have an error somewhere."""
    truth = np.where(rng.random(solutions) < 0.5, rng.integers(0, 8, solutions), NO_ERROR)
    people = len(alarm)
    said = np.full((solutions, people), NO_ERROR)
    for step in range(8):
        sound = (truth == NO_ERROR) | (step < truth)
        rate = np.where(
            sound[:, None], alarm, np.where((step == truth)[:, None], 1 - miss, np.full(people, after))
        )
        said[(said == NO_ERROR) & (rng.random(said.shape) < rate)] = step
    units = np.repeat(np.arange(solutions), people)
    return stops(units, np.tile(np.arange(people), solutions), said.ravel(), [8] * solutions), truth


def by_hand(given_stops: list[int], n: int, rates: StopRates) -> list[float]:
    """The posterior over n + 1 states, written out step by step."""
    weights = []
    for z in range(n + 1):
        weight = 1.0
        for step in range(n):
            hazard = rates.hazard[np.searchsorted(DEPTHS, step, side="right") - 1]
            if step < z:
                weight *= 1 - hazard
            elif step == z:
                weight *= hazard
        for person, stop in enumerate(given_stops):
            for step in range(n if stop == NO_ERROR else stop + 1):
                rate = rates.false_alarm[person]
                if step == z:
                    rate = 1 - rates.miss[person]
                elif step > z:
                    rate = rates.after_miss[person]
                weight *= rate if step == stop else 1 - rate
        weights.append(weight)
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("given_stops", list(product([-1, 0, 2, 3], repeat=3)))
def test_the_posterior_is_the_one_written_out_by_hand(given_stops: tuple[int, ...]) -> None:
    these = stops([0, 0, 0], [0, 1, 2], given_stops, [4])
    found = stop_posteriors(these, RATES).posterior
    assert found == pytest.approx(by_hand(list(given_stops), 4, RATES))


@given(st.permutations(range(4)), st.permutations(range(3)))
@settings(max_examples=25, deadline=None)
def test_names_and_order_do_not_matter(units: list[int], raters: list[int]) -> None:
    unit, rater = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    stop, steps = np.array([0, 0, -1, 2, 2, 2, -1, -1, 1, 3, 1, 3]), np.array([3, 4, 5, 6])
    renamed_steps = np.empty(4, dtype=int)
    renamed_steps[units] = steps
    plain = stops(unit, rater, stop, steps)
    renamed = stops(np.array(units)[unit], np.array(raters)[rater], stop, renamed_steps)
    found = stop_posteriors(renamed, fit_stop_rates(renamed, 3))
    wanted = stop_posteriors(plain, fit_stop_rates(plain, 3))
    assert found.stop[units].tolist() == wanted.stop.tolist()
    assert found.confidence[units] == pytest.approx(wanted.confidence)


def test_each_persons_habits_are_found_without_gold() -> None:
    alarm, miss = np.array([0.01, 0.01, 0.08, 0.01]), np.array([0.05, 0.1, 0.1, 0.5])
    these, _ = crowd(np.random.default_rng(0), 1500, alarm, miss)
    found = fit_stop_rates(these, 4)
    assert found.false_alarm == pytest.approx(alarm, abs=0.01)
    assert found.miss == pytest.approx(miss, abs=0.05)
    assert found.after_miss.mean() == pytest.approx(0.2, abs=0.05)


def test_the_model_beats_nobody_knows_who_is_careful() -> None:
    """Two careless people outvote a careful one; the model learns whom to believe."""
    these, truth = crowd(
        np.random.default_rng(1), 800, np.array([0.08, 0.08, 0.005]), np.array([0.5, 0.5, 0.02])
    )
    found = stop_posteriors(these, fit_stop_rates(these, 3))
    table = these.stop.reshape(-1, 3)
    majority = np.where((table[:, 0] == table[:, 1]) | (table[:, 0] == table[:, 2]), table[:, 0], table[:, 1])
    assert (found.stop == truth).mean() > (majority == truth).mean() + 0.1


def test_one_solution_can_be_recomputed_with_the_rates_at_hand() -> None:
    these, _ = crowd(np.random.default_rng(2), 60, np.full(3, 0.02), np.full(3, 0.2))
    rates = fit_stop_rates(these, 3)
    mine = these.unit == 7
    alone = stop_posteriors(stops([0, 0, 0], these.rater[mine], these.stop[mine], [8]), rates)
    whole = stop_posteriors(these, rates)
    assert alone.posterior == pytest.approx(whole.posterior[whole.start[7] : whole.start[8]])


def test_below_three_annotations_there_is_no_posterior_to_use() -> None:
    these = stops([0, 0, 1, 1, 1], [0, 1, 0, 1, 2], [1, 1, 1, 1, 1], [3, 3])
    assert stop_posteriors(these, RATES).trusted.tolist() == [False, True]


def test_people_whom_gold_has_measured_may_have_a_posterior_alone() -> None:
    these = stops([0, 1], [0, 1], [1, 1], [3, 3])
    found = stop_posteriors(these, RATES, gold_seen=np.array([10, 9, 0]))
    assert found.trusted.tolist() == [True, False]


def test_gold_outweighs_any_number_of_people() -> None:
    these = stops([0] * 3 + [1] * 3, [0, 1, 2] * 2, [1] * 6, [4, 4])
    found = stop_posteriors(these, RATES, [frozenset({2, NO_ERROR}), None])
    assert found.stop[1] == 1
    assert found.stop[0] in {2, NO_ERROR}
    assert found.posterior[[0, 1, 3]].tolist() == [0.0, 0.0, 0.0]
    assert found.trusted.tolist() == [True, True]


def test_gold_measures_people_who_never_share_a_solution() -> None:
    """Person 1 passes every gold error at step 0, person 0 none."""
    solutions = 40
    rater = np.arange(solutions) % 2
    these = stops(np.arange(solutions), rater, np.where(rater == 0, 0, NO_ERROR), [3] * solutions)
    found = fit_stop_rates(these, 2, [frozenset({0})] * solutions)
    assert found.miss[0] < 0.3 < 0.6 < found.miss[1]


def test_gold_says_nothing_of_how_common_errors_are() -> None:
    these, _ = crowd(np.random.default_rng(3), 50, np.full(3, 0.02), np.full(3, 0.1))
    first_step: list[frozenset[int] | None] = [frozenset({0})] * 50
    assert fit_stop_rates(these, 3, first_step).hazard == pytest.approx(np.full(len(DEPTHS), 0.07), abs=1e-6)


def test_nothing_to_go_by_gives_average_people() -> None:
    found = fit_stop_rates(stops([], [], [], []), 2)
    assert found.miss.tolist() == [0.2, 0.2]
