"""Priority: mean entropy over the steps up to and including the first predicted error, ties by spread."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.core.uncertainty import at_risk, entropy, mean_entropy, mean_spread, predicted_stop, priority


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
