"""Whole files through a codec: rows in, rows out, one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from annotator.core.codecs.base import (
    CAPS,
    Caps,
    Codec,
    ImportRow,
    InvalidRow,
    ReadOptions,
    RowError,
)
from annotator.core.codecs.lines import JsonLine
from annotator.core.codecs.rejected import restored
from annotator.core.codecs.sources import ByteFile, read_source
from annotator.core.segmentation import Rule


class Item(NamedTuple):
    """What one line of the file became: its rows, or what is wrong with it. ``size`` is the line's in bytes."""

    rows: Sequence[ImportRow | RowError]
    size: int = 0


def read_rows(
    file: ByteFile, codec: Codec, segment_rule: str = Rule.AUTO, caps: Caps = CAPS
) -> Iterator[ImportRow | RowError]:
    """Each solution of the file with its line, or what is wrong with that line; good rows are kept.

    A line is one row unless its format puts several solutions on one; a line with any of them broken is
    rejected as a whole. Duplicates are the importer's to find.
    """
    for item in read_items(file, codec, segment_rule, caps):
        yield from item.rows


def read_items(
    file: ByteFile, codec: Codec, segment_rule: str = Rule.AUTO, caps: Caps = CAPS, skip: int = 0
) -> Iterator[Item]:
    """As `read_rows`, a line at a time and behind the first ``skip`` of them, which are only parsed."""
    options = ReadOptions(segment_rule, caps)
    for line in islice(read_source(file, caps), skip, None):
        if isinstance(line, RowError):
            yield Item([line], len(line.given) if isinstance(line.given, bytes) else 0)
        else:
            yield Item(_rows_of(line, codec, options), line.size)


def _rows_of(line: JsonLine, codec: Codec, options: ReadOptions) -> list[ImportRow | RowError]:
    try:
        records = codec.read(restored(line.value, options.caps), options)
    except InvalidRow as error:
        return [RowError(line.number, error.field, error.message, line.part, line.value)]
    return [ImportRow(line.number, record, line.part, line.value) for record in records]


def first_objects(file: ByteFile, count: int = 20, caps: Caps = CAPS) -> list[dict[str, Any]]:
    """The first objects that parse, for `detect`; broken lines are passed over, 1,000 lines at most are read.

    The file is left where reading stopped: the caller rewinds it.
    """
    lines = islice(read_source(file, caps), 1_000)
    return list(islice(_restored(lines, caps), count))


def first_error(file: ByteFile, caps: Caps = CAPS) -> RowError | None:
    """What is wrong with the first row, where no row is an object: a source that can't be unpacked says so here."""
    first = next(read_source(file, caps), None)
    return first if isinstance(first, RowError) else None


def _restored(lines: Iterable[JsonLine | RowError], caps: Caps) -> Iterator[dict[str, Any]]:
    for line in lines:
        if isinstance(line, JsonLine):
            with suppress(InvalidRow):  # a line that was to be mended and isn't yet
                yield restored(line.value, caps)


@dataclass(slots=True)
class ExportTally:
    """What an export has written so far, what it left out by reason, and what rows lost by kind."""

    written: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
