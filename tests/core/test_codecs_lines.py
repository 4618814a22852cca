"""Reading a file line by line: what is no row, what is a broken row, and what memory it takes."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable

import orjson
import pytest

from annotator.core.codecs import CODECS
from annotator.core.codecs.base import Caps, ImportRow, RowError
from annotator.core.codecs.lines import JsonLine, read_lines
from annotator.core.codecs.rows import read_rows


def read(data: bytes, caps: Caps | None = None) -> list[JsonLine | RowError]:
    return list(read_lines(io.BytesIO(data), caps or Caps()))


def only_error(data: bytes, caps: Caps | None = None) -> RowError:
    (error,) = [entry for entry in read(data, caps) if isinstance(entry, RowError)]
    return error


# What is no row


def test_blank_lines_are_no_rows_but_count_as_lines() -> None:
    assert read(b'{"a": 1}\n\n  \t\r\n{"a": 2}') == [JsonLine(1, {"a": 1}), JsonLine(4, {"a": 2})]


def test_a_byte_order_mark_at_the_start_is_tolerated() -> None:
    assert read(b'\xef\xbb\xbf{"a": 1}\r\n') == [JsonLine(1, {"a": 1})]


# What is a broken row


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        (b'{"a": 1', "", "bad JSON at column 8: unexpected end of data"),
        (b'{"a" 1}', "", "bad JSON at column 6: unexpected character, expected ':' after key"),
        (b'{"a": "x\0"}', "", "NUL at byte 9"),
        (b'{"a": "\xff"}', "", "byte 8 of the line is 0xff"),
        ('{"é": "'.encode() + b'\xff"}', "", "byte 9 of the line is 0xff"),
        (b'{"a": "\xed\xa0\x80"}', "", "byte 8 of the line is 0xed"),
        (b'{"a": {"b": "\\ud800"}}', "a.b", "expected text; there is half of a surrogate pair"),
        (
            b'{"steps": ["x", "\\udc00"]}',
            "steps",
            "entry 2: expected text; there is half of a surrogate pair",
        ),
        (b'{"steps": ["x", {"text": "\\u0000"}]}', "steps", "entry 2: expected text without NUL"),
        (b'{"a": NaN}', "", "NaN at column 7 is not JSON; expected a number or null"),
        (b'{"a": [-Infinity]}', "", "-Infinity at column 8 is not JSON"),
        ('{"é": "ü", "a" 1}'.encode(), "", "bad JSON at column 16: unexpected character, expected ':'"),
        (b'{"a": 1e999}', "", "bad JSON at column 7: number is infinity when parsed as double"),
        (b"[1, 2]", "", "expected a JSON object; got a list of 2"),
        (b"{" + b'"a":{' * 70 + b"}" * 71, "", "expected at most 64 levels of nesting"),
        (b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}", "", "expected at most 64 levels of nesting"),
    ],
)
def test_a_broken_line_is_named_with_what_was_expected(line: bytes, field: str, message: str) -> None:
    error = only_error(b'{"fine": 1}\n' + line + b'\n{"fine": 2}\n')

    assert (error.line, error.field) == (2, field)
    assert message in error.message


def test_a_broken_line_does_not_stop_the_reading() -> None:
    assert [type(entry) for entry in read(b'{"a": 1}\n{\n{"a": 2}')] == [JsonLine, RowError, JsonLine]


def test_an_escaped_backslash_before_u0000_is_no_nul() -> None:
    assert read(b'{"a": "\\\\u0000"}') == [JsonLine(1, {"a": "\\u0000"})]


def test_a_surrogate_pair_is_one_character() -> None:
    assert read(b'{"a": "\\ud83d\\ude00"}') == [JsonLine(1, {"a": "\U0001f600"})]


def test_many_shallow_brackets_are_not_deep() -> None:
    assert read(orjson.dumps({"a": [[]] * 500})) == [JsonLine(1, {"a": [[]] * 500})]


# How much


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_of_just_the_cap_is_read(end: bytes) -> None:
    assert read(b'{"a": 123}' + end, Caps(line_bytes=10)) == [JsonLine(1, {"a": 123})]


def test_a_longer_line_is_skipped_with_its_length_and_the_next_one_read() -> None:
    found = read(b'{"a": 1234}\n{"b": 1}\n', Caps(line_bytes=10))

    assert found == [RowError(1, "", "expected a line of at most 10 bytes; got 12"), JsonLine(2, {"b": 1})]


class Endless:
    """A file that is one line of so many bytes, and keeps none of them."""

    def __init__(self, size: int) -> None:
        self.left = size

    def readline(self, size: int) -> bytes:
        part = min(size, self.left)
        self.left -= part
        return b"x" * part


def peak_of(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_endless_line_is_never_held() -> None:
    caps = Caps(line_bytes=100_000)

    peak = peak_of(lambda: list(read_lines(Endless(200_000_000), caps)))

    assert peak < 2_000_000


def test_memory_does_not_grow_with_the_file() -> None:
    row = orjson.dumps({"problem": {"text": "p"}, "steps": ["s" * 1_000]}) + b"\n"

    class Rows:
        def __init__(self, count: int) -> None:
            self.left = count

        def peek(self, size: int) -> bytes:
            return row

        def readline(self, size: int) -> bytes:
            self.left -= 1
            return row if self.left >= 0 else b""

    def consume(count: int) -> None:
        for entry in read_rows(Rows(count), CODECS["native"]):
            assert isinstance(entry, ImportRow)

    consume(10)
    assert peak_of(lambda: consume(3_000)) < 2 * peak_of(lambda: consume(30)) + 100_000
