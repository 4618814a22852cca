"""Work on several connections at once: in order, each thing for itself, and no connection left behind."""

from __future__ import annotations

import time
from contextlib import closing
from threading import get_ident

import pytest
from django.db import connection, transaction

from annotator.queries.beside import FEW, LANES, ahead, in_order


def backend(_: object = None) -> int:
    """Which of the database's processes answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def still_connected(pids: set[int]) -> set[int]:
    """Those of the database's processes that are still there."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE pid = ANY(%s)", [list(pids)])
        return {pid for (pid,) in cursor.fetchall()}


@pytest.mark.django_db(transaction=True)
def test_answers_come_in_order_from_two_connections_that_are_closed_at_the_end() -> None:
    mine = backend()

    found = list(in_order(lambda n: (n, backend()), range(5 * FEW)))

    assert [n for n, _ in found] == list(range(5 * FEW))
    lanes = {pid for _, pid in found} - {mine}
    assert len(lanes) == LANES
    deadline = time.monotonic() + 30  # the database hears of it a moment later
    while still_connected(lanes) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not still_connected(lanes)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("taken", [1, 5])
def test_what_is_read_ahead_leaves_no_connection_whether_all_of_it_is_taken_or_not(taken: int) -> None:
    mine = backend()

    with closing(ahead(backend() for _ in range(5))) as things:
        found = {next(things) for _ in range(taken)}

    assert mine not in found
    deadline = time.monotonic() + 30
    while still_connected(found) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not still_connected(found)


@pytest.mark.django_db(transaction=True)
def test_what_goes_wrong_is_raised_and_ends_the_work() -> None:
    done: list[int] = []

    def work(n: int) -> int:
        if n == 3:
            raise ValueError("three")
        done.append(n)
        return n

    with pytest.raises(ValueError, match="three"):
        list(in_order(work, range(100)))

    assert {0, 1, 2} <= set(done)
    assert max(done) < 20


@pytest.mark.django_db(transaction=True)
def test_within_a_transaction_the_work_sees_what_it_has_written() -> None:
    with transaction.atomic():
        assert set(in_order(backend, range(5 * FEW))) == {backend()}


@pytest.mark.django_db(transaction=True)
def test_a_few_things_are_done_by_the_caller() -> None:
    assert set(in_order(lambda _: get_ident(), range(FEW - 1))) == {get_ident()}
