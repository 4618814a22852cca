"""What tests of distribution and quality share: people who work, clocks that move, jobs that run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import F

from annotator import jobs, tasks
from annotator.actions import labeling, queueing
from annotator.actions.access import Actor
from annotator.actions.labeling import Submitted
from annotator.actions.queueing import NothingForYou
from annotator.models import Annotation, Assignment, Gold, GoldResult, Job, Membership, Project
from tests import factories as make


class Draws(random.Random):
    """Chance that says what the test wants: the draw for a check, then the draw for a route; again and again."""

    def __init__(self, *, check: float = 0.9, route: float = 1.0) -> None:
        super().__init__()
        self._draws = [check, route]
        self._at = 0

    def random(self) -> float:
        self._at += 1
        return self._draws[(self._at - 1) % 2]


#: Reports over the whole project, which have tests of their own.
SLOW = {"quality.report", "consensus.recompute_all"}
#: A check among work; work; the repeat of an own solution.
CHECK, WORK, REPEAT = Draws(check=0.0), Draws(check=0.5), Draws(check=0.9999)


def claim(actor: Actor, chance: random.Random = WORK) -> Assignment:
    return queueing.next_assignment(actor=actor, chance=chance)


def hand_in(actor: Actor, assignment: Assignment, *labels: int | None, **fields: Any) -> Submitted:
    """Submit these labels, else "all correct"; then run what follows."""
    said = labels or tuple([1] * assignment.solution.n_steps)
    done = labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(*said, **fields))
    run_jobs()
    return done


def label(actor: Actor, *labels: int | None, chance: random.Random = WORK, **fields: Any) -> Assignment:
    assignment = claim(actor, chance)
    hand_in(actor, assignment, *labels, **fields)
    return assignment


def nothing(actor: Actor, chance: random.Random = WORK) -> str:
    """Why there is nothing for this person; a test fails where there is something."""
    try:
        found = claim(actor, chance)
    except NothingForYou as none:
        return none.reason
    raise AssertionError(f"got {found.solution} for {found.purpose}")


def run_jobs() -> None:
    """Do all due jobs, and fail where one fails."""
    for queue in Job.objects.filter(state=Job.State.QUEUED).values_list("queue", flat=True).distinct():
        while (job := jobs.claim(queue)) is not None:
            if job.kind not in SLOW:
                tasks.HANDLERS[job.kind](job)
            jobs.finish(job)


def later(**passed: float) -> None:
    """Let time pass: everything that was claimed or handed in is that much older."""
    gone = timedelta(**passed)
    Assignment.objects.update(
        claimed_at=F("claimed_at") - gone, lease_expires_at=F("lease_expires_at") - gone
    )
    with connection.cursor() as cursor:  # the database refuses to change what was handed in
        cursor.execute("SET session_replication_role = replica")
        Annotation.objects.update(submitted_at=F("submitted_at") - gone)
        cursor.execute("SET session_replication_role = origin")


def lapse(assignment: Assignment) -> None:
    """The lease of one assignment runs out, and the slot comes back."""
    Assignment.objects.filter(pk=assignment.pk).update(
        lease_expires_at=F("lease_expires_at") - timedelta(days=1)
    )
    queueing.reclaim()


def checked(member: Membership, outcomes: Sequence[bool], item: Gold | None = None) -> None:
    """Give a person results on hidden gold, in this order, and follow their standing."""
    from annotator.actions import screening

    for right in outcomes:
        gold = item or make.gold(member.project)
        assignment = Assignment.objects.create(
            project=member.project,
            solution_id=gold.pk,
            member=member,
            purpose=Assignment.Purpose.GOLD,
            state=Assignment.State.SUBMITTED,
            lease_expires_at=gold.created_at,
        )
        labels = [1, -1, None] if right else [1, 1, 1]
        annotation = Annotation.objects.create(
            solution_id=gold.pk,
            member=member,
            assignment=assignment,
            n_steps=3,
            labels=labels,
            stop=1 if right else -1,
            finish_reason="found_error" if right else "solution",
        )
        screening.score_gold(annotation_id=annotation.pk)
    member.refresh_from_db()


def results(project: Project) -> list[bool | None]:
    return list(GoldResult.objects.filter(member__project=project).values_list("item_right", flat=True))
