"""Agreement on the first error: the headline, and why step figures are not it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.core import agreement as a
from annotator.core.agreement.stops import chance, exact, only, same_error, within_one
from annotator.core.intervals import Ints, Reason
from annotator.core.labels import NO_ERROR, from_first_error


def of_pairs(*pairs: tuple[int, int], n_steps: int = 6) -> a.Stops:
    """One solution a pair, both of the same two people."""
    return a.stops(
        np.repeat(np.arange(len(pairs)), 2), [0, 1] * len(pairs), np.ravel(pairs), [n_steps] * len(pairs)
    )


def test_exact_agreement_counts_none_as_a_stop() -> None:
    found = a.stop_agreement(of_pairs((2, 2), (-1, -1), (2, 3), (1, -1)), draws=0)
    assert found.exact.value == 0.5
    assert found.exact.n == 4


def test_within_one_forgives_a_neighbouring_step_but_never_none() -> None:
    assert within_one(of_pairs((2, 3)), draws=0).value == 1.0
    assert within_one(of_pairs((0, -1)), draws=0).value == 0.0
    assert within_one(of_pairs((2, 4)), draws=0).value == 0.0


def test_same_error_leaves_out_where_both_see_none() -> None:
    # Stops at errors: 2 and 2 agree; 1 beside none does not: 2 / 3. Agreement on none adds nothing.
    assert same_error(of_pairs((2, 2), (1, -1), (-1, -1)), draws=0).value == pytest.approx(2 / 3)


def test_step_agreement_flatters_where_people_stop() -> None:
    """2 % false alarms and 20 % misses: about 92 % of steps agree, but only two stops in three."""
    rng = np.random.default_rng(0)
    truth = rng.integers(-1, 8, 3000)
    stops = np.stack([said(truth, rng) for _ in range(2)], axis=1)
    agreed = exact(of_pairs(*map(tuple, stops.tolist()), n_steps=8), draws=0).value
    labels = [from_first_error(stop, [True] * 8) for stop in stops.ravel().tolist()]
    flat = [a.NOT_JUDGED if label is None else label for each in labels for label in each]
    at_risk, _ = a.step_ratings(np.repeat(np.arange(3000), 2), [0, 1] * 3000, flat, [8] * 3000)
    steps = a.figure(at_risk, a.PERCENT, draws=0)
    assert steps.value is not None
    assert agreed is not None
    assert steps.value > 0.9
    assert agreed < 0.75


def said(truth: Ints, rng: np.random.Generator) -> Ints:
    """Where somebody with 2 % false alarms, 20 % misses and 20 % stops after a miss stops in 8 steps."""
    stops = np.full(len(truth), NO_ERROR)
    for step in range(8):
        rate = np.where(truth == step, 0.8, np.where((truth >= 0) & (truth < step), 0.2, 0.02))
        stops[(stops == NO_ERROR) & (rng.random(len(truth)) < rate)] = step
    return stops


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=2, max_size=6), st.integers(0, 99)
)
@settings(max_examples=25, deadline=None)
def test_chance_is_the_mean_over_shuffled_annotations(pairs: list[tuple[int, int]], seed: int) -> None:
    these = of_pairs(*pairs, n_steps=3)
    rng = np.random.default_rng(seed)
    shuffled = np.stack([rng.permutation(these.stop) for _ in range(4000)]).reshape(4000, -1, 2)
    simulated = (shuffled[..., 0] == shuffled[..., 1]).mean()
    assert chance(these, draws=0).value == pytest.approx(simulated, abs=0.04)


def test_chance_keeps_to_solutions_of_the_same_length() -> None:
    """Short solutions always stop at 0 and long ones never: shuffling within a length changes nothing."""
    these = a.stops([0, 0, 1, 1, 2, 2, 3, 3], [0, 1] * 4, [0, 0, 0, 0, -1, -1, -1, -1], [2, 2, 9, 9])
    found = a.stop_agreement(these, draws=0)
    assert found.chance.value == 1.0
    assert (found.corrected.value, found.corrected.reason) == (None, Reason.SINGLE_CATEGORY)


def test_people_who_stop_at_random_agree_no_better_than_chance() -> None:
    rng = np.random.default_rng(3)
    these = a.stops(np.repeat(np.arange(2000), 2), [0, 1] * 2000, rng.integers(-1, 5, 4000), [5] * 2000)
    found = a.stop_agreement(these)
    assert found.corrected.low is not None
    assert found.corrected.high is not None
    assert found.corrected.low < 0 < found.corrected.high


@given(st.permutations(range(5)), st.permutations(range(3)))
@settings(max_examples=30, deadline=None)
def test_names_and_order_do_not_matter(units: list[int], raters: list[int]) -> None:
    unit, rater = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 4]), np.array([0, 1, 0, 1, 2, 2, 1, 2, 0, 2])
    stop, steps = np.array([1, 1, -1, 2, -1, 0, 3, 2, 0, -1]), np.array([3, 4, 3, 4, 3])
    new_steps = np.empty(5, dtype=int)
    new_steps[units] = steps
    plain = a.stop_agreement(a.stops(unit, rater, stop, steps), draws=0)
    renamed = a.stops(np.array(units)[unit], np.array(raters)[rater], stop, new_steps)
    found = a.stop_agreement(renamed, draws=0)
    assert found.exact == plain.exact
    assert found.corrected.value == pytest.approx(plain.corrected.value)
    assert found.same_error == plain.same_error


def test_against_gold_any_acceptable_stop_is_right() -> None:
    these = a.stops([0, 1, 2], [0, 0, 0], [3, 1, 2], [5, 5, 5])
    gold = [frozenset({2, 3}), frozenset({4}), frozenset[int]()]
    found = a.stop_agreement(a.beside_gold(these, gold), draws=0)
    assert (found.exact.value, found.exact.n) == (0.5, 2)


def test_between_people_on_gold_only_those_solutions_enter() -> None:
    these = of_pairs((1, 1), (1, 2))
    assert exact(only(these, np.array([True, False])), draws=0).value == 1.0


def test_a_single_annotation_each_has_no_pairs() -> None:
    found = exact(a.stops([0, 1], [0, 1], [1, 1], [3, 3]))
    assert (found.value, found.reason) == (None, Reason.NO_PAIRABLE_UNITS)


def test_no_annotations_is_no_data() -> None:
    assert exact(a.stops([], [], [], [])).reason == Reason.NO_DATA


def test_a_stop_behind_the_last_step_is_refused() -> None:
    with pytest.raises(a.InvalidRatings, match="last judged step"):
        a.stops([0, 1], [0, 0], [2, 3], [4, 3])


def test_context_is_no_place_to_stop() -> None:
    assert a.judged_place(2, [True, False, True]) == 1
    assert a.judged_place(NO_ERROR, [True, False]) == NO_ERROR
