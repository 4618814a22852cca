"""What is said of many solutions at once is what is said of each alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.core import ragged, uncertainty
from annotator.core.ragged import Rows

Many = list[list[tuple[float | None, float | None, float]]]

#: A step: its value, its spread and what another scorer says; a step that takes no label has neither.
judged = st.tuples(st.floats(0, 1), st.none() | st.floats(0, 0.5), st.floats(0, 1))
step = judged | st.just((None, None, math.nan))
many: st.SearchStrategy[Any] = st.lists(st.lists(step, min_size=1, max_size=6), max_size=8)
thresholds = st.floats(0.1, 0.9)


def columns(
    solutions: Many,
) -> tuple[list[list[float | None]], list[list[float | None]], list[list[float | None]]]:
    """Values, spreads and the other scorer's values, one list a solution."""
    other = [[None if value is None else third for value, _, third in one] for one in solutions]
    return (
        [[one[0] for one in each] for each in solutions],
        [[one[1] for one in each] for each in solutions],
        other,
    )


@given(many, thresholds)
def test_the_same_steps_are_at_risk(solutions: Many, threshold: float) -> None:
    values, _, _ = columns(solutions)
    rows = Rows.of_lists(values)
    found = ragged.at_risk(rows, np.full(rows.n, threshold))
    expected = [at in uncertainty.at_risk(row, threshold) for row in values for at in range(len(row))]
    assert found.tolist() == expected


@given(many, thresholds)
def test_entropies_products_and_certainty_are_the_same(solutions: Many, threshold: float) -> None:
    values, spread, _ = columns(solutions)
    rows = Rows.of_lists(values)
    risk = ragged.at_risk(rows, np.full(rows.n, threshold))
    expected = [uncertainty.mean_entropy(row, threshold) for row in values]
    assert ragged.mean_entropies(rows, risk).tolist() == pytest.approx(expected, abs=1e-12)
    whole = [math.nan if one is None else one for one in map(uncertainty.aggregate, values)]
    assert ragged.products(rows).tolist() == pytest.approx(whole, abs=1e-12, nan_ok=True)
    sure = [
        uncertainty.is_certain(row, wide, delta_pred=0.8, delta_std=0.2, threshold=threshold)
        for row, wide in zip(values, spread, strict=True)
    ]
    assert ragged.certain(rows, Rows.of_lists(spread), risk, pred=0.8, std=0.2).tolist() == sure


@given(many, thresholds)
def test_disagreement_is_the_same_and_unknown_for_one_scorer(solutions: Many, threshold: float) -> None:
    values, _, other = columns(solutions)
    silent = [place % 3 == 0 for place in range(len(values))]
    other = [[None] * len(row) if mute else row for row, mute in zip(other, silent, strict=True)]
    both = [Rows.of_lists(values), Rows.of_lists(other)]
    risks = [ragged.at_risk(each, np.full(each.n, threshold)) for each in both]
    expected = [
        math.nan
        if mute or all(value is None for value in row)
        else uncertainty.disagreement([row, second], [threshold] * 2)
        for row, second, mute in zip(values, other, silent, strict=True)
    ]
    assert ragged.disagreements(both, risks).tolist() == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_nothing_at_all_is_no_error() -> None:
    none = Rows.of_lists([])
    assert ragged.products(none).tolist() == []
    assert ragged.at_risk(none, np.zeros(0)).tolist() == []
