"""A real worker in its own process, and what it does."""

from __future__ import annotations

import pytest

from annotator.actions import labeling, queueing
from annotator.actions.import_rows import LabelsAs
from annotator.models import Consensus, GoldResult, Project, Score
from tests import factories as make
from tests.brokers import DEAD, broker_at
from tests.files import bring, native
from tests.tasks.commands import DONE, Ended
from tests.tasks.workers import (
    Worker,
    assert_all_is_scored_once,
    empty,
    no_jobs_left,
    own_broker,
    until,
    with_many_solutions,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_imported_solutions_are_scored_and_the_queue_is_put_in_order(worker: Worker) -> None:
    project = with_many_solutions(100)
    until(no_jobs_left, "all jobs are done", log=worker.log)

    assert_all_is_scored_once(project, 100)


def test_what_came_while_the_broker_was_down_is_scored_once_it_is_back(worker: Worker) -> None:
    with broker_at(DEAD):
        project = with_many_solutions(100)
    assert not Score.objects.exists(), "nobody knows of it yet"
    until(no_jobs_left, "all jobs are done", log=worker.log)

    assert_all_is_scored_once(project, 100)


def test_a_broker_that_forgot_everything_stops_nobody(worker: Worker) -> None:
    project = with_many_solutions(100)
    empty(own_broker())
    until(no_jobs_left, "all jobs are done", log=worker.log)

    assert_all_is_scored_once(project, 100)


def test_after_a_submit_a_worker_makes_the_consensus_and_checks_the_gold(worker: Worker) -> None:
    project = make.project()
    actor = make.actor(project)
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


def test_score_solutions_waits_until_all_is_scored(worker: Worker) -> None:
    project = make.project()
    bring(project, *[native(n) for n in range(40)])
    ended = Ended("score_solutions", "--project", project.slug, "--wait", "--json")
    until(no_jobs_left, "all jobs are done", log=worker.log)

    said = ended.json
    assert ended.status == DONE
    assert said.keys() >= {"scorer", "version", "solutions", "steps", "failed", "seconds"}
    assert (said["scorer"], said["solutions"], said["steps"], said["failed"]) == ("builtin", 40, 120, 0)
