"""What changed between two exports: labels that flipped, came, or were taken back, in constant memory.

An export's labels are kept as a *snapshot*: one line a row, in the order of the export, compressed. Two snapshots are
merged by their keys, which only grow.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import orjson

from annotator.core.labels import Labels

_SIGNS: Mapping[int | None, str] = {1: "+", 0: "0", -1: "-", None: "."}
_LABELS: Mapping[str, int | None] = {sign: label for label, sign in _SIGNS.items()}
#: Bytes that are unpacked at a time.
BLOCK = 16 * 1024


class Entry(NamedTuple):
    """One row of an export. ``key`` orders the rows, ``annotator`` tells several of one key apart ("" where one)."""

    key: int | str
    id: str
    annotator: str
    labels: str


class What(StrEnum):
    """FLIPPED: another label. ADDED: a label or a whole row that was not there. RETRACTED: one that is gone."""

    FLIPPED = "flipped"
    ADDED = "added"
    RETRACTED = "retracted"


class Change(NamedTuple):
    """One change; ``step`` None: the whole row, with its labels as signs (+ 0 - and . for not judged)."""

    what: What
    id: str
    annotator: str
    step: int | None
    before: int | str | None
    after: int | str | None

    def to_json(self) -> dict[str, Any]:
        """As a line of a file."""
        return {"change": self.what.value, **{name: getattr(self, name) for name in CHANGE_FIELDS}}


CHANGE_FIELDS = ("id", "annotator", "step", "before", "after")


@dataclass
class Counts:
    """How much changed: labels of steps in rows that both have, and whole rows."""

    same: int = 0
    changed: int = 0
    rows: dict[str, int] = field(default_factory=lambda: {What.ADDED.value: 0, What.RETRACTED.value: 0})
    steps: dict[str, int] = field(default_factory=lambda: {each.value: 0 for each in What})

    def to_json(self) -> dict[str, Any]:
        """For a command and a page."""
        return {"same": self.same, "changed": self.changed, "rows": self.rows, "steps": self.steps}


def signs(labels: Labels | None) -> str:
    """Labels as one letter a step; without labels nothing.

    >>> signs([1, 0, -1, None])
    '+0-.'
    """
    return "".join([_SIGNS[label] for label in labels]) if labels is not None else ""


def labels_of(given: int | str | None, *, step: bool) -> list[int | None] | None:
    """One side of a change as labels: of a ``step`` its one label, of a row all of them, None where there is none.

    >>> labels_of("+.-", step=False), labels_of(None, step=True), labels_of(None, step=False)
    ([1, None, -1], [None], None)
    """
    if step:
        assert not isinstance(given, str)
        return [given]
    return [_LABELS[sign] for sign in given] if isinstance(given, str) else None


#: Lines of a snapshot that are packed at once. The packer lets other threads run, and to take a turn back costs more
#: than to pack a line.
LINES = 1_000


class Snapshot:
    """A snapshot in the making. ``add`` its rows in order, then take ``content`` once."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(6)
        self._packed: list[bytes] = []
        self._lines: list[bytes] = []

    def add(self, entry: Entry) -> None:
        """One more row."""
        self._lines.append(orjson.dumps([*entry], option=orjson.OPT_APPEND_NEWLINE))
        if len(self._lines) == LINES:
            self._pack()

    def content(self) -> bytes:
        """All of it, compressed."""
        self._pack()
        return b"".join([*self._packed, self._packer.flush()])

    def _pack(self) -> None:
        self._packed.append(self._packer.compress(b"".join(self._lines)))
        self._lines.clear()


def entries(snapshot: bytes) -> Iterator[Entry]:
    """The rows of a snapshot, one at a time. Raises zlib.error for what is none."""
    unpacker, rest = zlib.decompressobj(), b""
    for at in range(0, len(snapshot), BLOCK):
        *lines, rest = (rest + unpacker.decompress(snapshot[at : at + BLOCK])).split(b"\n")
        for line in lines:
            yield Entry(*orjson.loads(line))


def compare(
    before: Iterable[Entry], after: Iterable[Entry], counts: Counts | None = None
) -> Iterator[Change]:
    """The changes, in the order of the keys, which both sides must have; ``counts`` grows as they are taken.

    >>> old = [Entry(1, "a", "", "+-."), Entry(2, "b", "", "++")]
    >>> new = [Entry(1, "a", "", "-.."), Entry(3, "c", "", "+")]
    >>> [(c.what.value, c.id, c.step, c.before, c.after) for c in compare(old, new)][:2]
    [('flipped', 'a', 0, 1, -1), ('retracted', 'a', 1, -1, None)]
    >>> [(c.what.value, c.id, c.step) for c in compare(old, new)][2:]
    [('retracted', 'b', None), ('added', 'c', None)]
    """
    counted = Counts() if counts is None else counts
    for old, new in _paired(before, after):
        for annotator in dict.fromkeys([*old, *new]):
            yield from _changes(old.get(annotator), new.get(annotator), counted)


def _paired(
    before: Iterable[Entry], after: Iterable[Entry]
) -> Iterator[tuple[dict[str, Entry], dict[str, Entry]]]:
    """The rows of each key, on both sides."""
    take_old, take_new = _groups(before), _groups(after)
    old, new = take_old(), take_new()
    while old or new:
        first: Any = min(next(iter(group.values())).key for group in (old, new) if group)
        here_old = old if old and next(iter(old.values())).key == first else {}
        here_new = new if new and next(iter(new.values())).key == first else {}
        yield here_old, here_new
        old = take_old() if here_old else old
        new = take_new() if here_new else new


def _groups(rows: Iterable[Entry]) -> Callable[[], dict[str, Entry]]:
    """Gives the rows of the next key by annotator each time it is called, {} at the end."""
    grouped = groupby(rows, key=attrgetter("key"))

    def take() -> dict[str, Entry]:
        return {row.annotator: row for row in next(grouped, (None, ()))[1]}

    return take


def _changes(old: Entry | None, new: Entry | None, counts: Counts) -> Iterator[Change]:
    if old is None or new is None or len(old.labels) != len(new.labels):
        for what, row in ((What.RETRACTED, old), (What.ADDED, new)):
            if row is not None:
                counts.rows[what] += 1
                gone = what is What.RETRACTED
                sides = (row.labels, None) if gone else (None, row.labels)
                yield Change(what, row.id, row.annotator, None, *sides)
        return
    if old.labels == new.labels:
        counts.same += 1
        return
    counts.changed += 1
    for step, (was, now) in enumerate(zip(old.labels, new.labels, strict=True)):
        if was != now:
            what = What.ADDED if was == "." else What.RETRACTED if now == "." else What.FLIPPED
            counts.steps[what] += 1
            yield Change(what, new.id, new.annotator, step, _LABELS[was], _LABELS[now])
