"""What must hold of every statistic of agreement, whatever the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.core import agreement as a
from annotator.core.intervals import Figure, Reason

MEASURES = {
    "percent": a.PERCENT,
    "fleiss": a.FLEISS,
    "alpha": a.ALPHA,
    "alpha_ordinal": a.ALPHA_ORDINAL,
    "ac1": a.AC1,
    "brennan_prediger": a.brennan_prediger(3),
    "specific": a.specific(0),
}


@dataclass
class Data:
    """Labels as (unit, rater) → value, with any of them missing."""

    labels: dict[tuple[int, int], int]

    def ratings(self, units: list[int] | None = None, raters: list[int] | None = None) -> a.Ratings:
        keys = list(self.labels)
        return a.ratings(
            np.array([units[u] if units else u for u, _ in keys], dtype=int),
            np.array([raters[r] if raters else r for _, r in keys], dtype=int),
            np.array([self.labels[key] for key in keys], dtype=int),
            solution=range(8),
        )


def data(complete: bool = False) -> st.SearchStrategy[Data]:
    cells = [(unit, rater) for unit in range(8) for rater in range(3)]
    value = st.sampled_from([-1, 0, 1])
    label = value if complete else st.one_of(st.none(), value)
    rows = st.lists(label, min_size=len(cells), max_size=len(cells))
    return rows.map(
        lambda row: Data({cell: each for cell, each in zip(cells, row, strict=True) if each is not None})
    )


def same(one: Figure, other: Figure) -> bool:
    if one.value is None or other.value is None:
        return (one.value, one.reason) == (other.value, other.reason)
    return math.isclose(one.value, other.value, abs_tol=1e-9) and one.n == other.n


@pytest.mark.parametrize("name", MEASURES)
@given(some=data(), units=st.permutations(range(8)), raters=st.permutations(range(3)))
@settings(max_examples=40, deadline=None)
def test_names_of_people_and_order_of_items_do_not_matter(
    name: str, some: Data, units: list[int], raters: list[int]
) -> None:
    measure = MEASURES[name]
    plain = a.figure(some.ratings(), measure, draws=0)
    assert same(plain, a.figure(some.ratings(units, raters), measure, draws=0))


@pytest.mark.parametrize("name", MEASURES)
@given(some=data())
@settings(max_examples=40, deadline=None)
def test_a_figure_is_at_most_one_and_never_nan_or_without_a_reason(name: str, some: Data) -> None:
    found = a.figure(some.ratings(), MEASURES[name], draws=50)
    if found.value is None:
        assert found.reason in set(Reason)
    else:
        assert found.reason is None
        assert found.value <= 1 + 1e-9
    if found.low is not None and found.high is not None:
        assert found.low <= found.high


@given(some=data(complete=True))
@settings(max_examples=60, deadline=None)
def test_alpha_is_fleiss_with_a_correction_for_small_samples(some: Data) -> None:
    """With no label missing, alpha = 1 - (1 - kappa)(n - 1) / n over n labels."""
    alpha = a.figure(some.ratings(), a.ALPHA, draws=0).value
    fleiss = a.figure(some.ratings(), a.FLEISS, draws=0).value
    if fleiss is None:
        assert alpha is None
    else:
        assert alpha == pytest.approx(1 - (1 - fleiss) * 23 / 24)


@given(some=data(complete=True))
@settings(max_examples=60, deadline=None)
def test_fleiss_of_two_raters_is_scotts_pi(some: Data) -> None:
    two = Data({key: value for key, value in some.labels.items() if key[1] < 2}).ratings()
    assert same(a.figure(two, a.FLEISS, draws=0), a.scott(two, 0, 1, draws=0))


@given(some=data(complete=True))
@settings(max_examples=60, deadline=None)
def test_with_two_categories_weights_change_nothing(some: Data) -> None:
    binary = some.ratings().recoded([0, 1, 1])
    assert same(a.cohen(binary, 0, 1, draws=0), a.cohen(binary, 0, 1, "linear", draws=0))


@given(some=data())
@settings(max_examples=60, deadline=None)
def test_with_two_categories_order_changes_nothing(some: Data) -> None:
    binary = some.ratings().recoded([0, 1, 1])
    assert same(a.figure(binary, a.ALPHA, draws=0), a.figure(binary, a.ALPHA_ORDINAL, draws=0))


@given(some=data())
@settings(max_examples=60, deadline=None)
def test_the_heat_map_holds_each_pairs_own_figures(some: Data) -> None:
    labels = some.ratings()
    heat = a.heat_map(labels)
    for one, other in ((x, y) for x in range(len(heat.n)) for y in range(len(heat.n)) if x != y):
        assert same(heat.cell(one, other), a.cohen(labels, one, other, draws=0))
        assert heat.n[one, other] == heat.n[other, one]


def test_full_agreement_on_several_categories_is_one_everywhere() -> None:
    labels = a.ratings([0, 0, 1, 1, 2, 2], [0, 1] * 3, [1, 1, 0, 0, -1, -1])
    assert [a.figure(labels, each, draws=0).value for each in MEASURES.values()] == pytest.approx([1] * 7)


def test_one_constant_rater_gives_kappa_zero_however_often_they_agree() -> None:
    labels = a.ratings(np.repeat(np.arange(10), 2), [0, 1] * 10, [1, 1] * 9 + [1, -1])
    assert a.cohen(labels, 0, 1).value == 0.0


def test_below_chance_stays_negative() -> None:
    labels = a.ratings([0, 0, 1, 1], [0, 1, 0, 1], [1, -1, -1, 1])
    assert a.cohen(labels, 0, 1, draws=0).value == pytest.approx(-1.0)


def test_specific_agreement_on_errors_does_not_see_the_many_correct_steps() -> None:
    # 98 steps both call correct, one both call incorrect, one on which they differ: 2·1 / (2·1 + 1).
    labels = a.ratings(np.repeat(np.arange(100), 2), [0, 1] * 100, [1] * 196 + [-1, -1, 1, -1])
    assert a.figure(labels, a.specific(0), draws=0).value == pytest.approx(2 / 3)


def test_the_schema_counts_not_the_classes_that_were_used() -> None:
    """Chance of AC1 is Σ π(1 - π) / (q - 1): a third, unused label halves it."""
    unit, rater, value = [0, 0, 1, 1, 2, 2], [0, 1] * 3, [1, 1, -1, -1, 1, -1]
    three, two = a.ratings(unit, rater, value), a.ratings(unit, rater, value, (-1, 1))
    # Half of all labels are 1: chance 0.25 and 0.5; two units of three agree.
    assert a.figure(three, a.AC1, draws=0).value == pytest.approx((2 / 3 - 0.25) / 0.75)
    assert a.figure(two, a.AC1, draws=0).value == pytest.approx((2 / 3 - 0.5) / 0.5)


def test_both_binarisations_of_neutral_can_be_had() -> None:
    labels = a.ratings([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, -1])
    as_correct, as_incorrect = labels.recoded([0, 1, 1]), labels.recoded([0, 0, 1])
    assert a.figure(as_correct, a.PERCENT, draws=0).value == 0.5
    assert as_correct.code.tolist() == [1, 1, 1, 0]
    assert as_incorrect.code.tolist() == [0, 1, 0, 0]


def test_figures_by_depth_count_each_groups_own_solutions() -> None:
    """Two solutions of two steps: at depth 0 all agree, at depth 1 nobody; a third step has one label only."""
    labels = a.ratings(
        [0, 0, 1, 1, 2, 2, 3, 3, 4], [0, 1] * 4 + [0], [1, 1, 1, -1, 1, 1, -1, 1, 1], solution=[0, 0, 1, 1, 1]
    )
    found = a.by_group(labels, a.PERCENT, np.array([0, 1, 0, 1, 2]), draws=0)
    assert (found[0].value, found[0].n) == (1.0, 2)
    assert (found[1].value, found[1].n) == (0.0, 2)
    assert (found[2].value, found[2].reason) == (None, Reason.NO_PAIRABLE_UNITS)


def test_steps_are_compared_only_where_both_people_reached_them() -> None:
    """The second person stops at step 1: steps 0 and 1 are at risk, step 2 is not, whatever the first one said."""
    steps, depth = a.step_ratings([0, 0], [0, 1], [1, 1, 1, 1, -1, a.NOT_JUDGED], [3])
    found = a.by_group(steps, a.PERCENT, depth, draws=0)
    assert [found[at].value for at in (0, 1, 2)] == [1.0, 0.0, None]


def test_labels_of_another_length_than_their_solutions_are_refused() -> None:
    with pytest.raises(a.InvalidRatings, match="5 labels do not fit"):
        a.step_ratings([0, 0], [0, 1], [1] * 5, [3])


def test_a_figure_counts_solutions_not_steps() -> None:
    labels = a.ratings([0, 0, 1, 1, 2, 2], [0, 1] * 3, [1, 1, 1, -1, 1, 1], solution=[0, 0, 1])
    assert a.figure(labels, a.PERCENT, draws=0).n == 2


@pytest.mark.parametrize(("unit", "rater", "value"), [([0], [0], [2]), ([0, 1], [0], [1]), ([0], [0], [0.5])])
def test_labels_that_do_not_fit_are_refused(unit: list[int], rater: list[int], value: list[int]) -> None:
    with pytest.raises(a.InvalidRatings):
        a.ratings(unit, rater, value)
