"""Dawid-Skene on steps, with priors and gold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.core.agreement import Ratings, ratings
from annotator.core.consensus import dawid_skene
from annotator.core.intervals import Floats, Ints, Reason


def crowd(units: int, right: list[float], seed: int = 0, share: float = 1.0) -> tuple[Ratings, Ints]:
    """Everybody labels a ``share`` of the steps; a wrong label is either other class."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, units, p=[0.25, 0.15, 0.6])
    people = len(right)
    is_right = rng.random((units, people)) < np.array(right)
    said = np.where(is_right, truth[:, None], (truth[:, None] + rng.integers(1, 3, (units, people))) % 3)
    kept = (rng.random(said.shape) < share).ravel()
    unit, rater = np.repeat(np.arange(units), people), np.tile(np.arange(people), units)
    labels = ratings(unit[kept], rater[kept], said.ravel()[kept] - 1, solution=range(units))
    return labels, truth


def accuracy(found: Floats, truth: Ints) -> float:
    return float((found.argmax(axis=1) == truth).mean())


def test_a_careful_person_is_believed_against_two_careless_ones() -> None:
    labels, truth = crowd(900, [0.95, 0.55, 0.55])
    counts = labels.counts()
    majority = accuracy(counts + np.random.default_rng(0).random(counts.shape) / 10, truth)
    assert accuracy(dawid_skene(labels, 3).posterior, truth) > majority + 0.1


def test_missing_labels_are_normal() -> None:
    labels, truth = crowd(900, [0.9, 0.8, 0.7, 0.9, 0.8], share=0.5)
    found = dawid_skene(labels, 5)
    assert found.quality == pytest.approx([0.9, 0.8, 0.7, 0.9, 0.8], abs=0.06)
    assert accuracy(found.posterior, truth) > 0.85


def test_a_step_nobody_labelled_has_no_class() -> None:
    found = dawid_skene(ratings([0, 0], [0, 1], [1, 1], solution=range(2)), 2)
    assert found.posterior[1].tolist() == [0.0, 0.0, 0.0]
    assert found.best()[0].tolist() == [2, -1]


def test_a_tie_is_reported_as_one() -> None:
    labels = ratings([0, 0, 1, 1], [0, 1, 0, 1], [1, -1, -1, 1])
    assert dawid_skene(labels, 2).best()[0].tolist() == [-1, -1]


def test_gold_clamps_what_people_say() -> None:
    labels, _ = crowd(30, [0.9, 0.9, 0.9])
    gold = np.zeros(30, dtype=int)
    gold[4], gold[5] = 0b001, 0b110
    found = dawid_skene(labels, 3, gold).posterior
    assert found[4].tolist() == [1.0, 0.0, 0.0]
    assert found[5, 0] == 0.0
    assert found[5].sum() == pytest.approx(1.0)


def test_gold_measures_people_who_share_no_step() -> None:
    """Person 0 is always right on gold, person 1 always calls errors correct."""
    gold = np.tile([0b001, 0b100], 40)
    unit = np.arange(80)
    rater = unit % 4 // 2
    said = np.where(rater == 0, np.where(unit % 2 == 0, -1, 1), 1)
    found = dawid_skene(ratings(unit, rater, said), 2, gold)
    assert found.reason is None
    assert found.quality[0] > found.quality[1] + 0.2


def test_a_newcomer_is_taken_for_an_average_person() -> None:
    labels, _ = crowd(400, [0.9, 0.9, 0.9])
    unit = np.append(labels.unit, 0)
    more = ratings(unit, np.append(labels.rater, 3), np.append(labels.code, labels.code[0]) - 1)
    found = dawid_skene(more, 4)
    assert found.quality[3] == pytest.approx(found.quality[:3].mean(), abs=0.03)


def test_without_a_shared_step_the_labels_come_back_and_nobody_is_judged() -> None:
    found = dawid_skene(ratings([0, 1], [0, 1], [1, -1]), 2)
    assert found.best()[0].tolist() == [2, 0]
    assert (found.reason, bool(np.isnan(found.quality).all())) == (Reason.NO_OVERLAP, True)


@given(st.permutations(range(12)), st.permutations(range(3)), st.integers(0, 20))
@settings(max_examples=25, deadline=None)
def test_names_and_order_do_not_matter(units: list[int], raters: list[int], seed: int) -> None:
    labels, _ = crowd(12, [0.9, 0.7, 0.8], seed=seed, share=0.8)
    renamed = ratings(
        np.array(units)[labels.unit], np.array(raters)[labels.rater], labels.code - 1, solution=range(12)
    )
    plain, found = dawid_skene(labels, 3), dawid_skene(renamed, 3)
    assert found.posterior[units] == pytest.approx(plain.posterior, abs=1e-9)
    assert found.quality[raters] == pytest.approx(plain.quality, abs=1e-9)


@given(st.integers(0, 50))
@settings(max_examples=25, deadline=None)
def test_posteriors_are_probabilities(seed: int) -> None:
    labels, _ = crowd(15, [0.9, 0.5, 0.3], seed=seed, share=0.6)
    found = dawid_skene(labels, 3)
    labelled = labels.counts().sum(axis=1) > 0
    assert found.posterior.min() >= 0.0
    assert found.posterior.sum(axis=1) == pytest.approx(labelled.astype(float))
    assert found.confusion.sum(axis=2) == pytest.approx(np.ones((3, 3)))
