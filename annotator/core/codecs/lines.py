"""From a file's bytes to JSON objects, one line at a time and in constant memory.

A line that can't be read becomes a RowError and reading goes on. Lines are counted from 1 as an editor does;
blank lines are skipped and are no rows, though they count as lines. A byte-order mark at the start of the
file is tolerated. A line over the cap is skipped in small reads and never held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from annotator.core.codecs.base import CAPS, Caps, InvalidRow, RowError
from annotator.core.codecs.fields import describe

_BOM = b"\xef\xbb\xbf"
_SKIP = 64 * 1024
_NOT_A_NUMBER = re.compile(r"-?(?:NaN|Infinity)")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class LineFile(Protocol):
    """A file opened for bytes."""

    def readline(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line's JSON object; ``part`` names the file within an archive, ``size`` is the line's in bytes."""

    number: int
    value: dict[str, Any]
    part: str = ""
    size: int = field(default=0, compare=False)


def read_lines(file: LineFile, caps: Caps = CAPS) -> Iterator[JsonLine | RowError]:
    """Every line that is not blank, in order, as its object or as what is wrong with it."""
    number = 0
    while line := file.readline(caps.line_bytes + 1):
        number += 1
        if len(line) > caps.line_bytes and not line.endswith(b"\n"):
            length = len(line) + _skip_line(file)
            cap = f"{caps.line_bytes:,} bytes"
            yield RowError(number, "", f"expected a line of at most {cap}; got {length:,}")
            continue
        if number == 1:
            line = line.removeprefix(_BOM)
        if not line.strip():
            continue
        try:
            yield JsonLine(number, decode(line.rstrip(b"\r\n"), caps), size=len(line))
        except InvalidRow as error:
            yield RowError(number, error.field, error.message, given=line)


def _skip_line(file: LineFile) -> int:
    skipped = 0
    while part := file.readline(_SKIP):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def decode(line: bytes, caps: Caps = CAPS) -> dict[str, Any]:
    """The object of one line.

    Raises InvalidRow for what is no UTF-8, no strict JSON (NaN and Infinity are not), no object, nested too
    deep, or holds NUL or a lone surrogate, which the database can't store.
    """
    nul = line.find(b"\0")
    if nul >= 0:
        raise InvalidRow("", f"NUL at byte {nul + 1}; expected text without it")
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _explained(line, error, caps) from None
    if not isinstance(value, dict):
        raise InvalidRow("", f"expected a JSON object; got {describe(value)}")
    if line.count(b"[") + line.count(b"{") > caps.depth:
        _check_depth(value, caps.depth)
    if b"\\u0000" in line:
        place = _find_text(value, lambda text: "\0" in text)
        if place is not None:
            raise InvalidRow(place[0], f"{place[1]}expected text without NUL (\\u0000)")
    return value


def _explained(line: bytes, error: orjson.JSONDecodeError, caps: Caps) -> InvalidRow:
    try:
        text = line.decode()
    except UnicodeDecodeError as bad:
        byte = bad.object[bad.start]
        return InvalidRow("", f"expected UTF-8; byte {bad.start + 1} of the line is 0x{byte:02x}")
    if "depth" in error.msg:
        return InvalidRow("", f"expected at most {caps.depth} levels of nesting; there are over 1,000")
    # With a sign the parser stops after it, so one character further back is looked at first.
    found = _NOT_A_NUMBER.match(text, max(0, error.pos - 1)) or _NOT_A_NUMBER.match(text, error.pos)
    if found:
        at = found.start() + 1
        return InvalidRow("", f"{found.group()} at column {at} is not JSON; expected a number or null")
    if "surrogate" in error.msg:
        field, place = _surrogate_field(text)
        half = "half of a surrogate pair (\\ud800 to \\udfff alone)"
        return InvalidRow(field, f"{place}expected text; there is {half}, which stands for no character")
    return InvalidRow("", f"bad JSON at column {error.pos + 1}: {error.msg}")


def _surrogate_field(text: str) -> tuple[str, str]:
    """Where the lone surrogate is, as far as a lenient parser can tell."""
    try:
        place = _find_text(json.loads(text), lambda part: _SURROGATE.search(part) is not None)
    except (ValueError, RecursionError):
        # Something else is wrong with the line as well; the column is all there is to say.
        return "", ""
    return place or ("", "")


def _check_depth(value: object, at_most: int) -> None:
    layer = [value]
    depth = 0
    while layer:
        depth += 1
        if depth > at_most:
            raise InvalidRow("", f"expected at most {at_most} levels of nesting")
        layer = [child for parent in layer for child in _children(parent) if isinstance(child, dict | list)]


def _children(parent: object) -> Iterator[object]:
    if isinstance(parent, dict):
        yield from parent.values()
    elif isinstance(parent, list):
        yield from parent


def _find_text(value: object, is_bad: Callable[[str], bool]) -> tuple[str, str] | None:
    """Field and place ("entry 3: ") of the first bad text; keys count as texts of their object."""
    stack: list[tuple[object, str, str]] = [(value, "", "")]
    while stack:
        node, path, place = stack.pop()
        if isinstance(node, str):
            if is_bad(node):
                return path, place
        elif isinstance(node, list):
            entries = [(child, path, place or f"entry {i + 1}: ") for i, child in enumerate(node)]
            stack.extend(reversed(entries))
        elif isinstance(node, dict):
            if any(map(is_bad, node)):
                return path, place + "a key: "
            members = [(child, _joined(path, key, place), place) for key, child in node.items()]
            stack.extend(reversed(members))
    return None


def _joined(path: str, key: str, place: str) -> str:
    """``problem.text``, but only ``steps`` for what lies inside its entries."""
    if place:
        return path
    return f"{path}.{key}" if path else key
