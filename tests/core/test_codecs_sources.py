"""What files come as: JSONL, an array, gzip, zip; and what is said of those that can't be read to their end."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.core.codecs.arrays import read_array
from annotator.core.codecs.base import CAPS, Caps, RowError
from annotator.core.codecs.lines import JsonLine
from annotator.core.codecs.rejected import as_line, restored
from annotator.core.codecs.sources import read_source

ROWS = [{"a": 1}, {"b": [1, {"c": '],[\\"'}]}, {"d": "ü"}]
LINES = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
ARRAY = json.dumps(ROWS, indent=1).encode()


def read(content: bytes, caps: Caps = CAPS) -> list[JsonLine | RowError]:
    return list(read_source(io.BytesIO(content), caps))


def values(content: bytes, caps: Caps = CAPS) -> list[Any]:
    return [row.value if isinstance(row, JsonLine) else row.message for row in read(content, caps)]


def zipped(**files: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_in_", "/"), content)
    return held.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        LINES,
        ARRAY,
        b"\xef\xbb\xbf" + ARRAY,
        b" \n" + ARRAY + b"\n\n",
        gzip.compress(LINES),
        gzip.compress(ARRAY),
        zipped(a=LINES),
        zipped(a=gzip.compress(ARRAY)),
    ],
    ids=["lines", "array", "array with BOM", "array in space", "gz", "array gz", "zip", "gz in zip"],
)
def test_the_same_rows_come_out_of_whatever_they_are_packed_in(content: bytes) -> None:
    assert values(content) == ROWS


def test_rows_of_an_archive_name_their_file_and_count_anew_in_each() -> None:
    rows = read(zipped(one=LINES, two=b"{\n", __MACOSX_in__one=b"x"))
    assert [(row.part, row.number if isinstance(row, JsonLine) else row.line) for row in rows] == [
        ("one", 1),
        ("one", 2),
        ("one", 3),
        ("two", 1),
    ]
    assert isinstance(rows[-1], RowError)
    assert rows[-1].to_json()["file"] == "two"


@settings(max_examples=40)
@given(
    rows=st.lists(
        st.dictionaries(st.text(), st.recursive(st.text() | st.integers(0, 9), st.lists), max_size=3)
    ),
    indent=st.sampled_from([None, 2]),
)
def test_an_array_is_cut_where_its_entries_end(rows: list[Any], indent: int | None) -> None:
    class Drip(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(3)

    cut = list(read_array(Drip(json.dumps(rows, indent=indent).encode())))
    expected = ["NUL" if "\\u0000" in json.dumps(row) else row for row in rows]
    assert [row.value if isinstance(row, JsonLine) else "NUL" for row in cut] == expected


def test_a_broken_entry_of_an_array_costs_no_other() -> None:
    rows = read(b'[{"a": 1}, {"a": }, 7, , {"a": 2}]')
    assert [isinstance(row, JsonLine) for row in rows] == [True, False, False, False, True]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'[{"a": 1}, {"b"', "the file ends before its array does; expected ']'"),
        (b'[{"a": 1}] {"b": 2}', "expected nothing after the array's ']'"),
    ],
)
def test_an_array_that_ends_wrongly_is_told_after_the_rows_that_are_good(content: bytes, said: str) -> None:
    assert values(content) == [{"a": 1}, said]


def test_an_empty_array_has_no_rows() -> None:
    assert values(b"[ ]") == []


def test_an_entry_over_the_cap_is_named_with_its_length_and_never_held() -> None:
    content = b'[{"a": "' + b"x" * 300_000 + b'"}, {"b": 1}]'
    said, good = values(content, Caps(line_bytes=1_000))
    assert "at most 1,000 bytes; got 300,009" in said
    assert good == {"b": 1}


def test_gzip_that_ends_early_keeps_the_rows_before() -> None:
    content = gzip.compress(b"".join(b'{"a": "%d"}\n' % (number**9) for number in range(5_000)))
    rows = values(content[: len(content) // 2])
    assert rows[0] == {"a": "0"}
    assert len(rows) > 100
    assert "end early" in rows[-1]


def test_a_bomb_is_left_at_the_cap_with_what_to_do() -> None:
    bomb = gzip.compress(b'{"a": 1}\n' * 100_000)
    rows = values(bomb, Caps(unpacked_bytes=100_000))
    assert "unpacks to more than 100,000 bytes" in rows[-1]
    assert "split it" in rows[-1]
    assert len(rows) < 20_000


def test_the_cap_is_for_all_files_of_an_archive_together() -> None:
    rows = values(zipped(a=LINES * 100, b=LINES * 100, c=LINES), Caps(unpacked_bytes=len(LINES) * 120))
    assert isinstance(rows[-1], str)
    assert len([row for row in rows if isinstance(row, str)]) == 1


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 no", b"\x1f\x8b no", zipped(a=LINES)[:-30]], ids=["zip", "gz", "cut"]
)
def test_an_archive_that_is_broken_is_one_bad_row(content: bytes) -> None:
    (row,) = read(content)
    assert isinstance(row, RowError)
    assert "compressed data" in row.message


def test_an_archive_of_too_many_files_is_refused() -> None:
    (said,) = values(zipped(a=LINES, b=LINES), Caps(parts=1))
    assert "at most 1 files; it holds 2 files" in said


def test_a_rejected_row_comes_back_with_its_reason_and_is_read_again_once_it_is_mended() -> None:
    line = json.loads(as_line(RowError(4, "steps", "expected a list", given={"id": "x", "steps": 3})))
    assert line["_rejected"] == {"line": 4, "field": "steps", "message": "expected a list"}
    assert restored({**line, "steps": ["1"]}) == {"id": "x", "steps": ["1"]}


def test_a_line_that_was_no_object_comes_back_as_text() -> None:
    (bad,) = read(b'{"a": 1\n')
    assert isinstance(bad, RowError)
    line = json.loads(as_line(bad))
    assert line["_line"] == '{"a": 1'
    assert restored({**line, "_line": '{"a": 1}'}) == {"a": 1}
