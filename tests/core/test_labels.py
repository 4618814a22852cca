"""What a label means, and when labels are complete."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.core import labels as rules
from annotator.core.labels import CENSORED, NO_ERROR, FinishReason, InvalidLabels, Label, Mode

LABELS = [-1, 0, 1, None]


@st.composite
def labelled(draw: st.DrawFn) -> tuple[list[int | None], list[bool]]:
    """Labels in any order, and which steps take one; context has none."""
    judged = draw(st.lists(st.booleans(), min_size=1, max_size=12))
    return [draw(st.sampled_from(LABELS)) if takes else None for takes in judged], judged


@st.composite
def places(draw: st.DrawFn) -> tuple[int, list[bool]]:
    """A first error that can be: -1 or a judged step."""
    judged = draw(st.lists(st.booleans(), min_size=1, max_size=12))
    return draw(st.sampled_from([NO_ERROR, *(i for i, takes in enumerate(judged) if takes)])), judged


def complete(labels: Sequence[int | None], judged: Sequence[bool], mode: Mode, reason: FinishReason) -> bool:
    try:
        rules.check(labels, judged, mode, reason)
    except InvalidLabels:
        return False
    return True


@given(places())
def test_the_stop_of_labels_made_from_a_first_error_is_that_error(case: tuple[int, list[bool]]) -> None:
    first_error, judged = case

    assert rules.stop(rules.from_first_error(first_error, judged), judged) == first_error


@given(places())
def test_labels_made_from_a_first_error_are_complete(case: tuple[int, list[bool]]) -> None:
    first_error, judged = case
    labels = rules.from_first_error(first_error, judged)

    assert complete(labels, judged, Mode.FIRST_ERROR, rules.finish_reason(labels, Mode.FIRST_ERROR))


@given(labelled(), st.sampled_from(Mode))
def test_at_most_one_uncensored_reason_fits_any_labels(
    case: tuple[list[int | None], list[bool]], mode: Mode
) -> None:
    fitting = [each for each in FinishReason if each not in CENSORED and complete(*case, mode, each)]

    assert fitting in ([], [rules.finish_reason(case[0], mode)])


@given(labelled(), st.sampled_from(Mode))
def test_complete_labels_have_a_known_stop(case: tuple[list[int | None], list[bool]], mode: Mode) -> None:
    if complete(*case, mode, rules.finish_reason(case[0], mode)):
        assert rules.stop(*case) is not None


@given(labelled(), st.sampled_from(Mode))
def test_filling_what_is_missing_makes_labels_complete(
    case: tuple[list[int | None], list[bool]], mode: Mode
) -> None:
    labels, judged = list(case[0]), case[1]
    for index in rules.missing(labels, judged, mode):
        labels[index] = 1
    if mode is Mode.FIRST_ERROR and -1 in labels:
        labels[labels.index(-1) + 1 :] = [None] * (len(labels) - labels.index(-1) - 1)

    assert complete(labels, judged, mode, rules.finish_reason(labels, mode))


@given(labelled())
def test_any_labels_may_be_given_up_on_unless_they_go_on_after_the_error(
    case: tuple[list[int | None], list[bool]],
) -> None:
    labels, _ = case
    goes_on = -1 in labels and any(label is not None for label in labels[labels.index(-1) + 1 :])

    assert complete(*case, Mode.ALL_STEPS, FinishReason.GIVE_UP)
    assert complete(*case, Mode.FIRST_ERROR, FinishReason.GIVE_UP) is not goes_on


@given(labelled())
def test_the_stop_is_an_acceptable_stop_of_the_masks_made_from_the_same_labels(
    case: tuple[list[int | None], list[bool]],
) -> None:
    stop = rules.stop(*case)
    if stop is not None:
        assert stop in rules.acceptable_stops(rules.accept_masks(case[0]))


def test_masks_made_from_labels_allow_one_stop() -> None:
    assert rules.acceptable_stops(rules.accept_masks([1, 0, -1, None])) == {2}


def test_an_unscored_step_is_no_place_to_stop() -> None:
    assert rules.acceptable_stops([0, 6, 0]) == {NO_ERROR}


@pytest.mark.parametrize("label", [2, -2, 0.5, "1", True, False, [1]])
def test_nothing_else_is_a_label(label: object) -> None:
    with pytest.raises(InvalidLabels, match="step 1"):
        rules.check_shape([label], [True])  # type: ignore[list-item]


def test_context_takes_no_label() -> None:
    with pytest.raises(InvalidLabels, match="step 2 is context") as invalid:
        rules.check_shape([1, 1], [True, False])

    assert invalid.value.step == 1


@pytest.mark.parametrize("first_error", [-2, 1, 3])
def test_a_first_error_is_a_judged_step(first_error: int) -> None:
    with pytest.raises(InvalidLabels):
        rules.from_first_error(first_error, [True, False, True])


def test_a_label_is_its_number() -> None:
    rules.check_shape([Label.CORRECT, Label.NEUTRAL, Label.INCORRECT], [True] * 3)
