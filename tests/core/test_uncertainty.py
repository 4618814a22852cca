"""Priority: mean entropy over the steps up to and including the first predicted error, ties by spread."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.core.uncertainty import (
    Aggregate,
    aggregate,
    at_risk,
    disagreement,
    entropy,
    expected_error,
    is_certain,
    least_margin,
    margin,
    max_entropy,
    max_spread,
    mean_entropy,
    mean_spread,
    predicted_stop,
    priority,
    stop_probabilities,
)


def test_entropy_is_in_nats_and_highest_at_one_half() -> None:
    assert entropy(0.5) == pytest.approx(math.log(2))
    assert entropy(0.9) == pytest.approx(0.325083, abs=1e-6)
    assert entropy(0.1) == pytest.approx(entropy(0.9))


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan, math.inf])
def test_entropy_refuses_what_is_no_probability(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        entropy(p)


def test_the_predicted_stop_is_strictly_below_the_threshold() -> None:
    assert predicted_stop([0.5, 0.49], 0.5) == 1


def test_a_tuned_threshold_moves_the_predicted_stop() -> None:
    assert predicted_stop([0.9, 0.7, 0.4]) == 2
    assert predicted_stop([0.9, 0.7, 0.4], threshold=0.75) == 1


def test_context_steps_are_never_at_risk() -> None:
    assert at_risk([None, 0.9, None, 0.3, 0.9]) == [1, 3]


def test_steps_after_the_first_predicted_error_do_not_count() -> None:
    assert mean_entropy([0.9, 0.2, 0.5, 0.5]) == pytest.approx((entropy(0.9) + entropy(0.2)) / 2)


def test_spread_is_averaged_over_the_same_steps() -> None:
    assert mean_spread([0.9, None, 0.2, 0.5], [0.1, None, 0.3, 0.9]) == pytest.approx(0.2)


def test_a_solution_without_judged_steps_has_priority_zero() -> None:
    nothing = priority([None, None], [None, None])
    assert (nothing.score, nothing.tiebreak, nothing.predicted_stop) == (0.0, 0.0, -1)


def test_an_unknown_spread_counts_as_none() -> None:
    assert priority([0.6, 0.7], [None, None]).tiebreak == 0.0


@pytest.mark.parametrize("spread", [[0.1], [math.nan, 0.1], [-0.1, 0.1]])
def test_spreads_that_do_not_fit_are_refused(spread: list[float]) -> None:
    with pytest.raises(ValueError, match="spread"):
        priority([0.9, 0.9], spread)


probabilities = st.one_of(st.none(), st.floats(0, 1))


@given(st.lists(probabilities, max_size=12), st.floats(0, 1))
def test_priority_is_finite_and_within_its_bounds(values: list[float | None], threshold: float) -> None:
    result = priority(values, [None if value is None else 0.1 for value in values], threshold)
    assert 0.0 <= result.score <= math.log(2) + 1e-12
    assert math.isfinite(result.tiebreak)
    assert -1 <= result.predicted_stop < len(values)


# Other measures of doubt


def test_the_margin_is_smallest_at_one_half() -> None:
    assert (margin(0.5), margin(1.0), margin(0.0)) == (0.0, 1.0, 1.0)
    assert margin(0.9) == pytest.approx(margin(0.1))


def test_maxima_and_the_least_margin_look_no_further_than_the_predicted_stop() -> None:
    values, spread = [0.9, 0.2, 0.5], [0.1, 0.2, 0.9]
    assert max_entropy(values) == pytest.approx(entropy(0.2))
    assert max_spread(values, spread) == 0.2
    assert least_margin(values) == pytest.approx(0.6)


def test_the_predicted_stop_is_expected_wrong_by_what_the_other_stops_weigh() -> None:
    assert stop_probabilities([0.9, None, 0.8]) == pytest.approx({0: 0.1, 2: 0.18, -1: 0.72})
    assert expected_error([0.9, None, 0.8]) == pytest.approx(0.28)
    assert expected_error([0.9, 0.2]) == pytest.approx(1 - 0.9 * 0.8)


@given(st.lists(probabilities, max_size=12), st.floats(0, 1))
def test_stops_sum_to_one_and_an_expected_error_is_a_probability(
    values: list[float | None], limit: float
) -> None:
    assert math.fsum(stop_probabilities(values).values()) == pytest.approx(1.0)
    assert 0.0 <= expected_error(values, limit) <= 1.0


def test_scorers_that_agree_do_not_disagree_however_unsure_they_are() -> None:
    assert disagreement([[0.5, 0.6], [0.5, 0.6]]) == 0.0


def test_scorers_that_contradict_each_other_disagree_by_ln_2() -> None:
    assert disagreement([[1.0], [0.0]]) == pytest.approx(math.log(2))


def test_scorers_are_compared_no_further_than_the_earliest_stop() -> None:
    assert disagreement([[0.9, 0.1, 1.0], [0.9, 0.9, 0.0]]) == pytest.approx(
        disagreement([[0.9, 0.1], [0.9, 0.9]])
    )


def test_each_scorers_own_threshold_says_where_it_stops() -> None:
    rows = [[0.9, 0.7, 0.9], [0.9, 0.7, 0.1]]
    assert disagreement(rows, [0.8, 0.5]) == 0.0
    assert disagreement(rows, [0.5, 0.5]) > 0.1


@pytest.mark.parametrize(("rows", "limits"), [([[0.9], [0.9, 0.8]], None), ([[0.9], [0.8]], [0.5])])
def test_scorers_that_do_not_fit_together_are_refused(
    rows: list[list[float]], limits: list[float] | None
) -> None:
    with pytest.raises(ValueError, match="every scorer"):
        disagreement(rows, limits)


@given(st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), max_size=5))
def test_disagreement_lies_between_nothing_and_ln_2(rows: list[list[float]]) -> None:
    assert 0.0 <= disagreement(rows) <= math.log(2) + 1e-12


# ActPRM's rule


@pytest.mark.parametrize(
    ("values", "spread", "certain"),
    [
        ([0.95, 0.99], [0.005, 0.0], True),
        ([0.94, 0.99], [0.005, 0.0], False),
        ([0.95, 0.99], [0.006, 0.0], False),
        ([0.99, 0.05], [0.0, 0.0], True),
        ([0.99, 0.06], [0.0, 0.0], False),
        ([0.99, 0.01, 0.6], [0.0, 0.0, 0.5], True),
        ([0.99, None, 0.99], [0.0, None, 0.0], True),
        ([0.99, 0.99], [0.0, None], False),
    ],
)
def test_certain_needs_every_step_up_to_the_first_error_sure_and_of_one_mind(
    values: list[float | None], spread: list[float | None], certain: bool
) -> None:
    assert is_certain(values, spread) is certain


def test_both_thresholds_of_the_rule_are_settings() -> None:
    assert is_certain([0.8], [0.1], delta_pred=0.8, delta_std=0.1)
    assert not is_certain([0.8], [0.1], delta_pred=0.8, delta_std=0.09)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0.5, 1), st.floats(0, 0.5), st.floats(0, 0.5)
)
def test_a_laxer_rule_never_calls_fewer_solutions_certain(
    values: list[float], pred: float, std: float, laxer: float
) -> None:
    spread = [0.1] * len(values)
    if is_certain(values, spread, delta_pred=pred, delta_std=std):
        assert is_certain(values, spread, delta_pred=max(pred - laxer, 0.5), delta_std=std + laxer)


# One score of a solution


def test_a_solutions_score_is_told_by_its_judged_steps() -> None:
    values = [0.9, None, 0.5, 0.8]
    found = {how.value: aggregate(values, how) for how in Aggregate}
    assert found == pytest.approx({"min": 0.5, "prod": 0.36, "mean": 2.2 / 3, "last": 0.8})
    assert aggregate([None]) is None
