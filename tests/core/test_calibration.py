"""From a scorer's values to probabilities: what the map keeps, when there is none, and that it helps on the unseen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.core.calibration import (
    MIN_SOLUTIONS,
    Calibration,
    Method,
    calibrate,
    crossed,
    from_json,
    isotonic,
    log_loss,
)
from annotator.core.intervals import Floats


def overconfident(steps: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Values whose logits are three times too large, their truths, and problems of five steps."""
    random = np.random.default_rng(seed)
    real = random.uniform(0.02, 0.98, steps)
    said = real**3 / (real**3 + (1 - real) ** 3)
    return said, random.random(steps) < real, np.arange(steps) // 5


def test_too_few_solutions_make_no_map() -> None:
    assert calibrate(*overconfident(5000), solutions=MIN_SOLUTIONS - 1) is None


def test_steps_that_are_all_correct_make_no_map() -> None:
    values, _, problem = overconfident(500)
    assert calibrate(values, [True] * 500, problem, solutions=100) is None


def test_few_steps_get_a_line_in_logits_and_its_slope_is_found() -> None:
    found = calibrate(*overconfident(900), solutions=180)
    assert found is not None
    assert found.method is Method.PLATT
    assert found.to[0] == pytest.approx(1 / 3, abs=0.06)


def test_many_steps_of_a_bent_curve_get_a_step_function() -> None:
    random = np.random.default_rng(1)
    said = random.random(20_000)
    bent = np.where(said < 0.5, 0.2, 0.9)
    found = calibrate(said, random.random(20_000) < bent, np.arange(20_000) // 5, solutions=4000)
    assert found is not None
    assert found.method is Method.ISOTONIC
    assert found.apply([0.2, 0.8]).tolist() == pytest.approx([0.2, 0.9], abs=0.03)


def test_on_problems_that_the_map_never_saw_the_loss_falls() -> None:
    values, truth, problem = overconfident(900)
    assert log_loss(crossed(values, truth, problem), truth.astype(bool)) < log_loss(
        values, truth.astype(bool)
    )


def test_a_fold_is_judged_without_its_own_labels() -> None:
    values, truth, problem = overconfident(400)
    mine = np.unique(problem, return_inverse=True)[1] % 5 == 0
    turned = np.where(mine, ~truth.astype(bool), truth)
    assert np.array_equal(crossed(values, truth, problem)[mine], crossed(values, turned, problem)[mine])


def test_a_scorer_that_is_wrong_way_round_is_not_turned_but_flattened() -> None:
    values, truth, problem = overconfident(500)
    found = calibrate(values, ~truth.astype(bool), problem, solutions=100)
    assert found is not None
    assert len(set(found.apply([0.1, 0.9]).tolist())) == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_a_step_function_rises_and_never_claims_certainty(pairs: list[tuple[float, bool]]) -> None:
    values, truth = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    at, to = isotonic(values, truth)
    assert np.all(np.diff(at) > 0)
    assert np.all(np.diff(to) >= 0)
    assert 0.0 < to.min() <= to.max() < 1.0


@pytest.mark.parametrize("method", list(Method))
def test_a_map_comes_back_from_the_database_as_it_was(method: Method) -> None:
    made = Calibration(method, (0.25, 0.5), (0.5, 0.75), 60, 300)
    assert from_json(made.as_json()) == made
    assert from_json({}) is None


def test_unlabelled_steps_keep_no_value() -> None:
    assert np.isnan(Calibration(Method.ISOTONIC, (0.0, 1.0), (0.1, 0.9), 60, 300).apply([np.nan])[0])


def test_values_and_truths_must_pair() -> None:
    with pytest.raises(ValueError, match="do not pair"):
        calibrate([0.5], [True, False], [1], solutions=100)
