"""The entries of one JSON array, one at a time and in constant memory.

The text is cut at the commas of the outermost array, without reading what is between them: an entry that is broken
costs no other. Only a quotation mark that is missing hides the entries behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from annotator.core.codecs.base import CAPS, Caps, InvalidRow, RowError
from annotator.core.codecs.lines import JsonLine, decode

_CHUNK = 64 * 1024
_OUTSIDE = re.compile(rb'["\[\]{},]')
_INSIDE = re.compile(rb'["\\]')


class Readable(Protocol):
    """A file opened for bytes."""

    def read(self, size: int, /) -> bytes: ...


def read_array(file: Readable, caps: Caps = CAPS) -> Iterator[JsonLine | RowError]:
    """Every entry in order, as its object or as what is wrong with it; ``number`` is its place, from 1."""
    cutter = _Cutter(caps.line_bytes)
    while chunk := file.read(_CHUNK):
        for number, entry in cutter.cut(chunk):
            yield _read(number, entry, caps)
    if not cutter.closed:
        yield RowError(cutter.number + 1, "", "the file ends before its array does; expected ']'")
    elif cutter.held():
        yield RowError(cutter.number + 1, "", "expected nothing after the array's ']'")


def _read(number: int, entry: bytes | int, caps: Caps) -> JsonLine | RowError:
    if isinstance(entry, int):
        return RowError(number, "", f"expected an entry of at most {caps.line_bytes:,} bytes; got {entry:,}")
    try:
        return JsonLine(number, decode(entry.strip(), caps), size=len(entry))
    except InvalidRow as error:
        return RowError(number, error.field, error.message, given=entry)


@dataclass
class _Cutter:
    """Where the scan stands: how deep in brackets, in a string or not, and the entry so far."""

    cap: int
    number: int = 0
    closed: bool = False
    _depth: int = 0
    _in_string: bool = False
    _after_backslash: bool = False
    _pieces: list[bytes] = field(default_factory=list)
    _size: int = 0

    def cut(self, chunk: bytes) -> Iterator[tuple[int, bytes | int]]:
        """The entries that end in this chunk; for one over the cap, only its length."""
        start = at = 0
        if self._after_backslash:
            at, self._after_backslash = 1, False
        while match := (_INSIDE if self._in_string else _OUTSIDE).search(chunk, at):
            sign, at = match.group(), match.end()
            if self._in_string:
                at = self._within(sign, at, len(chunk))
            elif self._is_border(sign):
                if sign != b"[":  # before it stands at most a byte-order mark
                    self._keep(chunk[start : at - 1])
                start = at
                if sign in b",]" and (entry := self._take(last=sign == b"]")) is not None:
                    yield entry
        self._keep(chunk[start:])

    def held(self) -> bool:
        """Whether anything but white space follows the last border."""
        return bool(b"".join(self._pieces).strip()) or self._size > self.cap

    def _within(self, sign: bytes, at: int, end: int) -> int:
        """Past a sign in a string: a quotation mark ends it, a backslash takes the next byte along."""
        if sign == b'"':
            self._in_string = False
            return at
        self._after_backslash = at == end
        return at + 1

    def _is_border(self, sign: bytes) -> bool:
        """Whether an entry of the outermost array begins or ends at this sign."""
        if sign == b'"':
            self._in_string = True
        elif sign in b"[{":
            self._depth += 1
            return self._depth == 1 and not self.closed
        elif sign in b"]}":
            self._depth -= 1
            if self._depth == 0 and sign == b"]" and not self.closed:
                self.closed = True
                return True
        else:
            return self._depth == 1 and not self.closed
        return False

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self.cap:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def _take(self, *, last: bool) -> tuple[int, bytes | int] | None:
        """The entry so far; None for an array that has none."""
        entry, size = b"".join(self._pieces), self._size
        self._pieces, self._size = [], 0
        if last and self.number == 0 and not entry.strip() and size <= self.cap:
            return None
        self.number += 1
        return self.number, entry if size <= self.cap else size
