"""People against the rest."""

from __future__ import annotations

import numpy as np
import pytest

from annotator.core.agreement import against_the_rest
from annotator.core.intervals import Ints


def crowd(units: int, careless: float, seed: int = 0) -> tuple[Ints, Ints, Ints]:
    """Units by three of six people; person 5 is wrong with probability ``careless``, the others with 5 %."""
    rng = np.random.default_rng(seed)
    rater = np.argsort(rng.random((units, 6)), axis=1)[:, :3].ravel()
    wrong = rng.random(len(rater)) < np.where(rater == 5, careless, 0.05)
    return np.repeat(np.arange(units), 3), rater, np.where(wrong, rng.integers(1, 9, len(rater)), 0)


def test_a_careless_person_stands_out_from_the_rest() -> None:
    found = against_the_rest(*crowd(400, careless=0.5))
    assert min(found, key=lambda each: each.shrunken).rater == 5
    assert found[5].high is not None
    assert found[5].high < 0


def test_among_equals_effects_are_shrunk_away() -> None:
    found = against_the_rest(*crowd(100, careless=0.05, seed=4))
    for each in found:
        assert each.raw is not None
        assert abs(each.shrunken) < max(abs(each.raw), 0.01)


def test_the_fewer_units_the_more_an_effect_is_shrunk() -> None:
    unit, rater, value = crowd(400, careless=0.5)
    early = (rater != 5) | (unit <= unit[rater == 5][7])
    all_of_it = against_the_rest(unit, rater, value)[5]
    a_few = against_the_rest(unit[early], rater[early], value[early])[5]
    assert a_few.n == 8
    assert all_of_it.raw is not None
    assert a_few.raw is not None
    assert a_few.shrunken / a_few.raw < all_of_it.shrunken / all_of_it.raw


def test_hard_work_is_not_held_against_a_person() -> None:
    """Units of level 1 divide everybody; person 0 got mostly those."""
    rng = np.random.default_rng(1)
    level = (np.arange(600) < 300).astype(int)
    pairs = np.where(level[:, None] == 1, [0, 1], [1, 2])
    value = np.where(level[:, None] == 1, rng.integers(0, 3, (600, 2)), 0)
    arrays = np.repeat(np.arange(600), 2), pairs.ravel(), value.ravel()
    blamed, fair = against_the_rest(*arrays)[0], against_the_rest(*arrays, np.repeat(level, 2))[0]
    assert blamed.raw == pytest.approx(-1 / 3, abs=0.06)
    assert fair.raw == pytest.approx(0, abs=1e-9)


def test_somebody_who_shares_nothing_has_no_effect() -> None:
    found = against_the_rest(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([1, 1, 1]))[2]
    assert (found.n, found.raw, found.shrunken, found.low) == (0, None, 0.0, None)
