"""Putting the queue in a scorer's order: in committed chunks, and with no say in the holdout's."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from django.db import IntegrityError, connection, transaction

from annotator.actions import ordering, queueing
from annotator.models import Project, QueueRow, Score, ScorerVersion
from annotator.queries.pool import Placed
from tests import factories as make


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def version(project: Project) -> ScorerVersion:
    return ScorerVersion.objects.create(
        scorer=project.scorers.get(), version="v1", measures="correctness", threshold=0.5
    )


def scored(row: QueueRow, version: ScorerVersion, priority: float) -> QueueRow:
    Score.objects.create(
        solution=row.solution,
        version=version,
        n_steps=3,
        values=[0.5] * 3,
        spread=[0.1] * 3,
        priority=priority,
        tiebreak=0.1,
        predicted_stop=-1,
    )
    return row


@pytest.mark.django_db(transaction=True)
def test_new_priorities_are_written_in_committed_chunks(project: Project, version: ScorerVersion) -> None:
    for _ in range(5):
        scored(make.work(project), version, 0.25)

    assert ordering.reprioritize(version_id=version.pk, chunk=2) == 5
    assert ordering.reprioritize(version_id=version.pk, chunk=2) == 0
    assert set(QueueRow.objects.values_list("priority", flat=True)) == {0.25}


@pytest.mark.django_db(transaction=True)
def test_a_long_order_is_written_on_connections_of_its_own(project: Project, version: ScorerVersion) -> None:
    rows = [scored(make.work(project), version, n / 100) for n in range(20)]

    assert ordering.reprioritize(version_id=version.pk, chunk=2) == 20
    assert ordering.reprioritize(version_id=version.pk, chunk=2) == 0
    written = dict(QueueRow.objects.values_list("pk", "priority"))
    assert written == {row.pk: n / 100 for n, row in enumerate(rows)}


@pytest.mark.django_db(transaction=True)
def test_who_stops_a_long_order_leaves_the_rest_as_it_stands(
    project: Project, version: ScorerVersion
) -> None:
    for n in range(40):
        scored(make.work(project), version, n / 100)
    calls = iter(range(100))

    def stop() -> None:
        if next(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ordering.reprioritize(version_id=version.pk, chunk=1, progress=stop)

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("lane")]
    assert 3 <= QueueRow.objects.filter(ranked_by=version).count() < 20
    assert ordering.reprioritize(version_id=version.pk) > 20  # the order's lock is free again


@pytest.mark.django_db
@pytest.mark.parametrize("number", [1, 3, 500])
def test_rows_are_locked_one_by_one_in_the_order_of_their_ids(project: Project, number: int) -> None:
    numbers = "{" + ",".join(["1"] * number) + "}"
    with connection.cursor() as cursor:
        cursor.execute(ordering.ONE_BY_ONE)
        cursor.execute("EXPLAIN " + ordering.WRITTEN, [[""], *[numbers] * 5])
        steps = [line for (line,) in cursor.fetchall() if "->" in line]

    assert ["Nested Loop" in steps[0], "Function Scan" in steps[1], "_pkey" in steps[2]] == [True] * 3
    assert len(steps) == 3


@pytest.mark.django_db(transaction=True)
def test_how_rows_are_looked_up_is_told_for_a_chunk_alone(project: Project, version: ScorerVersion) -> None:
    scored(make.work(project), version, 0.25)
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        ordering.reprioritize(version_id=version.pk)

    assert ordering.reprioritize(version_id=version.pk) == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('enable_hashjoin')")
        assert cursor.fetchone() == ("on",)


@pytest.mark.django_db
def test_no_row_comes_to_stand_by_a_version_that_is_gone(project: Project, version: ScorerVersion) -> None:
    row = make.work(project)
    one = np.array([row.pk])
    gone = Placed(np.array([version.pk + 1]), np.array([0]), np.array([0.5]), np.array([0.0]))

    with pytest.raises(ScorerVersion.DoesNotExist):
        ordering._write(one, gone)
    assert QueueRow.objects.get(pk=row.pk).ranked_by_id is None


@pytest.mark.django_db
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_no_row_is_left_behind_wherever_the_chunks_end(
    project: Project, version: ScorerVersion, number: int
) -> None:
    for _ in range(number):
        scored(make.work(project), version, 0.25)

    assert ordering.reprioritize(version_id=version.pk, chunk=2) == number
    assert not QueueRow.objects.filter(ranked_by=None).exists()


@pytest.mark.django_db
def test_a_version_that_rows_stand_by_is_kept_by_the_database(
    project: Project, version: ScorerVersion
) -> None:
    other = ScorerVersion.objects.create(
        scorer=version.scorer, version="v2", measures="correctness", threshold=0.5
    )
    QueueRow.objects.filter(pk=make.work(project).pk).update(ranked_by=version)

    with pytest.raises(IntegrityError, match="stand by"), transaction.atomic():
        ScorerVersion.objects.filter(pk=version.pk)._raw_delete("default")
    assert ScorerVersion.objects.filter(pk=other.pk)._raw_delete("default") == 1


@pytest.mark.django_db
def test_the_holdout_stays_in_random_order(project: Project, version: ScorerVersion) -> None:
    Project.objects.filter(pk=project.pk).update(holdout_rate=1.0)
    first, second = (make.work(project, holdout=True, shuffle=shuffle) for shuffle in (0.1, 0.2))
    scored(first, version, 0.1), scored(second, version, 0.6)
    work = scored(make.work(project), version, 0.4)
    ordering.reprioritize(version_id=version.pk)

    work.refresh_from_db()
    assert work.priority == 0.4
    assert set(QueueRow.objects.filter(holdout=True).values_list("priority", "ranked_by")) == {
        (0, version.pk)
    }
    assert queueing.next_assignment(actor=make.actor(project)).solution_id == first.pk
