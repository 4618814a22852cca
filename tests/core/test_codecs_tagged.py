"""Formats with a tag after each step (Math-Shepherd, OpenR, OpenRLHF): spellings, stray tags, steps without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from annotator.core.codecs import CODECS
from annotator.core.codecs.base import ExportRow, InvalidRow, LeftOut, ReadOptions
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, Policies
from annotator.core.solutions import ProblemText, SolutionRecord, Step

Q = "How much is it?"


def read(name: str, value: dict[str, Any]) -> SolutionRecord:
    (record,) = CODECS[name].read(value, ReadOptions())
    return record


def shepherd(text: str, label: str) -> SolutionRecord:
    return read("math_shepherd", {"input": text, "label": label, "task": "GSM8K"})


def record(labels: Sequence[int | None], problem: str = Q, texts: Sequence[str] = ()) -> SolutionRecord:
    steps = tuple(Step(text) for text in texts or [f"s{index}" for index in range(1, len(labels) + 1)])
    return SolutionRecord(ProblemText(problem), steps, labels=tuple(labels), mode="first_error")


def written(name: str, source: SolutionRecord, **policies: Any) -> dict[str, Any]:
    (value,) = CODECS[name].write(ExportRow(source), Policies(**policies)).objects
    return value


# Math-Shepherd: reading


def test_the_problem_ends_where_step_1_begins_and_signs_are_labels() -> None:
    found = shepherd(f"{Q} Step 1: a ки\nStep 2: b ки", f"{Q} Step 1: a +\nStep 2: b -")

    assert found.problem.text == Q
    assert [step.text for step in found.steps] == ["Step 1: a", "Step 2: b"]
    assert (found.labels, found.first_error) == ((1, -1), 1)
    assert found.meta == {"task": "GSM8K"}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (f"{Q} Step 1: a ки\nStep 2: b ки", f"{Q} Step 1: a ки +\nStep 2: b ки -"),
        (f"{Q} Step 1: a ки +\nStep 2: b ки -", f"{Q} Step 1: a ки +\nStep 2: b ки -"),
        (f"{Q} Step 1: a ки +\nStep 2: b ки -", f"{Q} Step 1: a +\nStep 2: b -"),
    ],
)
def test_the_old_spelling_with_tag_and_sign_means_the_same(text: str, label: str) -> None:
    found = shepherd(text, label)

    assert [step.text for step in found.steps] == ["Step 1: a", "Step 2: b"]
    assert found.labels == (1, -1)


def test_a_stray_tag_inside_the_problem_is_passed_over_with_its_label_and_counted() -> None:
    found = shepherd(
        "How ки much is it? Step 1: a ки\nStep 2: b ки", "How - much is it? Step 1: a +\nStep 2: b -"
    )

    assert found.problem.text == "How  much is it?"
    assert found.labels == (1, -1)
    assert found.meta["stray_tags"] == 1


def test_a_stray_tag_after_a_tag_is_passed_over_with_its_label_and_counted() -> None:
    found = shepherd(f"{Q} Step 1: a ки ки\nStep 2: b ки", f"{Q} Step 1: a + -\nStep 2: b +")

    assert (len(found.steps), found.labels, found.meta["stray_tags"]) == (2, (1, 1), 1)


def test_a_step_without_a_tag_is_not_judged() -> None:
    found = shepherd(f"{Q} Step 1: a\nStep 2: b ки\nStep 3: c", f"{Q} Step 1: a\nStep 2: b +\nStep 3: c")

    assert [step.text for step in found.steps] == ["Step 1: a", "Step 2: b", "Step 3: c"]
    assert (found.labels, found.first_error) == ((None, 1, None), None)


def test_the_tag_inside_a_word_is_no_tag() -> None:
    found = shepherd("Сколько? Step 1: руки ки", "Сколько? Step 1: руки +")

    assert [step.text for step in found.steps] == ["Step 1: руки"]


@pytest.mark.parametrize(
    ("text", "label", "field", "message"),
    [
        (f"{Q} Step 1: a ки", f"{Q} Step 1: a ?", "label", "tag 1: expected + or - where input has ки"),
        (f"{Q} Step 1: a ки", f"{Q} Step 1: b +", "label", "the text of input before the first ки"),
        (f"{Q} Step 1: a ки\nb ки", f"{Q} Step 1: a +\nc +", "label", "the text of input after tag 1"),
        (f"{Q} Step 1: a ки", f"{Q} Step 1: a + more", "label", "expected it to end where input ends"),
        (f"{Q} Step 1: a ки +", f"{Q} Step 1: a -", "label", "the signs that stand after the tags"),
        (f"{Q} Step 1: a", f"{Q} Step 1: a", "input", "expected a ки after each step; there is none"),
        (f"{Q} a ки", f"{Q} a +", "input", 'expected "Step 1:" where the steps begin'),
        ("Step 1: a ки", "Step 1: a +", "input", 'expected the problem before "Step 1:"'),
    ],
)
def test_a_label_that_is_not_the_same_text_is_refused(
    text: str, label: str, field: str, message: str
) -> None:
    with pytest.raises(InvalidRow) as caught:
        shepherd(text, label)
    assert caught.value.field == field
    assert message in caught.value.message


# Math-Shepherd and OpenRLHF: writing, with masks


def test_steps_are_numbered_where_they_are_not() -> None:
    value = written("math_shepherd", record([1, 1], texts=["Step 1: a", "b"]))

    assert value["input"] == f"{Q} Step 1: a ки\nStep 2: b ки"
    assert value["label"] == f"{Q} Step 1: a +\nStep 2: b +"


@pytest.mark.parametrize(
    ("labels", "policies", "expected"),
    [
        ([1, -1, None], {}, "+-"),
        ([1, -1, None], {"after_first_error": AfterFirstErrorPolicy.MASK}, "+-."),
        ([1, -1, None], {"after_first_error": AfterFirstErrorPolicy.INCORRECT}, "+--"),
        ([1, None, 1], {}, "+.+"),
        ([1, 0, 1], {"neutral": NeutralPolicy.CORRECT}, "+++"),
        ([1, 0, 1], {"neutral": NeutralPolicy.INCORRECT}, "+-+"),
        ([1, 0, 1], {"neutral": NeutralPolicy.DROP}, "+.+"),
    ],
)
def test_policies_are_carried_out_with_masks(
    labels: list[int | None], policies: dict[str, Any], expected: str
) -> None:
    found = written("math_shepherd", record(labels), **policies)
    value = written("openrlhf", record(labels), **policies)

    steps = [
        f"Step {k}: s{k}" + {"+": " +", "-": " -", ".": ""}[sign] for k, sign in enumerate(expected, start=1)
    ]
    assert found["label"] == f"{Q} " + "\n".join(steps)
    assert value["input"] == found["input"]
    assert value["value"] == list(expected.replace(".", ""))


@pytest.mark.parametrize("name", ["math_shepherd", "openrlhf", "openr"])
def test_a_text_with_the_tag_in_it_is_left_out_even_inside_a_word(name: str) -> None:
    with pytest.raises(LeftOut, match="the format's tag"):
        written(name, record([1], texts=["руки"]))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (record([1], problem="Step 1: is it?"), 'the problem\'s text says "Step 1:"'),
        (record([1], texts=["a\nStep 7: b"]), 'a line inside a step begins with "Step k:"'),
        (record([None]), "no labels"),
        (record([0]), "no labelled step is left"),
    ],
)
def test_what_could_not_be_read_back_is_left_out(source: SolutionRecord, reason: str) -> None:
    with pytest.raises(LeftOut, match=reason):
        written("math_shepherd", source, neutral=NeutralPolicy.DROP)


# OpenRLHF: reading


@pytest.mark.parametrize("value", [["+", "-"], [1, 0], [1, -1], [1.0, 0.0]])
def test_signs_and_numbers_are_labels(value: list[object]) -> None:
    assert read("openrlhf", {"input": f"{Q} Step 1: a ки\nStep 2: b ки", "value": value}).labels == (1, -1)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1, 0.75], "label 2: expected +, -, 1, 0 or -1; got 0.75"),
        ([True, False], "label 1: expected +, -, 1, 0 or -1; got true"),
        ([1], "expected a list of 2, one label for each ки; got a list of 1"),
        ("+-", "expected a list of 2"),
    ],
)
def test_a_soft_label_or_one_too_few_is_refused(value: object, message: str) -> None:
    with pytest.raises(InvalidRow) as caught:
        read("openrlhf", {"input": f"{Q} Step 1: a ки\nStep 2: b ки", "value": value})
    assert caught.value.field == "value"
    assert message in caught.value.message


# OpenR


@pytest.mark.parametrize("key", ["label", "labels"])
@pytest.mark.parametrize("labels", [[1, 0], ["+", "-"]])
def test_both_spellings_of_the_field_are_read(key: str, labels: list[object]) -> None:
    found = read("openr", {"question": Q, "process": "a ки\nb ки", key: labels})

    assert ([step.text for step in found.steps], found.labels) == (["a", "b"], (1, -1))


def test_the_two_spellings_may_not_differ() -> None:
    with pytest.raises(InvalidRow, match="the same as label"):
        read("openr", {"question": Q, "process": "a ки", "label": [1], "labels": [0]})


def test_openr_rows_end_before_the_first_step_without_a_label() -> None:
    assert written("openr", record([1, None, 1])) == {"question": Q, "process": "s1 ки", "label": [1]}


# Which of them it is


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"input": "", "label": ""}, "math_shepherd"),
        ({"input": "", "label": "", "value": []}, "openrlhf"),
        ({"input": "", "value": []}, "openrlhf"),
        ({"question": "", "process": "", "labels": []}, "openr"),
    ],
)
def test_each_is_told_by_its_own_fields(row: dict[str, Any], name: str) -> None:
    assert [codec.name for codec in CODECS.values() if codec.sniff(row)] == [name]
