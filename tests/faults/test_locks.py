"""Nobody waits for a lock that has nothing to do with them, so that no two people can wait for each other."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from typing import Any

import orjson
import pytest
from django.db import OperationalError, connection, transaction
from django.db.models.functions import Now

from annotator.actions import access, imports, labeling, queueing, relabeling, standing
from annotator.actions.reserving import Where
from annotator.core.screening import Override
from annotator.models import Assignment, Guidelines, Membership, Problem, Project, QueueRow, Role, Solution
from tests import factories as make
from tests.actions.flow import label

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def locked_by_somebody(row: Any) -> Iterator[None]:
    """Another transaction holds the row for as long as the block runs, as a re-ranking does."""
    held, done = Event(), Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                type(row).objects.select_for_update().get(pk=row.pk)
                held.set()
                done.wait(30)
        finally:
            connection.close()

    thread = Thread(target=hold)
    thread.start()
    try:
        assert held.wait(10)
        yield
    finally:
        done.set()
        thread.join()


@pytest.fixture
def impatient() -> Iterator[None]:
    """Waiting for a lock for a second is an error."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '1s'")
    yield
    connection.close()


def test_a_person_whose_expired_work_was_done_by_others_does_not_wait_for_it(impatient: None) -> None:
    project = make.project()
    slow, quick = make.actor(project), make.actor(project)
    gone = make.work(project)
    queueing.next_assignment(actor=slow)
    Assignment.objects.update(lease_expires_at=Now() - timedelta(seconds=1))
    queueing.reclaim()
    done = queueing.next_assignment(actor=quick)
    labeling.submit(actor=quick, assignment_id=done.pk, work=make.marked(1, 1, 1))
    other = make.work(project)

    with locked_by_somebody(gone):
        assert queueing.next_assignment(actor=slow).solution_id == other.pk


def test_a_claim_goes_round_a_row_that_somebody_else_is_claiming(impatient: None) -> None:
    project = make.project()
    first, second = make.work(project, priority=0.9), make.work(project, priority=0.1)

    with locked_by_somebody(first):
        assert queueing.next_assignment(actor=make.actor(project)).solution_id == second.pk


def test_who_waits_for_a_row_holds_none_of_those_just_freed(impatient: None) -> None:
    project = make.project()
    slow, last = make.actor(project), make.actor(project)
    freed = make.work(project)
    skipped = queueing.next_assignment(actor=last)
    labeling.skip(actor=last, assignment_id=skipped.pk, reason="not my subject")
    queueing.next_assignment(actor=slow)
    Assignment.objects.filter(state="live").update(lease_expires_at=Now() - timedelta(seconds=1))
    held = make.work(project)

    with locked_by_somebody(held):
        with pytest.raises(OperationalError, match="lock timeout"):
            queueing.next_assignment(actor=last)
        freed.refresh_from_db()

    assert freed.taken == 0


def somebody_waits_for_a_lock() -> bool:
    """Whether a statement of ours comes to stand behind another's lock, within half a minute."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
                "WHERE NOT l.granted AND a.datname = current_database()"
            )
            if cursor.fetchone()[0]:
                return True
        time.sleep(0.01)
    return False


def closing_its_connection(work: Callable[..., object], *args: Any, **named: Any) -> None:
    """What a thread does. It reads tables as they lie, as PostgreSQL does where many of their rows are wanted."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET enable_indexscan = off; SET enable_bitmapscan = off")
        work(*args, **named)
    finally:
        connection.close()


def test_judging_anew_locks_rows_in_the_order_of_their_ids_however_many_slots_reopen() -> None:
    project = make.project()
    Guidelines.objects.create(project=project, version=1, text="old")
    first = make.work(project, wanted=2)
    label(make.actor(project)), label(make.actor(project))
    second = make.work(project)
    label(make.actor(project))
    Guidelines.objects.create(project=project, version=2, text="new")
    manager, where = make.actor(project, Role.MANAGER), Where(subject="algebra")
    Problem.objects.update(subject="algebra")

    anew = Thread(
        target=closing_its_connection, args=[relabeling.relabel], kwargs={"actor": manager, "where": where}
    )
    with locked_by_somebody(first):
        anew.start()
        assert somebody_waits_for_a_lock()
        with transaction.atomic():
            free = list(QueueRow.objects.locked(blocking=False).values_list("pk", flat=True))
    anew.join()

    assert free == [second.pk]
    assert set(QueueRow.objects.values_list("taken", flat=True)) == {0}


def imported(project: Project, **more: str) -> None:
    lines = [
        {"problem": {"text": text} | more, "steps": [text], "id": more.get("answer")}
        for text in ("one", "two")
    ]
    file = io.BytesIO(b"\n".join(map(orjson.dumps, lines)))
    imports.run(actor=access.operator(project), source=imports.Source(file, "more.jsonl", "native"))


@pytest.mark.parametrize("of", [Solution, Problem])
def test_an_import_that_fills_what_is_known_locks_it_in_the_order_of_its_ids(of: Any) -> None:
    project = make.project()
    imported(project)
    first, second = Solution.objects.order_by("pk")
    row, other = (first, second) if of is Solution else (first.problem, second.problem)
    of.objects.filter(pk=row.pk).update(external_id="")  # from now on it comes behind the other in the table

    more = Thread(target=closing_its_connection, args=[imported, project], kwargs={"answer": "6"})
    with locked_by_somebody(row):
        more.start()
        assert somebody_waits_for_a_lock()
        with transaction.atomic():
            free = list(of.objects.select_for_update(skip_locked=True).values_list("pk", flat=True))
    more.join()
    assert free == [other.pk]


def test_labels_that_count_again_lock_the_assignment_before_the_queue_row_as_a_submit_does() -> None:
    project = make.project()
    actor, row = make.actor(project), make.work(project)
    label(actor)
    with transaction.atomic():
        standing.quarantine(Membership.objects.get(pk=actor.member), since=None)
    manager = make.actor(project, Role.MANAGER)
    said = {
        "actor": manager,
        "member_id": actor.member,
        "word": Override.CLEAR,
        "reason": "",
        "restore": True,
    }

    clear = Thread(target=closing_its_connection, args=[standing.override], kwargs=said)
    with locked_by_somebody(Assignment.objects.get()):
        clear.start()
        assert somebody_waits_for_a_lock()
        with transaction.atomic():
            free = list(QueueRow.objects.locked(blocking=False).values_list("pk", flat=True))
    clear.join()

    assert free == [row.pk]
    row.refresh_from_db()
    assert row.taken == 1
