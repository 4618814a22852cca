"""Holdout solutions come in random order: no scorer has a say in which are labelled first."""

from __future__ import annotations

import pytest

from annotator.actions import queueing
from annotator.models import Project, QueueRow, Score, ScorerVersion
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(holdout_rate=1.0)


def scored(row: QueueRow, version: ScorerVersion, priority: float) -> None:
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


def test_a_new_order_leaves_the_holdout_as_it_was_drawn(project: Project) -> None:
    version = ScorerVersion.objects.create(
        scorer=project.scorers.get(), version="v1", measures="correctness", threshold=0.5
    )
    rows = [make.work(project, holdout=True, shuffle=shuffle) for shuffle in (0.1, 0.2, 0.3)]
    for row, priority in zip(rows, (0.1, 0.2, 0.3), strict=True):
        scored(row, version, priority)
    work = make.work(project, shuffle=0.9)
    scored(work, version, 0.4)
    queueing.reprioritize(version_id=version.pk)

    first = queueing.next_assignment(actor=make.actor(project))
    work.refresh_from_db()
    assert first.solution_id == rows[0].pk
    assert work.priority == pytest.approx(0.4)
    assert set(QueueRow.objects.filter(holdout=True).values_list("priority", "ranked_by")) == {
        (0, version.pk)
    }
