"""What a file may come as: JSONL, one JSON array, either of them in gzip, or a zip of such files.

Told by the first bytes, never by the name. Everything is streamed. What can't be unpacked any further becomes one
RowError, and the rows before it are kept.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, Protocol, cast

from annotator.core.codecs.arrays import read_array
from annotator.core.codecs.base import CAPS, Caps, RowError
from annotator.core.codecs.lines import JsonLine, read_lines

_GZIP, _ZIP, _EMPTY_ZIP = b"\x1f\x8b", b"PK\x03\x04", b"PK\x05\x06"
_BOM = b"\xef\xbb\xbf"
#: How far a first bracket is looked for behind white space.
_HEAD = 4096
#: What unpacking raises for a stream that is broken, encrypted, or packed in a way Python doesn't know.
_UNREADABLE = (EOFError, OSError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)


class ByteFile(Protocol):
    """A file opened for bytes that can be rewound."""

    def read(self, size: int = -1, /) -> bytes: ...

    def readline(self, size: int = -1, /) -> bytes: ...

    def seek(self, offset: int, /) -> int: ...


class _Unpacked(Exception):
    """A source can't be unpacked any further; the message says why."""


@dataclass
class _Budget:
    """How many bytes may still be unpacked, over all parts of a source."""

    cap: int
    used: int = 0

    def spend(self, got: bytes) -> bytes:
        self.used += len(got)
        if self.used > self.cap:
            raise _Unpacked(
                f"it unpacks to more than {self.cap:,} bytes, and the rest was not read; split it into smaller files"
            )
        return got


@dataclass
class _Measured:
    """A stream being unpacked, with its errors as one kind and its bytes counted."""

    inner: IO[bytes]
    budget: _Budget

    def read(self, size: int = -1, /) -> bytes:
        try:
            return self.budget.spend(self.inner.read(size))
        except _UNREADABLE as error:
            raise _Unpacked(_why(error)) from error

    def readline(self, size: int = -1, /) -> bytes:
        try:
            return self.budget.spend(self.inner.readline(size))
        except _UNREADABLE as error:
            raise _Unpacked(_why(error)) from error

    def peek(self) -> bytes:
        try:
            return _head(cast("ByteFile", self.inner))
        except _UNREADABLE as error:
            raise _Unpacked(_why(error)) from error


def _head(file: ByteFile) -> bytes:
    """The first bytes, without taking them: a pipe can't be rewound."""
    peek = getattr(file, "peek", None)
    if peek is not None:
        return bytes(peek(_HEAD)[:_HEAD])
    head = file.read(_HEAD)
    file.seek(0)
    return head


def read_source(file: ByteFile, caps: Caps = CAPS) -> Iterator[JsonLine | RowError]:
    """Every row, in order, as its object or as what is wrong with it.

    Numbers are lines of JSONL or places in an array, from 1, in each file of an archive anew.
    """
    head = _head(file)
    budget = _Budget(caps.unpacked_bytes)
    if head.startswith((_ZIP, _EMPTY_ZIP)):
        yield from _zip(file, budget, caps)
    elif head.startswith(_GZIP):
        with gzip.GzipFile(fileobj=cast("IO[bytes]", file)) as unpacked:
            yield from _guarded(_Measured(cast("IO[bytes]", unpacked), budget), "", caps)
    else:
        yield from _plain(file, head, caps)


def _plain(file: ByteFile | _Measured, head: bytes, caps: Caps) -> Iterator[JsonLine | RowError]:
    if head.removeprefix(_BOM).lstrip()[:1] == b"[":
        return read_array(file, caps)
    return read_lines(file, caps)


def _guarded(file: _Measured, part: str, caps: Caps) -> Iterator[JsonLine | RowError]:
    """The rows of one unpacked file; where it breaks off, one more that says so."""
    number = 0
    try:
        for row in _plain(file, file.peek(), caps):
            number = row.number if isinstance(row, JsonLine) else row.line
            yield replace(row, part=part) if part else row
    except _Unpacked as error:
        yield RowError(number + 1, "", str(error), part)


def _zip(file: ByteFile, budget: _Budget, caps: Caps) -> Iterator[JsonLine | RowError]:
    try:
        archive = zipfile.ZipFile(cast("IO[bytes]", file))
    except _UNREADABLE as error:
        yield RowError(1, "", _why(error))
        return
    with archive:
        files = [each for each in archive.infolist() if not each.is_dir()]
        members = [
            each for each in files if not _is_clutter(each.filename) and not _is_picture(each.filename)
        ]
        if len(members) > caps.parts:
            held = f"{len(members):,} files"
            yield RowError(1, "", f"expected an archive of at most {caps.parts:,} files; it holds {held}")
            return
        for member in members:
            yield from _member(archive, member, budget, caps)
            if budget.used > budget.cap:
                return


def _member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, budget: _Budget, caps: Caps
) -> Iterator[JsonLine | RowError]:
    part = member.filename.encode(errors="replace").decode()
    try:
        with archive.open(member) as packed:
            if _head(cast("ByteFile", packed)).startswith(_GZIP):
                with gzip.GzipFile(fileobj=packed) as unpacked:
                    yield from _guarded(_Measured(cast("IO[bytes]", unpacked), budget), part, caps)
            else:
                yield from _guarded(_Measured(packed, budget), part, caps)
    except _UNREADABLE as error:
        yield RowError(1, "", _why(error), part)


def _is_clutter(name: str) -> bool:
    """What macOS and editors put beside the files that were meant."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


def _is_picture(name: str) -> bool:
    """What rows may name as their problem's picture; it holds no rows."""
    return name.lower().endswith((".png", ".jpg", ".jpeg", ".webp", ".gif"))


def _why(error: BaseException) -> str:
    if isinstance(error, EOFError):
        return "the compressed data end early; what stands before was read, and the rest is missing"
    if isinstance(error, RuntimeError | NotImplementedError):
        return "it is encrypted or packed in a way that can't be read; pack it as plain zip or gzip"
    return f"the compressed data are broken, and the rest was not read ({error})"
