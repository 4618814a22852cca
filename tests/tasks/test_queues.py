"""Queues apart: a worker does what its queues hold and leaves the rest to others."""

from __future__ import annotations

import pytest

from annotator import jobs
from annotator.actions import ordering, scoring
from annotator.models import Job, Project
from annotator.scorers import queue_of
from annotator.tasks import run_jobs
from tests import factories as make
from tests.tasks.workers import until, working_on

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("kind", "config", "queue"),
    [
        ("builtin", {}, "scoring"),
        ("builtin_refined", {}, "lm"),
        ("local", {"device": "cuda"}, "gpu"),
        ("local", {"device": "cpu"}, "scoring"),
        ("local", {}, "scoring"),
        ("vllm", {"url": "http://gpu1:8000"}, "remote"),
        ("sglang", {"url": "http://gpu1:8000"}, "remote"),
        ("critic", {"url": "http://gpu1:8000"}, "remote"),
    ],
)
def test_kind_and_settings_decide_who_scores(kind: str, config: dict[str, str], queue: str) -> None:
    assert queue_of(kind, config) == queue


def test_a_run_for_one_queue_leaves_the_others_alone() -> None:
    project = make.project()
    scoring.enqueue_scoring(scorer=project.scorers.get(), solution_ids=[make.work(project).pk])
    for queue in ("lm", "gpu", "remote"):
        nothing(queue)
    run_jobs("scoring")
    waiting = Job.objects.exclude(kind=ordering.REORDER)
    assert sorted(waiting.values_list("queue", flat=True)) == ["gpu", "lm", "remote"]


def test_a_worker_that_takes_one_queue_leaves_the_others_alone(broker: str) -> None:
    project = scored_by_builtin(make.project())
    nothing("lm")
    with working_on("lm", broker) as worker:
        jobs.reconcile()
        until(lambda: not Job.objects.filter(queue="lm").exists(), "its own job is done", log=worker.log)
    (left,) = Job.objects.filter(project=project)
    assert (left.queue, left.state, left.attempts) == ("scoring", "queued", 0)


def scored_by_builtin(project: Project) -> Project:
    scoring.enqueue_scoring(scorer=project.scorers.get(), solution_ids=[make.work(project).pk])
    return project


def nothing(queue: str) -> None:
    """A job that has nothing to do, in this queue."""
    jobs.enqueue(
        kind="quality.report",
        subject=f"nobody by {queue}",
        queue=queue,
        payload={"project_id": make.project().pk},
    )
