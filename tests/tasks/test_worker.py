"""A real worker in its own process: what it does, and what is left when it dies."""

from __future__ import annotations

import pytest

from annotator.actions import labeling, queueing
from annotator.actions.import_rows import LabelsAs
from annotator.models import Consensus, GoldResult, Job, Project, QueueRow, Score, Solution
from tests import factories as make
from tests.files import bring, native
from tests.tasks.workers import Worker, beat, empty, half_a_minute_passes, no_jobs_left, until, working

pytestmark = pytest.mark.django_db(transaction=True)

#: Enough that a kill finds the worker in the middle.
MANY = 400


def with_many_solutions() -> Project:
    project = make.project()
    steps = [f"Then {n} + {n} = {2 * n}, and {n} * 3 = {3 * n + n % 2}." for n in range(12)]
    bring(project, *[native(n, steps=[f"Case {n}.", *steps]) for n in range(MANY)])
    return project


def assert_all_is_scored_once(project: Project) -> None:
    assert Solution.objects.filter(project=project).count() == MANY
    assert Score.objects.filter(solution__project=project).count() == MANY
    assert not QueueRow.objects.filter(project=project, ranked_by=None).exists()
    assert not Job.objects.exists()


def test_imported_solutions_are_scored_and_the_queue_is_put_in_order(broker: str) -> None:
    with working(broker) as worker:
        project = with_many_solutions()
        until(no_jobs_left, "all jobs are done", log=worker.log)

    assert_all_is_scored_once(project)


def test_three_workers_killed_in_the_middle_lose_nothing_and_double_nothing(broker: str) -> None:
    project = with_many_solutions()
    for life in range(3):
        before = Score.objects.count()
        beat()
        worker = Worker(broker)
        until(lambda at=before: Score.objects.count() > at, "it has begun", log=worker.log)  # type: ignore[misc]
        worker.kill()
        assert Score.objects.count() < MANY, f"worker {life + 1} was too quick to be killed in the middle"
        half_a_minute_passes()

    with working(broker) as worker:
        until(no_jobs_left, "all jobs are done", log=worker.log)
    assert_all_is_scored_once(project)


def test_messages_that_are_lost_are_sent_again(broker: str) -> None:
    project = with_many_solutions()
    empty(broker)
    with working(broker) as worker:
        empty(broker)
        until(no_jobs_left, "all jobs are done", log=worker.log)

    assert_all_is_scored_once(project)


def test_after_a_submit_a_worker_makes_the_consensus_and_checks_the_gold(broker: str) -> None:
    project = make.project()
    actor = make.actor(project)
    with working(broker) as worker:
        row = make.work(project)
        work = queueing.next_assignment(actor=actor)
        labeling.submit(actor=actor, assignment_id=work.pk, work=make.marked(1, -1, None))
        until(no_jobs_left, "the consensus is there", log=worker.log)

        bring(project, native(0, 1, 1, -1), labels=LabelsAs.GOLD)
        Project.objects.filter(pk=project.pk).update(gold_rate=1.0)
        gold = queueing.next_assignment(actor=actor)
        labeling.submit(actor=actor, assignment_id=gold.pk, work=make.marked(1, 1, -1))
        until(no_jobs_left, "the gold is scored", log=worker.log)

    assert list(Consensus.objects.values_list("solution_id", "labels")) == [(row.pk, [1, -1, None])]
    assert list(GoldResult.objects.values_list("annotation__assignment_id", "item_right")) == [
        (gold.pk, True)
    ]
