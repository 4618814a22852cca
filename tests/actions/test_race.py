"""Many people at once: never more labels than wanted, none lost, whatever is sent twice or runs out."""

from __future__ import annotations

import random
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from annotator.actions import labeling, queueing
from annotator.actions.access import Actor
from annotator.actions.queueing import NothingForYou
from annotator.models import Annotation, Assignment, QueueRow
from tests import factories as make

DOUBLE, LAPSE, ABANDON = 0.3, 0.1, 0.5
PATIENCE = 400


@dataclass
class Worker:
    """Labels until everything is done. Of what they claim, one lease in ten runs out; half of these they abandon."""

    actor: Actor
    chance: random.Random
    replies: list[tuple[int, int]] = field(default_factory=list)
    ended: str = ""

    def work(self) -> Worker:
        try:
            for _ in range(PATIENCE):
                try:
                    self.one(queueing.next_assignment(actor=self.actor, chance=self.chance))
                except NothingForYou as nothing:
                    self.ended = nothing.reason
                    if nothing.reason == "all_done" or not self.could_still_come():
                        return self
                    time.sleep(0.02)
        finally:
            connection.close()
        return self

    def could_still_come(self) -> bool:
        rows = QueueRow.objects.filter(project_id=self.actor.project_id)
        mine = Annotation.objects.filter(member_id=self.actor.member).values("solution_id")
        return (
            rows.open().exclude(solution_id__in=mine).exists()
            or Assignment.objects.filter(state="live").exists()
        )

    def one(self, assignment: Assignment) -> None:
        if self.chance.random() < LAPSE:
            Assignment.objects.filter(pk=assignment.pk).update(lease_expires_at=Now())
            if self.chance.random() < ABANDON:
                return
            queueing.reclaim(project_id=self.actor.project_id)
        client = uuid.uuid4()
        first = self.submit(assignment, client)
        if self.chance.random() < DOUBLE:
            self.replies.append((first, self.submit(assignment, client)))

    def submit(self, assignment: Assignment, client: uuid.UUID) -> int:
        done = labeling.submit(
            actor=self.actor, assignment_id=assignment.pk, work=make.marked(1, 1, 1), client_id=client
        )
        return done.annotation_id


def race(people: int, solutions: int, wanted: int) -> list[Worker]:
    project = make.project(labels_per_solution=wanted, audit_rate=0.1, holdout_rate=0.1)
    for number in range(solutions):
        make.work(project, wanted=wanted, holdout=number % 10 == 0)
    workers = [Worker(make.actor(project), random.Random(seed)) for seed in range(people)]
    with ThreadPoolExecutor(people) as pool:
        return list(pool.map(Worker.work, workers))


def assert_exact(workers: list[Worker], solutions: int, wanted: int) -> None:
    counted = Counter(Annotation.objects.filter(counted=True).values_list("solution_id", flat=True))
    assert (len(counted), set(counted.values())) == (solutions, {wanted})
    assert not QueueRow.objects.exclude(taken=F("wanted"), wanted=wanted).exists()
    twice = Counter(Annotation.objects.values_list("solution_id", "member_id"))
    assert set(twice.values()) == {1}
    assert all(first == second for worker in workers for first, second in worker.replies)
    assert not Annotation.objects.filter(counted=False).exclude(uncounted_reason="late").exists()


@pytest.mark.django_db(transaction=True)
def test_with_double_submits_and_lapsed_leases_each_solution_gets_exactly_its_labels() -> None:
    workers = race(people=10, solutions=30, wanted=3)

    assert_exact(workers, solutions=30, wanted=3)
    assert sum(len(worker.replies) for worker in workers) > 5
