"""How one annotation of a gold solution did."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.core.labels import (
    NO_ERROR,
    FinishReason,
    Mode,
    accept_masks,
    finish_reason,
    from_first_error,
)
from annotator.core.screening import ItemScore, score_item

STEPS = [True] * 4
EITHER = 7  # correct, neutral or incorrect: opinions differ


def score(
    labels: tuple[int | None, ...], accept: tuple[int, ...], mode: Mode = Mode.FIRST_ERROR
) -> ItemScore:
    return score_item(labels, accept, [True] * len(accept), mode, finish_reason(labels, mode))


@given(st.integers(NO_ERROR, 3))
def test_the_gold_labels_themselves_are_right(place: int) -> None:
    labels = from_first_error(place, STEPS)
    found = score(labels, accept_masks(labels))

    assert (found.item_right, found.errors_caught, found.false_alarms) == (True, found.errors_reached, 0)


@given(st.integers(NO_ERROR, 3), st.integers(NO_ERROR, 3))
def test_another_stop_is_wrong_and_is_a_miss_or_a_false_alarm(gold: int, said: int) -> None:
    found = score(from_first_error(said, STEPS), accept_masks(from_first_error(gold, STEPS)))
    misses = found.errors_reached - found.errors_caught

    assert found.item_right is (gold == said)
    assert misses + found.false_alarms == (0 if gold == said else 1)


def test_either_of_two_acceptable_stops_is_right() -> None:
    accept = (6, EITHER, 1, 0)

    assert score((1, -1, None, None), accept).item_right
    assert score((1, 1, -1, None), accept).item_right
    assert not score((1, 1, 1, 1), accept).item_right


def test_a_step_on_which_opinions_differ_is_neither_error_nor_sound() -> None:
    assert score((-1,), (EITHER,)) == ItemScore(True, 0, 0, 0, 0)


def test_what_comes_after_the_gold_error_is_not_scored() -> None:
    assert score((1, 1, -1, None), (6, 1, 6, 6)) == ItemScore(False, 1, 0, 1, 0)


def test_in_all_steps_every_step_is_scored() -> None:
    found = score((1, -1, 1, -1), (6, 1, 1, 6), Mode.ALL_STEPS)

    assert found == ItemScore(False, errors_reached=2, errors_caught=1, sound_reached=2, false_alarms=1)


def test_in_all_steps_an_unscored_step_may_be_anything() -> None:
    assert score((1, -1, 0), (6, 0, 6), Mode.ALL_STEPS).item_right


def test_neutral_is_right_where_correct_is() -> None:
    assert score((0, 0, 1, 1), accept_masks((1, 1, 1, 1))).item_right


@pytest.mark.parametrize("reason", [FinishReason.GIVE_UP, FinishReason.BAD_PROBLEM])
def test_who_gives_up_after_a_miss_still_missed_it(reason: FinishReason) -> None:
    found = score_item((1, 1, None, None), (6, 1, 0, 0), STEPS, Mode.FIRST_ERROR, reason)

    assert found == ItemScore(None, errors_reached=1, errors_caught=0, sound_reached=1, false_alarms=0)
