"""Opening a submission again: a new version, while the project allows it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotator.actions import labeling, queueing
from annotator.actions.access import Actor
from annotator.actions.labeling import AlreadyClosed, CannotReopen, NoSuchAssignment
from annotator.models import Annotation, Assignment, AuditEvent, Gold, Project, QueueRow
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def me(project: Project) -> Actor:
    return make.actor(project)


def hand_in(me: Actor, project: Project, *labels: int | None) -> Assignment:
    make.work(project)
    assignment = queueing.next_assignment(actor=me)
    labeling.submit(actor=me, assignment_id=assignment.pk, work=make.marked(*labels))
    return assignment


def as_if_handed_in(me: Actor, project: Project, ago: timedelta) -> Assignment:
    assignment = hand_in(me, project, 1, 1, 1)
    first = Annotation.objects.get(assignment=assignment)
    Annotation.objects.filter(pk=first.pk).update(current=False)
    values = {
        field.attname: getattr(first, field.attname)
        for field in Annotation._meta.concrete_fields
        if field.attname not in {"id", "submitted_at", "version", "current"}
    }
    Annotation.objects.create(**values, version=2, submitted_at=timezone.now() - ago)
    return assignment


def test_a_new_version_takes_the_place_of_the_one_before(me: Actor, project: Project) -> None:
    done = hand_in(me, project, 1, 1, 1)
    labeling.reopen(actor=me, assignment_id=done.pk)
    labeling.submit(actor=me, assignment_id=done.pk, work=make.marked(1, -1, None))
    rows = Annotation.objects.order_by("version").values_list("version", "current", "labels", "counted")
    assert list(rows) == [(1, False, [1, 1, 1], True), (2, True, [1, -1, None], True)]


def test_it_takes_no_second_slot(me: Actor, project: Project) -> None:
    done = hand_in(me, project, 1, 1, 1)
    labeling.reopen(actor=me, assignment_id=done.pk)
    labeling.submit(actor=me, assignment_id=done.pk, work=make.marked(1, -1, None))
    assert QueueRow.objects.get().taken == 1


def test_the_labels_come_back_as_the_draft(me: Actor, project: Project) -> None:
    done = hand_in(me, project, 1, -1, None)
    again = labeling.reopen(actor=me, assignment_id=done.pk)
    assert (again.draft["labels"], again.draft["finish_reason"]) == ([1, -1, None], "found_error")


def test_asking_twice_is_one_opening(me: Actor, project: Project) -> None:
    done = hand_in(me, project, 1, 1, 1)
    versions = [labeling.reopen(actor=me, assignment_id=done.pk).draft_version for _ in range(2)]
    assert versions[0] == versions[1]
    assert AuditEvent.objects.filter(name="annotation:reopened").count() == 1


def test_until_the_last_minute_of_the_window_it_opens(me: Actor, project: Project) -> None:
    done = as_if_handed_in(me, project, timedelta(hours=23, minutes=59))
    assert labeling.reopen(actor=me, assignment_id=done.pk).reopened


def test_after_the_window_it_stays_closed_and_says_why(me: Actor, project: Project) -> None:
    done = as_if_handed_in(me, project, timedelta(hours=24, minutes=1))
    with pytest.raises(CannotReopen, match="more than 24 hours ago; ask a manager"):
        labeling.reopen(actor=me, assignment_id=done.pk)


def test_where_the_project_allows_no_hours_nothing_opens(me: Actor, project: Project) -> None:
    done = hand_in(me, project, 1, 1, 1)
    Project.objects.update(reopen_hours=0)
    with pytest.raises(CannotReopen):
        labeling.reopen(actor=me, assignment_id=done.pk)


def test_practice_stays_closed_since_its_labels_were_shown(me: Actor, project: Project) -> None:
    item = make.gold(project)
    Gold.objects.filter(pk=item.pk).update(use=Gold.Use.PRACTICE)
    practice = queueing.next_practice(actor=me)
    labeling.submit(actor=me, assignment_id=practice.pk, work=make.marked(1, -1, None))
    with pytest.raises(CannotReopen):
        labeling.reopen(actor=me, assignment_id=practice.pk)


def test_what_was_never_handed_in_cannot_be_opened_again(me: Actor, project: Project) -> None:
    make.work(project)
    live = queueing.next_assignment(actor=me)
    with pytest.raises(CannotReopen, match="handed in"):
        labeling.reopen(actor=me, assignment_id=live.pk)


def test_nobody_opens_somebody_elses(me: Actor, project: Project) -> None:
    done = hand_in(me, project, 1, 1, 1)
    with pytest.raises(NoSuchAssignment):
        labeling.reopen(actor=make.actor(project), assignment_id=done.pk)


def test_left_as_it_was_it_takes_no_labels_any_more(me: Actor, project: Project) -> None:
    done = hand_in(me, project, 1, 1, 1)
    labeling.reopen(actor=me, assignment_id=done.pk)
    labeling.close_again(actor=me, assignment_id=done.pk)
    with pytest.raises(AlreadyClosed):
        labeling.submit(actor=me, assignment_id=done.pk, work=make.marked(1, -1, None))
    assert Annotation.objects.get().labels == [1, 1, 1]
