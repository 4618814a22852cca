"""Evaluation figures against small cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from annotator.core.evaluation import auc, brier, ece, processbench_f1, steps_at_risk


def test_processbench_f1_is_the_harmonic_mean_of_its_two_parts() -> None:
    # Erroneous: stops 2, 1, 0 guessed 2, 0, 0 → 2/3. Correct: guessed -1, 3 → 1/2. F1 = 2·(2/3)(1/2)/(7/6).
    result = processbench_f1([2, 0, 0, -1, 3], [2, 1, 0, -1, -1])
    assert result.erroneous == pytest.approx(2 / 3)
    assert result.correct == pytest.approx(1 / 2)
    assert result.value == pytest.approx(4 / 7)
    assert (result.n_erroneous, result.n_correct) == (3, 2)


def test_processbench_f1_is_zero_when_both_parts_are() -> None:
    assert processbench_f1([0, 0], [1, -1]).value == 0.0


@pytest.mark.parametrize(
    ("predicted", "reference", "reason"), [([1], [1], "single_category"), ([], [], "no_data")]
)
def test_processbench_f1_without_both_kinds_is_undefined(
    predicted: list[int], reference: list[int], reason: str
) -> None:
    result = processbench_f1(predicted, reference)
    assert (result.value, result.reason) == (None, reason)


def test_processbench_f1_refuses_unequal_lengths() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        processbench_f1([1, 2], [1])


def test_only_judged_steps_up_to_the_stop_are_at_risk() -> None:
    values, correct = steps_at_risk([[0.9, None, 0.2, 0.6], [0.7, 0.8]], [2, -1])
    assert values.tolist() == [0.9, 0.2, 0.7, 0.8]
    assert correct.tolist() == [True, False, True, True]


def test_auc_counts_pairs_and_ties_by_half() -> None:
    # Pairs (correct, incorrect): .9>.3, .9>.8, .8>.3, .8=.8 → 3.5 of 4.
    assert auc([0.9, 0.8, 0.3, 0.8], [True, True, False, False]).value == pytest.approx(3.5 / 4)


def test_auc_of_constant_values_is_one_half() -> None:
    assert auc([0.4] * 5, [True, False, True, False, True]).value == pytest.approx(0.5)


def test_auc_equals_counting_all_pairs() -> None:
    random = np.random.default_rng(3)
    values, correct = np.round(random.random(60), 1), random.random(60) < 0.7
    wins = [(a > b) + (a == b) / 2 for a in values[correct] for b in values[~correct]]
    assert auc(values, correct).value == pytest.approx(np.mean(wins))


def test_auc_of_one_kind_is_undefined() -> None:
    assert auc([0.4, 0.6], [True, True]).reason == "single_category"


def test_brier_is_the_mean_squared_difference() -> None:
    assert brier([0.9, 0.4], [True, False]).value == pytest.approx((0.01 + 0.16) / 2)


def test_ece_weighs_each_bin_by_its_size() -> None:
    # Two bins: {.2, .4} holds 1 of 2 (gap .2), {.9} holds 1 of 1 (gap .1): (2·.2 + 1·.1) / 3.
    assert ece([0.2, 0.4, 0.9], [True, False, True], bins=2).value == pytest.approx(0.5 / 3)


def test_ece_includes_both_ends() -> None:
    assert ece([0.0, 1.0], [False, True]).value == 0.0


def test_probability_figures_without_data_are_undefined() -> None:
    assert [figure([], []).reason for figure in (auc, brier, ece)] == ["no_data"] * 3


@pytest.mark.parametrize("values", [[1.5], [float("nan")], [-0.1]])
def test_figures_refuse_what_is_no_probability(values: list[float]) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        brier(values, [True])
