"""Taking turns: several lines of items, each in its own order, become one order in which like items stand apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from math import inf

#: How far ahead a line looks for an item that stands apart from its like.
LOOKAHEAD = 64


class Stream:
    """What has been taken: which items, and at which place each group of like items came last.

    ``group`` is one code from 0 an item; ``apart``: places between two of one group.
    """

    def __init__(self, group: Sequence[int], apart: int) -> None:
        self._group, self._apart = group, apart
        self._free_from = [0] * (max(group, default=-1) + 1)
        self.taken = bytearray(len(group))
        self.place = 0

    def take(self, item: int) -> None:
        """The item has the next place."""
        self.taken[item] = 1
        self._free_from[self._group[item]] = self.place + self._apart + 1
        self.place += 1

    def stands_apart(self, item: int) -> bool:
        """Whether none of its like has one of the last places."""
        return self._free_from[self._group[item]] <= self.place

    def can_take(self, item: int) -> bool:
        """Whether it is not taken and stands apart."""
        return not self.taken[item] and self._free_from[self._group[item]] <= self.place


class Line:
    """Items in one order. Those too close to their like wait, and come in the same order as soon as they may."""

    def __init__(self, items: Sequence[int]) -> None:
        self._items = items
        self._at = 0
        self._waiting: deque[int] = deque()

    def first(self, stream: Stream) -> int | None:
        """The next item, None where nothing is left. Whoever takes it says so to the stream."""
        taken, items, waiting = stream.taken, self._items, self._waiting
        if not waiting and self._at < len(items):
            item = items[self._at]  # nearly always, in a queue of a million
            if stream.can_take(item):
                return item
        while waiting and taken[waiting[0]]:
            waiting.popleft()
        if waiting and stream.stands_apart(waiting[0]):
            return waiting[0]
        while self._at < len(items) and len(waiting) < LOOKAHEAD:
            item = items[self._at]
            if not taken[item]:
                if stream.stands_apart(item):
                    return item
                waiting.append(item)
            self._at += 1
        while waiting and taken[waiting[0]]:
            waiting.popleft()
        return waiting[0] if waiting else self._rest(taken)

    def _rest(self, taken: bytearray) -> int | None:
        while self._at < len(self._items) and taken[self._items[self._at]]:
            self._at += 1
        return self._items[self._at] if self._at < len(self._items) else None

    def forward(self, stream: Stream) -> int | None:
        """As `first`, but what has to wait comes after all others, so that the others come strictly in order."""
        taken, items = stream.taken, self._items
        while self._at < len(items) and taken[items[self._at]]:
            self._at += 1
        for at in range(self._at, min(self._at + LOOKAHEAD, len(items))):
            if not taken[items[at]] and stream.stands_apart(items[at]):
                self._waiting.extend(items[self._at : at])
                self._at = at
                break
        if self._at < len(items):
            return items[self._at]
        while self._waiting and taken[self._waiting[0]]:
            self._waiting.popleft()
        return self._waiting[0] if self._waiting else None


class Turns:
    """Whose turn it is: the line furthest behind its share among those that have something left."""

    def __init__(self, shares: Mapping[str, float]) -> None:
        self._shares = dict(shares)
        self._due = dict.fromkeys(shares, 0.0)
        self._scale()

    def _scale(self) -> None:
        total = sum(self._shares.values())
        self._each = [(name, share, share / total) for name, share in self._shares.items()]
        #: Whether there are turns to take: one line alone is due one each time, and has it.
        self.several = len(self._each) > 1
        self._first = next(iter(self._shares), None)

    def next(self) -> str | None:
        """Each line's due grows by its share of one turn; the one that is due most has it, once `had` says so. None
        where no line has anything left."""
        if not self.several:
            return self._first
        due, best, most = self._due, self._first, -inf
        for name, share, _ in self._each:
            if due[name] + share > most:
                best, most = name, due[name] + share
        return best

    def had(self, name: str) -> None:
        """This line, of several, had its turn."""
        due = self._due
        for each, _, share in self._each:
            due[each] += share
        due[name] -= 1.0

    def drop(self, name: str) -> None:
        """This line has nothing left; the others share its turns."""
        del self._shares[name], self._due[name]
        self._scale()
