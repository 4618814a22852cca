"""Intervals: problems are resampled, and no interval pretends to be certain."""

from __future__ import annotations

import numpy as np
import pytest

from annotator.core.intervals import (
    MOST_CLUSTERS,
    Figure,
    bootstrap,
    mean,
    proportion,
    ratio,
    resample,
    wilson,
)


def width(figure: Figure) -> float:
    assert figure.low is not None
    assert figure.high is not None
    return figure.high - figure.low


def test_solutions_of_one_problem_count_as_one_draw() -> None:
    """Ten equal solutions a problem tell no more than one: the interval is as wide as over single ones."""
    values = np.array([0.0, 1.0] * 20)
    single = mean(values, np.arange(40))
    tenfold = mean(np.repeat(values, 10), np.repeat(np.arange(40), 10))
    assert width(tenfold) == pytest.approx(width(single), abs=0.02)
    assert tenfold.n == 400


def test_the_interval_of_a_mean_is_about_two_standard_errors_each_way() -> None:
    values = np.array([0.0, 1.0] * 200)
    assert width(mean(values, np.arange(400))) == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.05)


def test_tying_many_problems_together_keeps_the_spread() -> None:
    values = np.random.default_rng(5).random(20_000)
    found = resample(np.stack([values, np.ones(20_000)], axis=1))
    means = found[:, 0] / found[:, 1]
    assert len(values) > MOST_CLUSTERS
    assert means.std() == pytest.approx(values.std() / np.sqrt(20_000), rel=0.12)


def test_a_page_shows_the_same_interval_twice() -> None:
    values, problem = np.random.default_rng(2).random(50), np.arange(50)
    assert mean(values, problem) == mean(values, problem)


@pytest.mark.parametrize("sums", [[[1.0, 2.0]], [[1.0, 1.0]] * 10])
def test_one_problem_or_data_that_never_vary_have_no_interval(sums: list[list[float]]) -> None:
    assert bootstrap(np.array(sums), ratio) is None


def test_a_statistic_that_is_mostly_undefined_has_no_interval() -> None:
    assert bootstrap(np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), ratio) is None


def test_wilson_refuses_more_successes_than_trials() -> None:
    with pytest.raises(ValueError, match="3 successes in 2 trials"):
        wilson(3, 2)


def test_a_share_of_all_or_none_keeps_a_width() -> None:
    assert width(proportion(5, 5)) > 0.3
    assert width(proportion(0, 5)) > 0.3
