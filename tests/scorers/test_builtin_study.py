"""What the built-in scorer is worth on unseen problems, and that its shipped numbers come from the files they name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from annotator.core.evaluation import auc
from annotator.core.labels import NO_ERROR
from annotator.core.solutions import Step
from annotator.scorers.builtin import shipped
from annotator.scorers.builtin.fit import Settings, fit_chosen, folds, tune_threshold
from annotator.scorers.builtin.study import (
    SHIPPED,
    Study,
    compared,
    evaluate,
    held_out_threshold,
    out_of_fold,
    read,
    report,
    routes,
    speed,
)
from annotator.scorers.builtin.training_data import Labelled, tabulate

QUICK = Settings(members=3, folds=3, words=True)


@pytest.fixture(scope="module")
def study(shared_data: Path) -> Study:
    return read([shared_data / "processbench_gsm8k.jsonl", shared_data / "processbench_math.jsonl"])


def test_the_shipped_weights_can_be_fitted_again(study: Study) -> None:
    everything = np.ones(len(study.solutions), dtype=np.bool_)
    again = fit_chosen(study.table, everything, SHIPPED)
    np.testing.assert_allclose(again.weights.coefficients, shipped().coefficients, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(again.weights.intercepts, shipped().intercepts, rtol=1e-3, atol=1e-4)
    assert held_out_threshold(study.table, everything, study.part, again) == pytest.approx(
        shipped().threshold, abs=0.011
    )


def test_unseen_problems_are_ranked_clearly_better_than_chance(study: Study) -> None:
    values, predicted = out_of_fold(study.table, study.part, QUICK)
    found = report(study, "quick", values, predicted)
    assert found.step_auc is not None
    assert found.step_auc > 0.74
    assert found.figure.value is not None
    assert found.figure.low is not None
    assert found.figure.high is not None
    assert 0.34 < found.figure.low < found.figure.value < found.figure.high < 0.52
    assert found.figure.value > 0.37
    assert found.brier is not None
    assert found.brier_of_base_rate is not None
    assert found.brier < found.brier_of_base_rate
    assert found.ece is not None
    assert found.ece < 0.04


def test_labels_drawn_by_lot_can_not_be_learned(study: Study) -> None:
    random = np.random.default_rng(1)
    # Steps are judged one by one, so that the place of the first error says nothing either.
    correct = random.permutation(study.table.correct)
    table = replace(study.table, correct=correct, risk=np.ones(len(correct), dtype=np.bool_))
    values, _ = out_of_fold(table, study.part, replace(QUICK, members=1))
    assert auc(values, correct.astype(bool)).value == pytest.approx(0.5, abs=0.05)


def test_no_problem_is_on_both_sides_of_a_fold(study: Study) -> None:
    fold = folds(study.table, SHIPPED)
    assert (
        len(set(zip(study.table.group.tolist(), fold.tolist(), strict=True))) == study.table.group.max() + 1
    )


def test_problems_of_training_are_counted(shared_data: Path) -> None:
    found, overlap = evaluate(shipped(), [shared_data / "processbench_gsm8k.jsonl"])
    assert overlap == found.solutions == 400


def test_the_speed_is_told_in_steps(shared_data: Path) -> None:
    assert speed(shipped(), shared_data / "processbench_gsm8k.jsonl") > 100


def small(**changes: object) -> Study:
    """Two files of three solutions each; the last step of every second one does not add up."""
    solutions = tuple(
        Labelled(
            f"Ann has {n} eggs and buys 3.",
            (Step("Add."), Step(f"{n} + 3 = {n + 3 + n % 2}.")),
            1 if n % 2 else NO_ERROR,
            answer_correct=not n % 2,
        )
        for n in range(10, 16)
    )
    whole = Study(
        (Path("a.jsonl"), Path("b.jsonl")), solutions, tabulate(solutions, words=True), np.arange(6) // 3
    )
    return replace(whole, **changes)


def test_the_figure_is_the_mean_of_the_files() -> None:
    study = small()
    # The first file: one of one error found, one of two passed: 2/3. The second: none of two found: 0.
    found = report(study, "by hand", np.full(12, 0.9), [-1, 1, 0, -1, -1, -1])
    assert [round(one.value or 0, 4) for one in found.files.values()] == [0.6667, 0.0]
    assert found.figure.value == pytest.approx(1 / 3)


def test_each_route_reads_more_and_no_fair_one_knows_the_outcome(study: Study) -> None:
    sizes = [len(route.columns) for route in routes(study)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == study.table.rows.shape[1] == len(shipped().mean)
    assert [one.route for one in compared(small(), replace(QUICK, folds=2))][-1].startswith("outcome known")


def test_the_outcome_changes_no_feature() -> None:
    right, wrong = (
        tabulate([replace(one, answer_correct=known) for one in small().solutions], words=True)
        for known in (True, False)
    )
    assert np.array_equal(right.rows, wrong.rows)


def test_a_threshold_weighs_benchmarks_alike() -> None:
    # Nine pairs of one benchmark want more than .75, a pair of each of two others at most .7.
    rows = [[0.75], [0.9]] * 9 + [[0.45], [0.7]] * 2
    stops = [0, NO_ERROR] * 11
    assert tune_threshold(rows, stops) > 0.75
    assert tune_threshold(rows, stops, [0] * 18 + [1] * 2 + [2] * 2) < 0.7
