"""Work beside the caller's, on connections of its own: what the database takes longest over uses a second core."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar, cast

from django.db import connection

LANES = 2
#: For less it is not worth while to open connections.
FEW = 8
Thing = TypeVar("Thing")
Found = TypeVar("Found")


def in_order(work: Callable[[Thing], Found], things: Sequence[Thing]) -> Generator[Found, None, None]:
    """What ``work`` returns of each thing, in order. A few of them are begun before they are asked for; who may stop
    asking closes this, which waits for those under way and leaves the others.

    Each lane is a thread with its own connection, so ``work`` sees what is committed and commits for itself. A few
    things, and those of somebody's transaction, are done one after the other on the caller's connection.
    """
    if len(things) < FEW or connection.in_atomic_block:
        yield from map(work, things)
        return
    lanes = [ThreadPoolExecutor(1, "lane") for _ in range(LANES)]
    begun: deque[Future[Found]] = deque()
    try:
        for place, thing in enumerate(things):
            begun.append(lanes[place % LANES].submit(work, thing))
            if len(begun) > 2 * LANES:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        for one in begun:
            one.cancel()
        for lane in lanes:
            lane.submit(_close)
        for lane in lanes:
            lane.shutdown()


def ahead(things: Iterator[Thing]) -> Generator[Thing, None, None]:
    """The same things: the next is made in a thread of its own while the caller is busy with the one before, never more
    than one ahead. Whoever stops asking waits for the one under way.

    The thread has its own connection, so what asks the database there sees what is committed, and is not for use within
    a transaction.
    """
    over = object()
    with ThreadPoolExecutor(1, "ahead") as lane:
        try:
            coming = lane.submit(next, things, over)
            while (thing := coming.result()) is not over:
                coming = lane.submit(next, things, over)
                yield cast(Thing, thing)
        finally:
            lane.submit(_close)


def _close() -> None:
    """Looked up in the thread that runs this: each has its own."""
    connection.close()
