"""Merging, splitting and cutting anew: the text stays to the letter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.core.labels import Mode
from annotator.core.segmentation import changes
from annotator.core.segmentation.changes import CannotChange
from annotator.core.solutions import Step, full_text

texts = st.text(alphabet="ab .\n$1", min_size=1, max_size=12).filter(lambda text: text.strip() != "")
steps = st.lists(st.builds(Step, texts, sep=st.sampled_from(["", " ", "\n\n"])), min_size=1, max_size=6)


@given(steps, st.integers(0, 5), st.integers(0, 12))
def test_a_split_keeps_the_text(before: list[Step], index: int, at: int) -> None:
    try:
        after = changes.split(before, index, at)
    except CannotChange:
        return
    assert full_text(after) == full_text(before)
    assert len(after) == len(before) + 1


@given(steps, st.integers(0, 5))
def test_a_merge_keeps_the_text(before: list[Step], index: int) -> None:
    try:
        after = changes.merged(before, index)
    except CannotChange:
        return
    assert full_text(after) == full_text(before)
    assert len(after) == len(before) - 1


@given(steps, st.sampled_from(["auto", "line", "blank_line", "sentence", "step_k", "numbered"]))
def test_a_rule_keeps_the_text_and_makes_no_blank_step(before: list[Step], rule: str) -> None:
    after = changes.cut_anew(before, rule)
    assert full_text(after) == full_text(before)
    assert all(step.text.strip() for step in after)


@given(steps, st.sampled_from(["line", "sentence"]))
def test_a_rule_changes_nothing_the_second_time(before: list[Step], rule: str) -> None:
    once = changes.cut_anew(before, rule)
    assert changes.cut_anew(once, rule) == once


def test_a_rule_leaves_context_and_messages_as_they_are() -> None:
    before = [
        Step("One. Two.", sep=" "),
        Step("Seen. Done.", "observation", judged=False),
        Step("A. B.", "action"),
    ]
    after = changes.cut_anew(before, "sentence")
    assert [step.text for step in after] == ["One.", "Two.", "Seen. Done.", "A. B."]


def test_a_judged_step_and_context_are_not_merged() -> None:
    with pytest.raises(CannotChange, match="step 2 is observation"):
        changes.merged([Step("a"), Step("b", "observation", judged=False)], 0)


def test_nothing_is_cut_inside_a_formula() -> None:
    assert changes.places_to_split("Let $a = 1. B = 2$ hold. So be it.") == [25]


def test_places_to_cut_lie_between_formulas_and_within_the_text() -> None:
    text = " One. $a. B$ is it. $c. D$ too.\n\nEnd. "
    assert [text[at:].split()[0] for at in changes.places_to_split(text)] == ["$a.", "$c.", "End."]


def test_the_unchanged_part_ends_where_a_separator_differs() -> None:
    before = [Step("a", sep=" "), Step("b"), Step("c")]
    assert changes.unchanged(before, [Step("a", sep="\n"), Step("b"), Step("c")]) == 1


def test_labels_are_complete_where_the_stop_lies_in_what_is_unchanged() -> None:
    after = [Step(text) for text in "abcd"]
    assert changes.is_complete(changes.carried([1, -1, None], after, 2), after, Mode.FIRST_ERROR)
    assert not changes.is_complete(changes.carried([1, 1, -1], after, 2), after, Mode.FIRST_ERROR)
    assert not changes.is_complete(changes.carried([1, -1, 1], after, 2), after, Mode.ALL_STEPS)


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ([Step("ab")], "the text would not be the same"),
        ([Step("a", sep=" "), Step("b")], "nothing would change"),
        ([Step("a "), Step("b"), Step("")], "a step would be blank"),
    ],
)
def test_what_loses_text_or_changes_nothing_is_refused(after: list[Step], why: str) -> None:
    with pytest.raises(CannotChange, match=why):
        changes.check_same_text([Step("a", sep=" "), Step("b")], after)
