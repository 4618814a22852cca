"""A revision changes what a solution is owed as a first submit would: never more labels count than were wanted."""

from __future__ import annotations

import pytest

from annotator.actions import labeling, queueing
from annotator.actions.access import Actor
from annotator.actions.labeling import Work
from annotator.models import Annotation, Assignment, Project, QueueRow
from tests import factories as make

pytestmark = pytest.mark.django_db
GAVE_UP = Work([None, None, None], {"reason": "too far from my field"}, "give_up", 30.0)


@pytest.fixture
def project() -> Project:
    return make.project(labels_per_solution=1)


@pytest.fixture
def row(project: Project) -> QueueRow:
    return make.work(project)


def hand_in(actor: Actor, work: Work) -> Assignment:
    assignment = queueing.next_assignment(actor=actor)
    labeling.submit(actor=actor, assignment_id=assignment.pk, work=work)
    return assignment


def revise(actor: Actor, assignment: Assignment, work: Work) -> bool:
    labeling.reopen(actor=actor, assignment_id=assignment.pk)
    return labeling.submit(actor=actor, assignment_id=assignment.pk, work=work).counted


def counted() -> int:
    return Annotation.objects.filter(counted=True, current=True).exclude(finish_reason="give_up").count()


def taken(row: QueueRow) -> int:
    row.refresh_from_db()
    return row.taken


def test_who_gave_up_and_thinks_again_takes_the_slot_that_is_still_free(
    project: Project, row: QueueRow
) -> None:
    actor = make.actor(project)
    assignment = hand_in(actor, GAVE_UP)
    assert taken(row) == 0

    assert revise(actor, assignment, make.marked(1, 1, 1))
    assert (taken(row), counted()) == (1, 1)


def test_who_gave_up_and_thinks_again_too_late_does_not_count(project: Project, row: QueueRow) -> None:
    slow, quick = make.actor(project), make.actor(project)
    assignment = hand_in(slow, GAVE_UP)
    hand_in(quick, make.marked(1, 1, 1))

    assert not revise(slow, assignment, make.marked(1, -1, None))
    assert (taken(row), counted()) == (1, 1)
    assert Annotation.objects.get(member_id=slow.member, current=True).uncounted_reason == "late"


def test_who_gives_up_on_second_thoughts_leaves_the_slot_to_somebody_else(
    project: Project, row: QueueRow
) -> None:
    first, second = make.actor(project), make.actor(project)
    assignment = hand_in(first, make.marked(1, 1, 1))
    revise(first, assignment, GAVE_UP)
    assert taken(row) == 0

    hand_in(second, make.marked(1, 1, 1))
    assert (taken(row), counted()) == (1, 1)
