"""How much a row may hold: each cap refuses its own row in a sentence with the number, and the next row is read."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import orjson
import pytest

from annotator.core.codecs import CODECS
from annotator.core.codecs.base import CAPS, ImportRow, RowError
from annotator.core.codecs.rows import read_rows

TEXT = {"text": "What is it?"}
STEPS = ["One.", "Two."]
ROOT = Path(__file__).resolve().parents[2]


def read(row: dict[str, Any]) -> RowError:
    """What is said of a row that stands before a good one."""
    lines = [orjson.dumps(each) for each in (row, {"problem": TEXT, "steps": STEPS})]
    error, good = read_rows(io.BytesIO(b"\n".join(lines)), CODECS["native"])
    assert isinstance(error, RowError)
    assert isinstance(good, ImportRow)
    return error


TOO_MUCH: dict[str, tuple[dict[str, Any], str, str]] = {
    "steps": ({"steps": ["a"] * 5_001}, "steps", "expected at most 5,000 steps; got 5,001"),
    "steps of a text": (
        {"solution": "\n\n".join(["So it is."] * 5_001)},
        "solution",
        "expected at most 5,000 steps; got 5,001",
    ),
    "a step": (
        {"steps": ["a", "b" * 200_001]},
        "steps",
        "step 2: expected at most 200,000 characters; got 200,001",
    ),
    "a space between": (
        {"steps": [{"text": "a", "sep": " " * 10_001}, "b"]},
        "steps",
        "step 1: sep: expected at most 10,000 characters; got 10,001",
    ),
    "a problem": (
        {"problem": {"text": "a" * 200_001}},
        "problem.text",
        "expected at most 200,000 characters; got 200,001",
    ),
    "an answer": (
        {"problem": {**TEXT, "answer": "a" * 200_001}},
        "problem.answer",
        "expected at most 200,000 characters; got 200,001",
    ),
    "an id": ({"id": "a" * 256}, "id", "expected at most 255 characters; got 256"),
    "a domain": (
        {"problem": {**TEXT, "domain": "a" * 101}},
        "problem.domain",
        "expected at most 100 characters; got 101",
    ),
    "annotations": (
        {"annotations": [{"annotator": f"a{number}", "labels": [1, 1]} for number in range(1_001)]},
        "annotations",
        "expected at most 1,000; got 1,001",
    ),
    "pictures": (
        {"problem": {**TEXT, "images": [{"src": f"{number}.png"} for number in range(21)]}},
        "problem.images",
        "expected at most 20 pictures",
    ),
    "nesting": ({"meta": {"a": orjson.Fragment(b"[" * 70 + b"]" * 70)}}, "", "at most 64 levels of nesting"),
}


@pytest.mark.parametrize(("given", "field", "said"), TOO_MUCH.values(), ids=list(TOO_MUCH))
def test_a_row_over_a_cap_is_refused_with_the_number_and_the_next_is_read(
    given: dict[str, Any], field: str, said: str
) -> None:
    row = {"problem": TEXT, **({} if "solution" in given else {"steps": STEPS}), **given}
    error = read(row)
    assert (error.line, error.field) == (1, field)
    assert said in error.message


def test_the_documented_caps_are_those_in_force() -> None:
    page = (ROOT / "docs" / "imports.md").read_text()
    told = [
        f"| {CAPS.line_bytes // 1024**2} MiB |",
        f"| levels of nesting | {CAPS.depth} |",
        f"| {CAPS.steps:,}; {CAPS.step_chars:,}; {CAPS.problem_chars:,} |",
        f"| annotations of a row | {CAPS.annotations:,} |",
        f"| {CAPS.unpacked_bytes // 1024**3} GiB in all |",
        f"| files in a zip | {CAPS.parts:,} |",
    ]
    assert [words for words in told if words not in page] == []
