"""Outside a transaction an export's next chunk is read while the one before is written."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import pytest
from django.db import connection

from annotator.queries import leaving
from annotator.queries.beside import ahead
from annotator.queries.export_filters import LabelsFrom, Only
from tests import factories as make


@pytest.mark.django_db(transaction=True)
def test_each_solution_comes_once_and_in_order_however_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "CHUNK", 2)
    project = make.project()
    made = [make.solution(project).pk for _ in range(5)]

    assert not connection.in_atomic_block
    assert [each.pk for each in leaving.in_order(project.pk, Only(), LabelsFrom.CONSENSUS)] == made


def test_never_more_than_one_thing_is_made_ahead() -> None:
    made: list[int] = []

    def things() -> Iterator[int]:
        for number in range(6):
            made.append(number)
            yield number

    for thing in ahead(things()):
        assert len(made) <= thing + 2
    assert made == [*range(6)]


def test_the_next_is_made_while_the_caller_is_busy() -> None:
    begun = Event()

    def things() -> Iterator[str]:
        yield "first"
        begun.set()
        yield "second"

    taken = ahead(things())
    assert next(taken) == "first"
    assert begun.wait(60)
    assert list(taken) == ["second"]


def test_what_goes_wrong_beside_is_raised_where_it_is_asked_for() -> None:
    def things() -> Iterator[int]:
        yield 1
        raise LookupError("gone")

    taken = ahead(things())
    assert next(taken) == 1
    with pytest.raises(LookupError, match="gone"):
        next(taken)
