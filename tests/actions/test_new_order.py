"""Putting the queue in a scorer's order: in committed chunks, and with no say in the holdout's."""

from __future__ import annotations

import pytest

from annotator.actions import ordering, queueing
from annotator.models import Project, QueueRow, Score, ScorerVersion
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
