"""JSONL files for the tests of imports, exports and commands, made in memory."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import orjson

from annotator.actions import access, imports
from annotator.actions.import_rows import LabelsAs
from annotator.actions.imports import Report, Source
from annotator.models import Project


def native(number: int = 0, *labels: int | None, **fields: Any) -> dict[str, Any]:
    """A native row of three steps; numbers are words, since the split takes figures for the same problem."""
    problem = {"text": f"What is the {word(number)} thing?"}
    row = {"id": f"n{number}", "problem": problem, "steps": [f"First of {number}.", "Then.", "So."]}
    return row | ({"labels": list(labels)} if labels else {}) | fields


def processbench(number: int = 0, label: int = -1, **fields: Any) -> dict[str, Any]:
    row = {
        "id": f"pb-{number}",
        "generator": "a-model",
        "problem": f"What is the {word(number)} thing?",
        "steps": [f"First of {number}.", "Then.", "So."],
        "final_answer_correct": label == -1,
        "label": label,
    }
    return row | fields


def word(number: int) -> str:
    """A number in letters: 0 is "a", 27 is "bb"."""
    letter = chr(ord("a") + number % 26)
    return (word(number // 26) if number >= 26 else "") + letter


def jsonl(*rows: dict[str, Any] | bytes) -> io.BytesIO:
    """A file of these rows; bytes stand for a line as it is."""
    lines = [row if isinstance(row, bytes) else orjson.dumps(row) for row in rows]
    return io.BytesIO(b"".join(line + b"\n" for line in lines))


def bring(
    project: Project, *rows: dict[str, Any] | bytes, labels: LabelsAs = LabelsAs.REFERENCE, **source: Any
) -> Report:
    """Import these rows as the server's operator."""
    given = Source(file=jsonl(*rows), filename="rows.jsonl", labels_as=labels, **source)
    return imports.run(actor=access.operator(project), source=given)


class Lines:
    """A file that makes its lines when they are asked for and counts them."""

    def __init__(self, rows: Iterator[dict[str, Any]]) -> None:
        self._rows = rows
        self.given = 0

    def peek(self, size: int, /) -> bytes:
        return b"{"

    def readline(self, size: int = -1, /) -> bytes:
        row = next(self._rows, None)
        if row is None:
            return b""
        self.given += 1
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
