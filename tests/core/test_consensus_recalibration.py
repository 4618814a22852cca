"""Posteriors compared with what adjudication found, and how many labels are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.core.consensus import noise_by_adjudication, noise_by_reannotation, rebuild, recalibrate
from annotator.core.intervals import Reason
from annotator.core.labels import NO_ERROR


def test_with_few_items_claims_pass_unchanged_and_it_says_so() -> None:
    found = recalibrate([0.9] * 99, [True] * 60 + [False] * 39)
    assert (found.fitted, found.n, found.wrong) == (False, 99, 39)
    assert found.apply([0.2, 0.99]).tolist() == [0.2, 0.99]


def test_with_hardly_a_wrong_one_claims_pass_unchanged() -> None:
    assert not recalibrate([0.9] * 500, [True] * 496 + [False] * 4).fitted


def test_overclaiming_is_taken_back() -> None:
    rng = np.random.default_rng(0)
    claimed = rng.uniform(0.6, 0.999, 2000)
    right = rng.random(2000) < claimed - 0.1
    found = recalibrate(claimed, right)
    assert claimed.mean() > right.mean() + 0.02
    assert found.apply(claimed).mean() == pytest.approx(right.mean(), abs=0.005)


def test_a_few_coarse_claims_are_fitted_too() -> None:
    """Shares of three votes: one claim far from the others once made Newton's method swing for ever."""
    claimed = np.repeat([1 / 3, 2 / 3, 1.0], [20, 90, 290])
    right = np.concatenate([np.arange(20) < 9, np.arange(90) < 77, np.arange(290) < 275])
    assert recalibrate(claimed, right).apply(claimed).mean() == pytest.approx(right.mean(), abs=0.005)


def test_claims_that_say_the_opposite_count_for_nothing() -> None:
    found = recalibrate([0.9] * 100 + [0.6] * 100, [True] * 50 + [False] * 50 + [True] * 90 + [False] * 10)
    assert found.slope == 0.0
    assert found.apply([0.6, 0.9]) == pytest.approx([0.7, 0.7])


def test_claims_that_are_true_stay_as_they_are() -> None:
    claimed = np.random.default_rng(1).uniform(0.5, 0.99, 5000)
    right = np.random.default_rng(2).random(5000) < claimed
    assert recalibrate(claimed, right).apply([0.6, 0.9]) == pytest.approx([0.6, 0.9], abs=0.03)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_a_higher_claim_never_counts_for_less(seed: int) -> None:
    rng = np.random.default_rng(seed)
    claimed = rng.uniform(0.05, 1.0, 200)
    found = recalibrate(claimed, rng.random(200) < rng.uniform(0.3, 0.9))
    values = found.apply(np.linspace(0, 1, 50))
    assert bool(np.all(np.diff(values) >= 0))
    assert 0 <= values[0] <= values[-1] <= 1


def test_claims_and_outcomes_must_pair_up() -> None:
    with pytest.raises(ValueError, match="do not pair"):
        recalibrate([0.5, 0.6], [True])


def test_noise_is_found_from_how_often_a_blind_second_label_differs() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(-1, 8, 4000)
    first, second = (
        np.where(rng.random(4000) < 0.12, 100 + rng.integers(0, 10**6, 4000), truth) for _ in range(2)
    )
    found = noise_by_reannotation(first, second, np.arange(4000) // 4)
    assert found.value == pytest.approx(0.12, abs=0.02)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.12 < found.high


def test_shared_mistakes_make_reannotation_a_lower_bound() -> None:
    first = blind = np.array([3] * 10)
    adjudicated = np.array([2] * 4 + [3] * 6)
    assert noise_by_reannotation(first, blind, np.arange(10)).value == 0.0
    assert noise_by_adjudication(first, adjudicated, np.arange(10)).value == pytest.approx(0.4)


def test_no_reannotated_items_is_no_data() -> None:
    none = np.zeros(0, dtype=int)
    assert noise_by_reannotation(none, none, none).reason == Reason.NO_DATA


def test_labels_are_rebuilt_from_a_stop_that_nobody_gave() -> None:
    judged = [True, False, True, True]
    assert rebuild(2, [], judged) == (1, None, -1, None)
    assert rebuild(NO_ERROR, [], judged) == (1, None, 1, 1)


def test_before_the_stop_labels_are_what_its_followers_say() -> None:
    judged = [True] * 4
    assert rebuild(3, [(0, 1, 1, -1), (0, 1, 0, -1), (0, 0, 1, -1)], judged) == (0, 1, 1, -1)
