"""Exported files as snapshots: rows in the order of a key, whatever their order in the file, in constant memory."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import IO

import orjson

from annotator.core.codecs.base import Codec, ImportRow, RowError
from annotator.core.codecs.rows import read_rows
from annotator.core.codecs.sources import ByteFile
from annotator.core.export_diff import Entry, signs
from annotator.core.solutions import SolutionRecord

#: Rows that are sorted in memory; the rest waits in temporary files.
SORTED_AT_ONCE = 50_000


class Unreadable(ValueError):
    """A file with a row that can't be read: comparing without it would call its labels taken back."""


def entries_of(file: ByteFile, codec: Codec) -> Iterator[Entry]:
    """The file's rows by key: the solution's id, or where it has none a hash of problem and steps.

    Raises Unreadable when it comes to a broken row.
    """
    rows = iter(_entry(row.record) for row in _read(file, codec))
    runs: list[IO[bytes]] = []
    first = sorted(islice(rows, SORTED_AT_ONCE))
    while more := sorted(islice(rows, SORTED_AT_ONCE)):
        runs.append(_spilled(more))
    try:
        yield from heapq.merge(first, *map(_back, runs), key=attrgetter("key", "annotator"))
    finally:
        for run in runs:
            run.close()


def _read(file: ByteFile, codec: Codec) -> Iterator[ImportRow]:
    for row in read_rows(file, codec):
        if isinstance(row, RowError):
            raise Unreadable(f"line {row.line}: {f'{row.field}: ' if row.field else ''}{row.message}")
        yield row


def _entry(record: SolutionRecord) -> Entry:
    name = record.external_id or f"#{record.content_hash().hex()[:16]}"
    return Entry(name, name, "", signs(record.labels or [None] * len(record.steps)))


def _spilled(rows: Iterable[Entry]) -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115  closed by whoever merges
    for row in rows:
        file.write(orjson.dumps([*row], option=orjson.OPT_APPEND_NEWLINE))
    file.seek(0)
    return file


def _back(file: IO[bytes]) -> Iterator[Entry]:
    for line in file:
        yield Entry(*orjson.loads(line))
