"""Step, first-error and best-of-N figures against small cases worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest

from annotator.core.evaluation import (
    Judged,
    auc,
    best_of_n,
    brier,
    ece,
    error_class_f1,
    evaluate,
    first_error_accuracy,
    processbench_f1,
    reliability,
    step_errors,
    truth_of_stop,
)
from annotator.core.uncertainty import Aggregate

#: Called errors below 0.5: the 1st (an error), the 2nd (valid), and not the 3rd (an error): TP 1, FP 1, FN 1, TN 3.
VALUES = [0.1, 0.4, 0.6, 0.7, 0.8, 0.9]
CORRECT = [False, True, False, True, True, True]


def test_precision_is_the_share_of_calls_that_are_errors() -> None:
    assert step_errors(VALUES, CORRECT, 0.5).precision.value == pytest.approx(1 / (1 + 1))


def test_the_error_detection_rate_is_the_share_of_errors_that_are_called() -> None:
    assert step_errors(VALUES, CORRECT, 0.3).recall.value == pytest.approx(1 / 2)
    assert step_errors(VALUES, CORRECT, 0.65).recall.value == pytest.approx(2 / 2)


def test_prm_score_is_the_mean_of_the_f1_of_both_classes() -> None:
    # Valid steps as positive: precision 3/4, recall 3/4, F1 3/4. Errors: precision 1/2, recall 1/2, F1 1/2.
    assert step_errors(VALUES, CORRECT, 0.5).prm_score.value == pytest.approx((3 / 4 + 1 / 2) / 2)


def test_prm_score_of_a_scorer_that_calls_everything_valid_counts_the_error_class_as_zero() -> None:
    # F1 of valid steps: precision 4/6, recall 1 → 0.8; of errors 0.
    found = step_errors(VALUES, CORRECT, 0.0)
    assert found.prm_score.value == pytest.approx(0.8 / 2)
    assert (found.precision.value, found.precision.reason) == (None, "single_category")


def test_a_step_at_the_threshold_is_no_call() -> None:
    assert step_errors([0.5], [False], 0.5).recall.value == 0.0


def test_without_errors_nothing_can_be_detected() -> None:
    found = step_errors([0.4, 0.9], [True, True], 0.5)
    assert (found.recall.reason, found.prm_score.reason) == ("single_category", "single_category")
    assert step_errors([], [], 0.5).recall.reason == "no_data"


def test_first_error_accuracy_counts_exact_stops_and_none_as_none() -> None:
    # 2=2, 1≠3, -1=-1, -1≠0, 0≠-1 → 2 of 5.
    assert first_error_accuracy([2, 1, -1, -1, 0], [2, 3, -1, 0, -1]).value == pytest.approx(2 / 5)


def test_within_one_takes_the_next_step_but_never_none_for_the_first() -> None:
    # 2~3 counts, 1 against 3 not, -1 against 0 not, 0 against -1 not, -1 = -1 → 2 of 5.
    assert first_error_accuracy([2, 1, -1, 0, -1], [3, 3, 0, -1, -1], within=1).value == pytest.approx(2 / 5)


def test_error_class_f1_counts_exact_hits_alone() -> None:
    # Predicted errors 3, human errors 2, one exact hit: precision 1/3, recall 1/2, F1 = 2·1/(3+2).
    assert error_class_f1([2, 0, 1, -1], [2, 1, -1, -1]).value == pytest.approx(2 / 5)
    assert error_class_f1([-1], [-1]).reason == "single_category"


def test_reliability_tells_each_bins_mean_value_and_share() -> None:
    # (0.4, 0.6] holds 0.6 (wrong); (0.6, 0.8] holds 0.7 and 0.8; empty bins are left out.
    bins = reliability([0.6, 0.7, 0.8], [False, True, False], bins=5)
    assert [(each.name, each.n) for each in bins] == [("0.4–0.6", 1), ("0.6–0.8", 2)]
    assert (bins[1].said, bins[1].correct) == (pytest.approx(0.75), 0.5)


def test_the_bins_gaps_make_the_ece() -> None:
    random = np.random.default_rng(5)
    values, correct = random.random(200), random.random(200) < 0.6
    gaps = sum(abs(each.correct - each.said) * each.n for each in reliability(values, correct)) / 200
    assert ece(values, correct).value == pytest.approx(gaps)


def test_best_of_n_picks_by_each_aggregation() -> None:
    # min: .5 > .3, so right. prod: .5·.6 = .30 < .3·1·.. = .3·1 = .30 tie → half. last: 1 > .6, wrong.
    # mean: .55 < .65, wrong.
    found = best_of_n([[0.5, 0.6], [0.3, 1.0]], [True, False], [7, 7])
    picked = {how.value: figure.value for how, figure in found.by.items()}
    assert picked == {"min": 1.0, "prod": 0.5, "mean": 0.0, "last": 0.0}


def test_best_of_n_leaves_out_problems_without_a_choice() -> None:
    found = best_of_n([[0.9], [0.2], [0.7]], [True, None, True], [0, 0, 1])
    assert (found.by[Aggregate.MIN].reason, found.n) == ("no_data", 0.0)


def test_best_of_n_stands_between_the_lot_and_the_best() -> None:
    # Problem 0: one of three is right and scores best; problem 1: none is right.
    found = best_of_n(
        [[0.9], [0.1], [0.2], [0.9], [0.8]], [True, False, False, False, False], [0, 0, 0, 1, 1]
    )
    assert found.lot.value == pytest.approx((1 / 3 + 0) / 2)
    assert found.by[Aggregate.PROD].value == found.best.value == 0.5
    assert found.n == 2.5


def test_an_interval_resamples_problems_and_not_steps() -> None:
    # Ten copies of each problem's step tell no more than one.
    values, correct = [0.9, 0.2, 0.6, 0.4, 0.7, 0.8], [True, False, True, True, False, True]
    problem = np.arange(6)
    once = brier(values, correct, problem)
    copied = brier(np.repeat(values, 10), np.repeat(correct, 10), np.repeat(problem, 10))
    assert (copied.low, copied.high) == (pytest.approx(once.low), pytest.approx(once.high))
    assert once.low < once.value < once.high


def test_the_interval_of_the_auc_is_that_of_resampled_data() -> None:
    random = np.random.default_rng(11)
    problem = np.repeat(np.arange(30), 4)
    correct = random.random(120) < 0.7
    values = np.round(np.clip(0.6 + 0.2 * correct + 0.2 * random.standard_normal(120), 0, 1), 1)
    figure = auc(values, correct, problem)
    drawn = []
    for _ in range(400):
        rows = np.concatenate([np.flatnonzero(problem == each) for each in random.integers(0, 30, 30)])
        drawn.append(auc(values[rows], correct[rows]).value)
    assert (figure.low, figure.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.03)


def test_the_interval_of_the_f1_covers_it_and_is_the_same_twice() -> None:
    random = np.random.default_rng(2)
    stops = random.integers(-1, 3, 80).tolist()
    guesses = [stop if random.random() < 0.5 else -1 for stop in stops]
    first, second = (processbench_f1(guesses, stops, np.arange(80)) for _ in range(2))
    assert first == second
    assert first.low < first.value < first.high


def test_an_evaluation_takes_stops_and_steps_from_where_they_are_known() -> None:
    judged = [
        Judged([0.9, 0.2, 0.9], truth_of_stop(3, 1), 1, problem=5),
        Judged([0.9, 0.8], truth_of_stop(2, -1), -1, problem=5, answer_right=True),
        Judged([0.3, 0.9], [False, None], None, problem=9),
    ]
    found = evaluate(judged, threshold=0.5)
    assert (found.solutions, found.problems, found.steps) == (3, 2, 5)
    assert found.processbench_f1.value == 1.0
    assert found.first_error_exact.n == 2
    assert found.errors.recall.value == 1.0


def test_an_evaluation_of_nothing_says_so() -> None:
    found = evaluate([], threshold=0.5)
    assert (found.step_auc.reason, found.processbench_f1.reason, found.bins) == ("no_data", "no_data", [])


def test_real_prms_picks_equal_a_plain_loop_over_problems(shared_data: Path) -> None:
    lines = (shared_data / "strictprmbench_7prm_scores_gsm8k.jsonl").read_bytes().splitlines()
    rows = [orjson.loads(line) for line in lines]
    names = sorted({row["problem_id"] for row in rows})
    problem = [names.index(row["problem_id"]) for row in rows]
    for prm in ("qwen_prm", "math_shepherd"):
        found = best_of_n(
            [row["prm_step_scores"][prm] for row in rows], [r["is_correct"] for r in rows], problem
        )
        shares = []
        for name in names:
            mine = [row for row in rows if row["problem_id"] == name]
            top = max(row["prm_step_scores"][prm][-1] for row in mine)
            picked = [row["is_correct"] for row in mine if row["prm_step_scores"][prm][-1] == top]
            shares.append(sum(picked) / len(picked))
        assert found.by[Aggregate.LAST].value == pytest.approx(np.mean(shares))
        assert found.by[Aggregate.LAST].value <= found.best.value
