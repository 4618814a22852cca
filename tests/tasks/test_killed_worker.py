"""A worker dies in the middle of its work, as when memory runs out."""

from __future__ import annotations

import pytest

from annotator.models import Score
from tests.tasks.workers import (
    Worker,
    assert_all_is_scored_once,
    beat,
    half_a_minute_passes,
    no_jobs_left,
    until,
    with_many_solutions,
    working,
)

pytestmark = pytest.mark.django_db(transaction=True)

#: Enough that a kill finds the worker in the middle.
MANY = 400


def test_workers_killed_in_the_middle_lose_nothing_and_double_nothing(broker: str) -> None:
    project = with_many_solutions(MANY)
    for life in range(2):
        before = Score.objects.count()
        beat()
        worker = Worker(broker)
        try:
            until(lambda at=before: Score.objects.count() > at, "it has begun", log=worker.log)  # type: ignore[misc]
        finally:
            worker.kill()
        assert Score.objects.count() < MANY, f"worker {life + 1} was too quick to be killed in the middle"
        half_a_minute_passes()

    with working(broker) as worker:
        until(no_jobs_left, "all jobs are done", log=worker.log)
    assert_all_is_scored_once(project, MANY)
