"""What gold says of a person, and when it warns and pauses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.core.intervals import Reason
from annotator.core.labels import FinishReason, Mode
from annotator.core.screening import (
    Cause,
    ItemScore,
    Override,
    Rule,
    Standing,
    State,
    confusion,
    fit_rule,
    follow,
    monotony,
    pace,
    rolling,
    says_only_correct,
    score_item,
    scorecard,
    self_consistency,
    suspect_gold,
)

EVENTS = st.lists(
    st.one_of(st.none(), st.booleans(), st.sampled_from([Override.CLEAR, Override.PAUSE])), max_size=60
)


def until(state: State, wrong_every: int) -> int:
    """Gold items until the state, for somebody who gets each ``wrong_every``-th item wrong."""
    outcomes = [index % wrong_every != 0 for index in range(1, 400)]
    return next(moment.event + 1 for moment in follow(outcomes).path if moment.state is state)


# ── the scorecard ──────────────────────────────────────────────────────────────


def test_sensitivity_and_false_alarms_are_kept_apart() -> None:
    card = scorecard(
        [ItemScore(True, 1, 1, 4, 0), ItemScore(False, 0, 0, 2, 1), ItemScore(False, 1, 0, 3, 0)]
    )
    assert (card.sensitivity.value, card.sensitivity.n) == (0.5, 2)
    assert (card.false_alarms.value, card.false_alarms.n) == (pytest.approx(1 / 9), 9)
    assert card.items.value == pytest.approx(1 / 3)


def test_giving_up_censors_the_item_but_not_the_steps_before() -> None:
    score = score_item((1, 1, None), (6, 6, 1), [True] * 3, Mode.FIRST_ERROR, FinishReason.GIVE_UP)
    card = scorecard([score])
    assert (card.items.value, card.items.reason) == (None, Reason.NO_GOLD)
    assert card.false_alarms.n == 2


def test_somebody_without_gold_has_no_figures() -> None:
    assert {each.reason for each in (scorecard([]).sensitivity, scorecard([]).items)} == {Reason.NO_GOLD}


def test_rolling_accuracy_forgets_what_is_older_than_the_window() -> None:
    found = rolling([False] * 30 + [True] * 30)
    assert (found[29].value, found[-1].value, found[-1].n) == (0.0, 1.0, 30)
    assert found[-1].low is not None
    assert found[-1].low < 1.0


def test_confusion_has_gold_in_rows() -> None:
    assert confusion([-1, -1, 0], [1, -1, 0]).tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 0]]


def test_an_item_that_most_trusted_people_fail_may_be_bad_gold() -> None:
    assert suspect_gold([False, False, None, True])
    assert not suspect_gold([False, True, True])
    assert not suspect_gold([False, None])


# ── CUSUM and what follows from it ─────────────────────────────────────────────


def test_the_first_alarm_warns_and_the_second_pauses() -> None:
    standing = follow([False] * 7)
    assert [(each.event, each.state) for each in standing.changes] == [(5, State.WARNED), (6, State.PAUSED)]
    assert standing.cause is Cause.SECOND_ALARM


def test_one_wrong_in_three_is_paused_and_one_in_ten_is_not() -> None:
    assert until(State.PAUSED, wrong_every=3) < 80
    assert follow([index % 10 != 0 for index in range(1, 400)]).state is State.CLEAR


def test_a_right_item_never_brings_credit_for_later() -> None:
    assert follow([True] * 100 + [False] * 7).state is State.PAUSED


def test_a_warning_lapses_when_nothing_speaks_against_the_person_any_more() -> None:
    standing = follow([False] * 6 + [True] * 17)
    assert [each.cause for each in standing.changes] == [Cause.FIRST_ALARM, Cause.RECOVERED]
    assert standing.state is State.CLEAR


def test_while_paused_only_a_manager_changes_anything() -> None:
    paused = follow([False] * 7)
    later = follow([False] * 7 + [True] * 50)
    assert (later.state, later.statistic, later.n_items) == (State.PAUSED, paused.statistic, paused.n_items)


def test_a_manager_clears_and_the_count_begins_anew() -> None:
    standing = follow([*[False] * 7, Override.CLEAR, *[False] * 5])
    assert (standing.state, standing.last_clear) == (State.CLEAR, 7)
    assert follow([*[False] * 7, Override.CLEAR, *[False] * 6]).state is State.WARNED


def test_a_manager_can_pause_somebody_who_does_well() -> None:
    standing = follow([True, Override.PAUSE, True])
    assert (standing.state, standing.cause) == (State.PAUSED, Cause.MANAGER)


def test_labels_since_the_last_clear_item_are_the_suspect_ones() -> None:
    """Right up to item 2; what came after it led to the pause."""
    assert follow([True, False, True, True, True, True, *[False] * 7]).last_clear == 5


def test_items_given_up_do_not_count() -> None:
    assert follow([None] * 50).n_items == 0
    assert follow([False, None, False]).statistic == follow([False, False]).statistic


@given(EVENTS)
@settings(max_examples=80, deadline=None)
def test_the_statistic_is_never_below_zero_and_the_state_follows_from_it(
    events: list[bool | Override | None],
) -> None:
    standing: Standing = follow(events)
    rule = Rule()
    assert len(standing.path) == len(events)
    for moment in standing.path:
        assert moment.statistic >= 0.0
        assert moment.statistic < rule.threshold or moment.state is State.PAUSED


@given(EVENTS, st.integers(0, 60))
@settings(max_examples=80, deadline=None)
def test_what_comes_later_never_changes_an_earlier_state(
    events: list[bool | Override | None], cut: int
) -> None:
    assert follow(events).path[:cut] == follow(events[:cut]).path


@pytest.mark.parametrize(("p0", "p1"), [(0.6, 0.8), (1.0, 0.8), (0.8, 0.0)])
def test_a_rule_that_cannot_tell_good_from_bad_is_refused(p0: float, p1: float) -> None:
    with pytest.raises(ValueError, match="0 < p1 < p0 < 1"):
        Rule(p0, p1)


# ── fitting p0 from a calibration round ────────────────────────────────────────


def test_p0_is_fitted_from_trusted_people_and_p1_follows() -> None:
    rule, accuracy = fit_rule([[True] * 16 + [False] * 4] * 4)
    assert (rule.p0, rule.p1) == (pytest.approx(0.8), pytest.approx(0.6))
    assert accuracy.value == 0.8
    assert accuracy.n == 80


def test_where_trusted_people_differ_p0_leaves_room_for_the_lower_ones() -> None:
    alike, unlike = (
        [[True] * 160 + [False] * 40] * 4,
        [[True] * n + [False] * (200 - n) for n in (190, 190, 130, 130)],
    )
    assert fit_rule(unlike)[0].p0 < fit_rule(alike)[0].p0 - 0.05


def test_p0_stays_where_the_rule_makes_sense() -> None:
    assert fit_rule([[True] * 20] * 5)[0].p0 == 0.95
    assert fit_rule([[True, False] * 10] * 5)[0].p0 == 0.70


def test_two_trusted_people_are_too_few_to_fit_a_rule() -> None:
    rule, accuracy = fit_rule([[True] * 20] * 2)
    assert (rule, accuracy.reason) == (Rule(), Reason.NO_GOLD)


# ── habits ─────────────────────────────────────────────────────────────────────


def test_time_is_judged_beside_length_depth_and_person() -> None:
    """Person 1 is twice as fast throughout, which is no outlier; one annotation of ten seconds is."""
    rng = np.random.default_rng(0)
    length, reached, rater = rng.uniform(200, 4000, 400), rng.integers(1, 20, 400), np.arange(400) % 2
    seconds = (
        length**0.7 * (reached + 1.0) ** 0.4 * np.where(rater == 1, 0.5, 1.0) * rng.lognormal(0, 0.2, 400)
    )
    longest = int(length.argmax())
    seconds[longest] = 10.0
    found = pace(seconds, length, reached.astype(float), rater)
    assert found.too_fast[longest]
    assert found.too_fast[rater == 1].mean() < 0.02
    assert found.person[1] / found.person[0] == pytest.approx(0.5, abs=0.05)


def test_times_without_spread_have_a_reason_instead_of_infinity() -> None:
    same = np.full(6, 30.0)
    found = pace(same, same, np.full(6, 2.0), np.zeros(6, dtype=int))
    assert found.reason == Reason.NO_SPREAD
    assert not found.too_fast.any()


def test_a_time_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        pace(np.array([0.0]), np.array([10.0]), np.array([1.0]), np.array([0]))


def test_straight_lining_is_missing_errors_not_repeating_a_label() -> None:
    assert monotony([1] * 40).longest_run == 40
    assert not says_only_correct(errors_caught=9, errors_reached=10)
    assert says_only_correct(errors_caught=0, errors_reached=8)


def test_self_consistency_counts_equal_stops() -> None:
    found = self_consistency(np.array([1, -1, 3, 2]), np.array([1, -1, 2, 2]))
    assert (found.value, found.n) == (0.75, 4)
    assert found.low is not None


def test_nobody_repeated_anything_is_no_overlap() -> None:
    none = np.zeros(0, dtype=int)
    assert self_consistency(none, none).reason == Reason.NO_OVERLAP
