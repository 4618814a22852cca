"""A real worker that scores by a model server: killed in the middle, and with a broker that forgets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from annotator.models import Job, Project, Score
from tests import factories as make
from tests.files import bring, native
from tests.scorers.stub import Stub
from tests.tasks.workers import (
    Worker,
    assert_all_is_scored_once,
    beat,
    empty,
    half_a_minute_passes,
    no_jobs_left,
    own_broker,
    until,
    working,
)

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 300


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A server that takes a moment for each solution; the workers may talk to it."""
    server = Stub()
    server.tell("slow", seconds=0.02)
    monkeypatch.setenv("STEPMARK_SCORER_HOSTS", ",".join(server.hosts))
    yield server
    server.kill()


@pytest.fixture
def project(stub: Stub) -> Project:
    """Many solutions that only the model server scores."""
    made = make.project()
    made.scorers.update(kind="vllm", name="judge", config={"url": stub.url, "concurrency": 4})
    bring(made, *[native(n) for n in range(MANY)])
    return made


def test_a_worker_killed_while_a_server_scores_loses_nothing_and_doubles_nothing(
    broker: str, project: Project
) -> None:
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


def test_a_broker_that_forgets_in_the_middle_stops_nobody(broker: str, project: Project) -> None:
    beat()
    with working(broker) as worker:
        beat()
        until(Score.objects.exists, "it has begun", log=worker.log)
        assert Job.objects.exists(), "it is not done yet"
        empty(own_broker())
        until(no_jobs_left, "all jobs are done", log=worker.log)
    assert_all_is_scored_once(project, MANY)
