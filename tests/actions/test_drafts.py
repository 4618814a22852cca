"""Unfinished work: drafts, their versions, and what goes with the labels."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from annotator.actions import labeling, queueing
from annotator.actions.access import Actor
from annotator.actions.labeling import AlreadyClosed, NoSuchAssignment, StaleDraft, Work
from annotator.core.labels import InvalidLabels
from annotator.models import Assignment
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor() -> Actor:
    project = make.project()
    make.work(project)
    return make.actor(project)


@pytest.fixture
def assignment(actor: Actor) -> Assignment:
    return queueing.next_assignment(actor=actor)


def save(actor: Actor, assignment: Assignment, work: Work, version: int = 0) -> int:
    return labeling.save_draft(actor=actor, assignment_id=assignment.pk, work=work, version=version)


def kept(assignment: Assignment) -> list[int | None]:
    assignment.refresh_from_db()
    labels: list[int | None] = assignment.draft["labels"]
    return labels


def test_each_draft_has_the_next_version(actor: Actor, assignment: Assignment) -> None:
    assert save(actor, assignment, make.marked(1, None, None), 0) == 1
    assert save(actor, assignment, make.marked(1, -1, None), 1) == 2
    assert kept(assignment) == [1, -1, None]


def test_a_draft_of_another_tab_is_not_overwritten(actor: Actor, assignment: Assignment) -> None:
    save(actor, assignment, make.marked(1, None, None), 0)
    with pytest.raises(StaleDraft) as stale:
        save(actor, assignment, make.marked(-1, None, None), 0)

    assert (stale.value.assignment.draft_version, kept(assignment)) == (1, [1, None, None])


def test_a_draft_whose_reply_was_lost_may_be_sent_again(actor: Actor, assignment: Assignment) -> None:
    save(actor, assignment, make.marked(1, None, None), 0)

    assert save(actor, assignment, make.marked(1, None, None), 0) == 1


def test_a_draft_renews_the_lease(actor: Actor, assignment: Assignment) -> None:
    Assignment.objects.update(lease_expires_at=Now() - timedelta(seconds=1))
    save(actor, assignment, make.marked(1, None, None))

    assignment.refresh_from_db()
    assert assignment.lease_expires_at > timezone.now()


def test_the_draft_outlives_the_lease_and_comes_back_with_the_assignment(
    actor: Actor, assignment: Assignment
) -> None:
    save(actor, assignment, make.marked(1, None, None))
    Assignment.objects.update(lease_expires_at=Now() - timedelta(seconds=1))
    queueing.reclaim()

    again = queueing.next_assignment(actor=actor)

    assert (again.pk, again.draft["labels"]) == (assignment.pk, [1, None, None])


def test_a_draft_of_an_expired_assignment_is_kept_without_taking_its_slot_back(
    actor: Actor, assignment: Assignment
) -> None:
    Assignment.objects.update(lease_expires_at=Now() - timedelta(seconds=1))
    queueing.reclaim()
    save(actor, assignment, make.marked(1, None, None))

    assert kept(assignment) == [1, None, None]
    assert (assignment.state, assignment.slot) == ("expired", None)


def test_there_is_no_draft_after_the_submit(actor: Actor, assignment: Assignment) -> None:
    labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(1, 1, 1))
    with pytest.raises(AlreadyClosed):
        save(actor, assignment, make.marked(1, 1, None))


def test_nobody_else_can_write_a_draft(actor: Actor, assignment: Assignment) -> None:
    with pytest.raises(NoSuchAssignment):
        save(make.actor(assignment.project), assignment, make.marked(1, None, None))


def test_a_draft_may_hold_what_undo_may_need(actor: Actor, assignment: Assignment) -> None:
    save(actor, assignment, make.marked(None, -1, 1))

    assert kept(assignment) == [None, -1, 1]


@pytest.mark.parametrize("labels", [[1, 2, None], [1], [1, "1", None], [1, False, None]])
def test_a_draft_never_holds_what_could_not_be_a_label(
    actor: Actor, assignment: Assignment, labels: list[Any]
) -> None:
    with pytest.raises(InvalidLabels):
        save(actor, assignment, Work(labels, {}, "", 0.0))


def test_details_are_kept_in_one_shape(actor: Actor, assignment: Assignment) -> None:
    details = {"unsure": [2, 0, 2], "comments": {"0": "why?", "1": "  "}, "reason": " too long "}
    labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(1, 1, 1, details=details))

    assert assignment.annotations.get().details == {
        "unsure": [0, 2],
        "comments": {"0": "why?"},
        "reason": "too long",
    }


@pytest.mark.parametrize(
    "details",
    [
        {"mood": "bad"},
        {"unsure": [3]},
        {"unsure": [-1]},
        {"unsure": [True]},
        {"unsure": "0"},
        {"unsure": [[0]]},
        {"comments": ["why?"]},
        {"comments": {"3": "past the end"}},
        {"comments": {"-1": "before the start"}},
        {"comments": {"²": "no number"}},
        {"comments": {"0": 7}},
        {"comments": {"0": "x" * 4_001}},
        {"comments": {"0": "NUL \0"}},
        {"reason": None},
        {"reason": "x" * 4_001},
        {"reason": "half a pair \ud800"},
        {"comments": {"0": "half a pair \ud800"}},
    ],
)
@pytest.mark.parametrize(
    "verb", [partial(labeling.save_draft, version=0), labeling.submit], ids=["draft", "submit"]
)
def test_unknown_or_unfit_details_are_refused(
    actor: Actor, assignment: Assignment, details: dict[str, Any], verb: Any
) -> None:
    with pytest.raises(InvalidLabels):
        verb(actor=actor, assignment_id=assignment.pk, work=make.marked(1, 1, 1, details=details))
