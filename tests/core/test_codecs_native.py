"""The native format: nothing is lost, and what contradicts itself is refused."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.core.codecs.base import (
    Consensus,
    ExportRow,
    ExportScore,
    ImportRow,
    InvalidRow,
    ReadOptions,
    RowError,
    Selection,
)
from annotator.core.codecs.native import EXPORT_ONLY, Native
from annotator.core.codecs.policies import Policies
from annotator.core.codecs.rows import ExportTally, read_rows
from annotator.core.codecs.writing import write_rows
from annotator.core.labels import stop
from annotator.core.solutions import (
    CONTEXT_KINDS,
    JUDGED_KINDS,
    ImportedAnnotation,
    ProblemText,
    SolutionRecord,
    Step,
    judged_mask,
)

CODEC = Native()


def read(rule: str = "auto", **row: Any) -> SolutionRecord:
    """A row with a problem and two steps, and what the test adds to it."""
    value = {"problem": {"text": "p"}, "steps": ["a", "b"], **row}
    (record,) = CODEC.read(value, ReadOptions(segment_rule=rule))
    return record


def refused(field: str, **row: Any) -> str:
    with pytest.raises(InvalidRow) as caught:
        read(**row)
    assert caught.value.field == field
    return caught.value.message


def through_a_file(record: SolutionRecord) -> SolutionRecord:
    lines = b"".join(write_rows([ExportRow(record)], CODEC, Policies(), ExportTally()))
    (entry,) = read_rows(io.BytesIO(lines), CODEC)
    assert isinstance(entry, ImportRow), entry
    return entry.record


# Round trips

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
filled = texts.filter(str.strip)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def step_values(draw: st.DrawFn) -> Step:
    kind = draw(st.sampled_from(sorted(JUDGED_KINDS | CONTEXT_KINDS)))
    judged = kind in JUDGED_KINDS and draw(st.booleans())
    return Step(draw(filled), kind, judged, draw(texts), tuple(draw(st.lists(values, max_size=2))))


@st.composite
def records(draw: st.DrawFn) -> SolutionRecord:
    steps = tuple(draw(st.lists(step_values(), min_size=1, max_size=5)))
    judged = judged_mask(steps)

    def labels() -> tuple[int | None, ...]:
        return tuple(draw(st.sampled_from([-1, 0, 1, None])) if takes else None for takes in judged)

    known = labels() if draw(st.booleans()) else None
    masks = tuple(draw(st.integers(0, 7)) if takes else 0 for takes in judged)
    annotation = ImportedAnnotation(
        annotator=draw(filled),
        labels=labels(),
        finish_reason=draw(st.sampled_from(["found_error", "solution", "give_up", "bad_problem"])),
        details=draw(st.dictionaries(texts, values, max_size=2)),
        active_seconds=draw(st.none() | st.floats(0, 1e6)),
        submitted_at=draw(st.none() | st.datetimes().map(lambda moment: moment.isoformat())),
        counted=draw(st.booleans()),
        guidelines=draw(st.none() | st.integers(0, 99)),
    )
    return SolutionRecord(
        problem=ProblemText(draw(filled), draw(texts), draw(st.none() | texts), draw(st.none() | texts)),
        steps=steps,
        external_id=draw(texts),
        generator=draw(st.dictionaries(texts, values, max_size=2)),
        final_answer=draw(st.none() | texts),
        answer_correct=draw(st.none() | st.booleans()),
        labels=known,
        first_error=None if known is None else stop(known, judged),
        accept=masks if draw(st.booleans()) else None,
        mode=draw(st.sampled_from([None, "first_error", "all_steps"])),
        annotations=(annotation,) if draw(st.booleans()) else (),
        meta=draw(st.dictionaries(texts.filter(lambda key: key != "flags"), values, max_size=2)),
    )


@given(records())
def test_a_record_comes_back_from_a_file_as_it_was(record: SolutionRecord) -> None:
    assert through_a_file(record) == record


def test_a_row_has_every_field_in_the_documented_order() -> None:
    (value,) = CODEC.write(ExportRow(read()), Policies()).objects

    assert list(value) == list(CODEC.sample)


def test_what_only_an_export_knows_is_written() -> None:
    row = ExportRow(
        read(labels=[1, -1]),
        label_source="consensus",
        consensus=Consensus("plurality", [0.1, 0.9]),
        scores=(ExportScore("builtin", "3", "correctness", (0.9, 0.2), (0.1, 0.1)),),
        selection=Selection("audit", rank=4, pool=100),
        flags=("unsure",),
        split="holdout",
        weight=1.0,
    )

    (value,) = CODEC.write(row, Policies()).objects

    assert value["label_source"] == "consensus"
    assert value["consensus"] == {"method": "plurality", "posterior": [0.1, 0.9]}
    assert value["scores"][0]["values"] == [0.9, 0.2]
    assert value["selection"] == {
        "route": "audit",
        "strategy": None,
        "score": None,
        "scorer_version": None,
        "rank": 4,
        "pool": 100,
        "round": None,
    }
    assert (value["flags"], value["split"], value["weight"]) == (["unsure"], "holdout", 1.0)


def test_what_only_an_export_knows_is_ignored_by_an_import() -> None:
    assert read(**dict.fromkeys(EXPORT_ONLY, "anything")) == read()


def test_flags_are_kept_and_written_again() -> None:
    record = read(flags=["unsure"])

    (value,) = CODEC.write(ExportRow(record), Policies()).objects

    assert value["flags"] == ["unsure"]
    assert through_a_file(record) == record


# What is enough, and what is kept


def test_a_problem_and_steps_are_enough() -> None:
    record = read()

    assert [step.text for step in record.steps] == ["a", "b"]
    assert (record.labels, record.first_error, record.generator) == (None, None, {})


def test_a_solution_text_is_segmented_by_the_rule() -> None:
    record = read("line", steps=None, solution="one\n\ntwo\nthree")

    assert record.steps == (Step("one", sep="\n\n"), Step("two", sep="\n"), Step("three"))


def test_a_list_of_steps_is_never_cut_again() -> None:
    assert len(read("line", steps=["one\ntwo"]).steps) == 1


def test_a_generator_may_be_a_name() -> None:
    assert read(generator="a-model").generator == {"model": "a-model"}


def test_a_problem_is_the_line_before_s_only_where_nothing_differs() -> None:
    read(problem={"text": "p", "id": 1, "answer": "2"})

    assert read(problem={"text": "p", "id": "1", "answer": "3"}).problem.answer == "3"
    assert read(problem={"text": "p", "id": "1", "answer": "3", "level": 5}).meta == {"problem.level": 5}
    refused("problem.id", problem={"text": "p", "id": True, "answer": "2"})


def test_context_kinds_are_not_judged_unless_said() -> None:
    record = read(steps=[{"text": "a", "kind": "tool"}, {"text": "b", "judged": False}, {"text": "c"}])

    assert judged_mask(record.steps) == (False, False, True)


def test_unknown_fields_are_kept_under_meta() -> None:
    record = read(
        problem={"text": "p", "licence": ["CC0"]},
        steps=["a", {"text": "b", "tokens": 7}],
        source="web",
        meta={"batch": 3},
    )

    assert record.meta == {
        "batch": 3,
        "source": "web",
        "problem.licence": ["CC0"],
        "steps.tokens": {"1": 7},
    }


def test_an_unknown_field_that_meta_has_too_is_refused_rather_than_lost() -> None:
    assert "one place" in refused("source", source="web", meta={"source": "book"})


# Labels


def test_labels_are_derived_from_the_first_error() -> None:
    record = read(steps=["a", {"text": "b", "kind": "tool"}, "c", "d"], first_error=2)

    assert record.labels == (1, None, -1, None)


def test_the_first_error_is_derived_from_labels() -> None:
    assert read(labels=[1, -1]).first_error == 1
    assert read(labels=[1, 0]).first_error == -1
    assert read(labels=[None, -1]).first_error is None


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1], "expected 2 labels, one for each step, got 1"),
        ([1, 2], "step 2: a label is -1, 0, 1 or null, got 2"),
        ([1, True], "step 2: expected -1, 0, 1 or null; got true"),
        ([1, 1.0], "step 2: expected -1, 0, 1 or null; got 1.0"),
        ("+-", "expected a list"),
    ],
)
def test_bad_labels_are_refused(labels: object, message: str) -> None:
    assert message in refused("labels", labels=labels)


def test_a_label_on_context_is_refused() -> None:
    steps = ["a", {"text": "b", "kind": "observation"}]

    assert "step 2 is context" in refused("labels", steps=steps, labels=[1, 1])


@pytest.mark.parametrize("first_error", [2, -2, 1.0, True, "0"])
def test_a_first_error_that_is_no_place_is_refused(first_error: object) -> None:
    refused("first_error", first_error=first_error)


def test_a_first_error_on_context_is_refused() -> None:
    refused("first_error", steps=["a", {"text": "b", "kind": "tool"}], first_error=1)


@pytest.mark.parametrize(
    ("labels", "first_error"), [([1, -1], -1), ([1, -1], 0), ([-1, -1], 1), ([1, 1], 1), ([None, 1], 1)]
)
def test_a_first_error_that_contradicts_the_labels_is_refused(
    labels: list[int | None], first_error: int
) -> None:
    assert "agree with labels" in refused("first_error", labels=labels, first_error=first_error)


@pytest.mark.parametrize(
    ("labels", "first_error"),
    [([1, -1], 1), ([None, -1], 0), ([None, None], 1), ([1, None], -1), ([None, -1], 1)],
)
def test_a_first_error_may_tell_what_the_labels_leave_open(
    labels: list[int | None], first_error: int
) -> None:
    assert read(labels=labels, first_error=first_error).first_error == first_error


@pytest.mark.parametrize("accept", [[6], [6, 8], [6, -1], [6, True], [6, None], 6, None])
def test_bad_gold_masks_are_refused(accept: object) -> None:
    refused("gold.accept", gold={"accept": accept})


def test_a_gold_mask_on_context_is_refused() -> None:
    refused("gold.accept", steps=["a", {"text": "b", "kind": "tool"}], gold={"accept": [6, 1]})


# Annotations


def test_a_finish_reason_is_implied_by_the_labels() -> None:
    record = read(
        annotations=[{"annotator": "x", "labels": [-1, None]}, {"annotator": "y", "labels": [1, 1]}]
    )

    assert [entry.finish_reason for entry in record.annotations] == ["found_error", "solution"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"annotator": " "}, "annotator"),
        ({"labels": None}, "labels"),
        ({"labels": [1]}, "labels"),
        ({"finish_reason": "tired"}, "finish_reason"),
        ({"active_seconds": -1}, "active_seconds"),
        ({"submitted_at": "yesterday"}, "submitted_at"),
        ({"counted": 1}, "counted"),
        ({"details": []}, "details"),
        ({"guidelines": "2"}, "guidelines"),
    ],
)
def test_a_bad_annotation_is_refused_by_its_place(changes: dict[str, Any], field: str) -> None:
    good = {"annotator": "x", "labels": [1, 1]}

    refused(f"annotations[1].{field}", annotations=[good, {**good, **changes}])


# The rest of a row


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("one text", 'goes under "solution"'),
        ([], "at least one step; got an empty list"),
        (["a", ""], 'step 2: expected a "text" that is not blank; got a blank text'),
        ([{"kind": "tool"}], 'step 1: expected a "text" that is not blank; got null'),
        ([3], "step 1: expected a text or an object; got 3"),
        ([{"text": "a", "kind": "poem"}], "step 1: expected a kind of action, code"),
        ([{"text": "a", "kind": "tool", "judged": True}], "step 1: a step of kind tool is context"),
        ([{"text": "a", "judged": 1}], 'step 1: expected "judged" to be true or false'),
        ([{"text": "a", "sep": 1}], 'step 1: expected "sep" to be a text'),
        ([{"text": "a", "alternatives": {}}], 'step 1: expected "alternatives" to be a list'),
    ],
)
def test_bad_steps_are_refused(steps: object, message: str) -> None:
    assert message in refused("steps", steps=steps)


def test_missing_steps_are_refused() -> None:
    with pytest.raises(InvalidRow, match=r'expected "steps", or "solution"'):
        CODEC.read({"problem": {"text": "p"}}, ReadOptions())


def test_steps_and_a_solution_together_are_refused() -> None:
    assert "got both" in refused("solution", solution="a b")


def test_a_blank_solution_is_refused() -> None:
    refused("solution", steps=None, solution=" \n")


def test_a_solution_can_not_be_taken_as_pre_segmented() -> None:
    with pytest.raises(InvalidRow, match="'pre' takes a list"):
        read("pre", steps=None, solution="a b")


@pytest.mark.parametrize(
    ("field", "row"),
    [
        ("problem", {"problem": "p"}),
        ("problem.text", {"problem": {}}),
        ("problem.text", {"problem": {"text": " "}}),
        ("problem.text", {"problem": {"text": "p" * 200_001}}),
        ("problem.domain", {"problem": {"text": "p", "domain": "d" * 101}}),
        ("generator", {"generator": 3}),
        ("mode", {"mode": "some_steps"}),
        ("answer_correct", {"answer_correct": "yes"}),
        ("final_answer", {"final_answer": 3}),
        ("meta", {"meta": []}),
        ("flags", {"flags": "unsure"}),
        ("id", {"id": "i" * 256}),
    ],
)
def test_a_bad_value_is_refused_by_its_field(field: str, row: dict[str, Any]) -> None:
    refused(field, **row)


def test_a_broken_line_in_a_file_is_named_by_line_and_field() -> None:
    good = orjson.dumps({"problem": {"text": "p"}, "steps": ["a"]})
    bad = orjson.dumps({"problem": {"text": ""}, "steps": ["a"]})

    entries = list(read_rows(io.BytesIO(b"\n".join([good, bad, good])), CODEC))

    assert entries[1] == RowError(2, "problem.text", "expected a text that is not blank; got a blank text")
    assert [entry.line for entry in entries if isinstance(entry, ImportRow)] == [1, 3]
