"""ProcessBench: real files in both directions, and rows that are broken in every way."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import orjson
import pytest

from annotator.core.codecs.base import ExportRow, ImportRow, InvalidRow, LeftOut, ReadOptions, RowError
from annotator.core.codecs.policies import Policies
from annotator.core.codecs.processbench import ProcessBench
from annotator.core.codecs.rows import ExportTally, read_rows
from annotator.core.codecs.writing import write_rows
from annotator.core.solutions import ProblemText, SolutionRecord, Step

CODEC = ProcessBench()


def row(**changes: Any) -> dict[str, Any]:
    return {**CODEC.sample, **changes}


def read(value: dict[str, Any]) -> SolutionRecord:
    (record,) = CODEC.read(value, ReadOptions())
    return record


def written(record: SolutionRecord) -> dict[str, Any]:
    (value,) = CODEC.write(ExportRow(record), Policies()).objects
    return value


def test_labels_say_no_more_than_where_the_first_error_is() -> None:
    assert read(row(label=1)).labels == (1, -1, None)
    assert read(row(label=-1)).labels == (1, 1, 1)


def test_fields_the_format_does_not_know_are_kept_under_meta() -> None:
    assert read(row(subset="math")).meta == {"subset": "math"}


@pytest.mark.parametrize("label", [-2, 3, True, 1.0, "1", None, 10**30])
def test_a_label_out_of_range_is_an_error_of_label(label: object) -> None:
    with pytest.raises(InvalidRow, match="expected an integer from -1 to 2, for 3 steps") as caught:
        read(row(label=label))
    assert caught.value.field == "label"


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "at least one step; got an empty list"),
        ("First, add.", 'got the text "First, add."'),
        (None, "got null"),
        (["a", 2], "step 2: expected a text that is not blank; got 2"),
        (["a", " \n"], "step 2: expected a text that is not blank; got a blank text"),
        (["a"] * 5_001, "at most 5,000 steps; got 5,001"),
        (["a", "b" * 200_001], "step 2: expected at most 200,000 characters; got 200,001"),
    ],
)
def test_bad_steps_are_an_error_of_steps(steps: object, message: str) -> None:
    with pytest.raises(InvalidRow) as caught:
        read(row(steps=steps))
    assert caught.value.field == "steps"
    assert message in caught.value.message


@pytest.mark.parametrize("key", CODEC.sample)
def test_every_field_must_be_there(key: str) -> None:
    value = row()
    del value[key]

    with pytest.raises(InvalidRow, match="the field is missing") as caught:
        read(value)
    assert caught.value.field == key


@pytest.mark.parametrize(
    ("key", "value"),
    [("problem", " "), ("problem", 3), ("final_answer_correct", 1), ("generator", {}), ("id", 1.5)],
)
def test_a_value_of_the_wrong_kind_is_an_error_of_its_field(key: str, value: object) -> None:
    with pytest.raises(InvalidRow) as caught:
        read(row(**{key: value}))
    assert caught.value.field == key


def test_context_is_joined_to_the_next_judged_step_and_the_index_moves() -> None:
    steps = (
        Step("a"),
        Step("look", "tool", judged=False, sep="\n"),
        Step("b"),
        Step("end", "tool", judged=False),
    )
    record = SolutionRecord(ProblemText("p"), steps, labels=(1, None, -1, None))

    result = CODEC.write(ExportRow(record), Policies())

    assert result.objects[0]["steps"] == ["a", "look\nb"]
    assert result.objects[0]["label"] == 1
    assert result.lost == {"context after the last judged step": 1}


def test_neutral_steps_are_no_errors_and_need_no_policy() -> None:
    record = SolutionRecord(ProblemText("p"), (Step("a"), Step("b")), labels=(0, 1))

    assert written(record)["label"] == -1


def test_a_solution_whose_first_error_is_unknown_is_left_out() -> None:
    record = SolutionRecord(ProblemText("p"), (Step("a"), Step("b")), labels=(None, -1))

    with pytest.raises(LeftOut, match="the first error is not known"):
        written(record)


@pytest.mark.parametrize(("name", "rows", "steps"), [("math", 1000, 6505), ("gsm8k", 400, None)])
def test_real_files_are_read_without_errors_and_written_back_equal(
    shared_data: Path, name: str, rows: int, steps: int | None
) -> None:
    path = shared_data / f"processbench_{name}.jsonl"
    with path.open("rb") as file:
        entries = list(read_rows(file, CODEC))

    records = [entry.record for entry in entries if isinstance(entry, ImportRow)]
    assert len(records) == len(entries) == rows
    if steps is not None:
        assert sum(len(record.steps) for record in records) == steps
    lines = write_rows(map(ExportRow, records), CODEC, Policies(), ExportTally())
    originals = path.read_bytes().splitlines()
    assert [orjson.loads(line) for line in lines] == [orjson.loads(line) for line in originals]


def test_seven_broken_lines_among_a_hundred_are_seven_errors_and_93_rows() -> None:
    lines = [orjson.dumps(row(id=f"r-{number}")) for number in range(1, 101)]
    no_problem = row()
    del no_problem["problem"]
    broken = {
        4: b'{"id": "bad", ',
        11: orjson.dumps(no_problem),
        23: orjson.dumps(row(label=3)),
        35: orjson.dumps(row(steps=[])),
        58: orjson.dumps(row(steps="First, add. Then stop.")),
        77: lines[0].replace(b"First", b"Fir\0st"),
        100: lines[0].replace(b"First", b"Fir\xc3st"),
    }
    for number, line in broken.items():
        lines[number - 1] = line

    entries = list(read_rows(io.BytesIO(b"\n".join(lines)), CODEC))

    errors = [(entry.line, entry.field) for entry in entries if isinstance(entry, RowError)]
    expected = [(4, ""), (11, "problem"), (23, "label"), (35, "steps"), (58, "steps"), (77, ""), (100, "")]
    assert errors == expected
    good = [entry for entry in entries if isinstance(entry, ImportRow)]
    assert [entry.line for entry in good] == [number for number in range(1, 101) if number not in broken]
    assert all(entry.record.external_id == f"r-{entry.line}" for entry in good)
