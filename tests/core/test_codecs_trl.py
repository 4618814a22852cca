"""TRL's stepwise rows: booleans only, and prefixes that end where nothing more may be said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from annotator.core.codecs.base import ExportRow, InvalidRow, LeftOut, ReadOptions
from annotator.core.codecs.policies import (
    AfterFirstErrorPolicy,
    NeutralPolicy,
    NeutralPolicyNeeded,
    Policies,
    PolicyNotSupported,
)
from annotator.core.codecs.rows import ExportTally
from annotator.core.codecs.trl import Trl
from annotator.core.codecs.writing import write_rows
from annotator.core.solutions import ProblemText, SolutionRecord, Step

CODEC = Trl()


def record(labels: Sequence[int | None] | None, mode: str | None = "first_error") -> SolutionRecord:
    steps = tuple(Step(f"s{index}") for index in range(len(labels or [1, 1])))
    return SolutionRecord(
        ProblemText("p"), steps, labels=None if labels is None else tuple(labels), mode=mode
    )


def labels_of(
    labels: Sequence[int | None] | None, mode: str | None = "first_error", **policies: Any
) -> list[bool]:
    (value,) = CODEC.write(ExportRow(record(labels, mode)), Policies(**policies)).objects
    assert len(value["completions"]) == len(value["labels"])
    found: list[bool] = value["labels"]
    return found


# After the first error


def test_by_default_a_row_ends_with_the_first_error() -> None:
    assert labels_of([1, -1, None]) == [True, False]
    assert labels_of([1, -1, 1]) == [True, False]


def test_incorrect_keeps_the_later_steps_and_calls_each_wrong() -> None:
    policy = AfterFirstErrorPolicy.INCORRECT

    assert labels_of([1, -1, None, 1, 0], after_first_error=policy) == [True, False, False, False, False]


def test_all_steps_keeps_the_later_steps_own_labels() -> None:
    assert labels_of([1, -1, 1], mode="all_steps") == [True, False, True]


def test_a_policy_that_was_chosen_holds_in_all_steps_too() -> None:
    policy = AfterFirstErrorPolicy.TRUNCATE

    assert labels_of([1, -1, 1], mode="all_steps", after_first_error=policy) == [True, False]


def test_masks_are_refused_before_anything_is_written() -> None:
    policies = Policies(after_first_error=AfterFirstErrorPolicy.MASK)

    with pytest.raises(
        PolicyNotSupported, match=r"trl can't do after-first-error 'mask'.*incorrect, truncate"
    ):
        write_rows([], CODEC, policies, ExportTally())


# Steps without a label


def test_a_row_ends_before_the_first_unjudged_step() -> None:
    assert labels_of([1, None, 1]) == [True]


@pytest.mark.parametrize(
    ("labels", "reason"),
    [(None, "no labels"), ([None, None], "no labels"), ([None, 1], "no labelled step is left")],
)
def test_a_row_without_a_labelled_step_is_left_out(labels: list[int | None] | None, reason: str) -> None:
    with pytest.raises(LeftOut) as caught:
        labels_of(labels)
    assert caught.value.reason == reason


# Neutral steps


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (NeutralPolicy.CORRECT, [True, True, True, False]),
        (NeutralPolicy.INCORRECT, [True, False, True, False]),
        (NeutralPolicy.DROP, [True]),
    ],
)
def test_neutral_policies(policy: NeutralPolicy, expected: list[bool]) -> None:
    assert labels_of([1, 0, 1, -1], neutral=policy) == expected


def test_a_neutral_step_without_a_policy_is_an_error_that_names_the_choices() -> None:
    with pytest.raises(NeutralPolicyNeeded, match="correct, incorrect, drop"):
        labels_of([1, 0])


def test_a_neutral_step_that_is_not_written_needs_no_policy() -> None:
    assert labels_of([1, -1, 0]) == [True, False]


def test_drop_leaves_a_row_out_when_nothing_precedes_the_neutral_step() -> None:
    with pytest.raises(LeftOut, match="no labelled step is left"):
        labels_of([0, 1], neutral=NeutralPolicy.DROP)


# Context


def test_context_is_joined_to_the_next_judged_step_and_lost_at_the_end() -> None:
    steps = (
        Step("ask", "user", judged=False),
        Step("act", "action", sep="\n"),
        Step("seen", "observation", judged=False, sep=" "),
        Step("think"),
        Step("more", "observation", judged=False),
        Step("end", "tool", judged=False),
    )
    source = SolutionRecord(ProblemText("p"), steps, labels=(None, 1, None, -1, None, None))

    result = CODEC.write(ExportRow(source), Policies())

    assert result.objects[0]["completions"] == ["ask\n\nact", "seen think"]
    assert result.objects[0]["labels"] == [True, False]
    assert result.lost == {"context after the last judged step": 2}


# Whole exports


def test_an_export_counts_what_it_wrote_and_left_out_by_reason() -> None:
    rows = [ExportRow(record(labels)) for labels in ([1, -1], None, [None, 1], [1], None)]
    tally = ExportTally()

    lines = list(write_rows(rows, CODEC, Policies(), tally))

    assert [orjson.loads(line)["labels"] for line in lines] == [[True, False], [True]]
    assert tally.written == 2
    assert tally.left_out == {"no labels": 2, "no labelled step is left": 1}


def test_a_line_has_the_columns_in_order_and_ends_with_a_newline() -> None:
    (line,) = write_rows([ExportRow(record([1, -1]))], CODEC, Policies(), ExportTally())

    assert line == b'{"prompt":"p","completions":["s0","s1"],"labels":[true,false]}\n'


# Reading


def test_true_is_correct_and_false_is_incorrect() -> None:
    (found,) = CODEC.read(CODEC.sample, ReadOptions())

    assert found.labels == (1, -1)
    assert found.first_error == 1


def test_labels_after_an_error_come_back_as_they_were() -> None:
    value = {**CODEC.sample, "completions": ["a", "b", "c"], "labels": [True, False, True]}

    (found,) = CODEC.read(value, ReadOptions())

    assert found.mode == "all_steps"
    assert CODEC.write(ExportRow(found), Policies()).objects == (value,)


@pytest.mark.parametrize("labels", [[True], [True, None], [True, 1], [True, 0.7], "++", None])
def test_labels_must_be_one_boolean_a_completion(labels: object) -> None:
    with pytest.raises(InvalidRow) as caught:
        CODEC.read({**CODEC.sample, "labels": labels}, ReadOptions())
    assert caught.value.field == "labels"
