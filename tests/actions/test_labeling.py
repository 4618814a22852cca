"""Submitting and skipping: what a person does with an assignment."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from annotator.actions import labeling, queueing
from annotator.actions.access import Actor, NotAllowed, operator
from annotator.actions.labeling import AlreadyClosed, NoSuchAssignment, Submitted, Work
from annotator.core.labels import InvalidLabels, Mode
from annotator.models import (
    Annotation,
    Assignment,
    AuditEvent,
    Guidelines,
    Job,
    Membership,
    Project,
    QueueRow,
)
from tests import factories as make
from tests.brokers import DEAD, broker_at

pytestmark = pytest.mark.django_db


def handed(project: Project, actor: Actor | None = None, **work: Any) -> tuple[Actor, Assignment]:
    """A person with a solution of three steps in hand."""
    actor = actor or make.actor(project)
    make.work(project, **work)
    return actor, queueing.next_assignment(actor=actor)


def submit(actor: Actor, assignment: Assignment, work: Work, client_id: uuid.UUID | None = None) -> Submitted:
    return labeling.submit(actor=actor, assignment_id=assignment.pk, work=work, client_id=client_id)


def let_expire(assignment: Assignment) -> None:
    """Its lease runs out and its slot is freed."""
    Assignment.objects.filter(pk=assignment.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
    queueing.reclaim()


def stored() -> tuple[list[int | None], int | None, str]:
    annotation = Annotation.objects.get()
    return annotation.labels, annotation.stop, annotation.finish_reason


def test_a_found_error_ends_the_labels_and_is_the_stop() -> None:
    actor, assignment = handed(make.project())
    submit(actor, assignment, make.marked(1, -1, None))

    assert stored() == ([1, -1, None], 1, "found_error")


def test_a_solution_without_an_error_has_every_step_judged() -> None:
    actor, assignment = handed(make.project())
    submit(actor, assignment, make.marked(1, 0, 1))

    assert stored() == ([1, 0, 1], -1, "solution")


def test_in_all_steps_judging_goes_on_after_an_error() -> None:
    actor, assignment = handed(make.project(mode=Mode.ALL_STEPS))
    submit(actor, assignment, make.marked(1, -1, 1, reason="solution"))

    assert stored() == ([1, -1, 1], 1, "solution")


def test_context_takes_no_label_and_is_not_missing() -> None:
    actor, assignment = handed(make.project(), kinds=["reasoning", "observation", "reasoning"])
    submit(actor, assignment, make.marked(1, None, 1))

    assert stored() == ([1, None, 1], -1, "solution")


@pytest.mark.parametrize("reason", ["give_up", "bad_problem"])
@pytest.mark.parametrize("mode", list(Mode))
def test_giving_up_and_bad_problems_may_be_partial(reason: str, mode: Mode) -> None:
    actor, assignment = handed(make.project(mode=mode))
    submit(actor, assignment, make.marked(1, None, None, reason=reason, details={"reason": "no idea"}))

    assert stored() == ([1, None, None], None, reason)


@pytest.mark.parametrize(
    ("mode", "work"),
    [
        pytest.param(Mode.FIRST_ERROR, make.marked(1, None, 1), id="a gap"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, None, -1), id="a gap before the error"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, 1, None), id="the last step"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, -1, 1), id="a label after the error"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, 1, 1, reason="found_error"), id="no error"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, -1, None, reason="solution"), id="an error"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, 1), id="too few"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, 1, 1, 1), id="too many"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, 2, 1), id="no label"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, True, 1), id="true is no label"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, 1, 1, reason="bored"), id="no reason"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, reason="give_up"), id="giving up with too few"),
        pytest.param(Mode.FIRST_ERROR, make.marked(1, 1, None, reason="give_up"), id="no word why"),
        pytest.param(
            Mode.FIRST_ERROR,
            make.marked(1, 1, None, reason="bad_problem", details={"reason": " \n"}),
            id="blank words why",
        ),
        pytest.param(Mode.ALL_STEPS, make.marked(1, -1, None, reason="solution"), id="a gap at the end"),
        pytest.param(Mode.ALL_STEPS, make.marked(1, -1, 1, reason="found_error"), id="not how it ends"),
    ],
)
def test_labels_that_break_a_rule_leave_the_assignment_as_it_was(mode: Mode, work: Work) -> None:
    actor, assignment = handed(make.project(mode=mode))
    with pytest.raises(InvalidLabels):
        submit(actor, assignment, work)

    assignment.refresh_from_db()
    assert (assignment.state, Annotation.objects.count(), Job.objects.count()) == ("live", 0, 0)


def test_the_error_names_the_step_that_has_no_label_yet() -> None:
    actor, assignment = handed(make.project())
    with pytest.raises(InvalidLabels, match="step 2 has no label yet") as invalid:
        submit(actor, assignment, make.marked(1, None, 1))

    assert invalid.value.step == 1


def test_a_submit_is_written_to_the_audit_log_and_asks_for_its_follow_up() -> None:
    actor, assignment = handed(make.project())
    done = submit(actor, assignment, make.marked(1, 1, 1))

    event = AuditEvent.objects.get(name="annotation:submitted")
    job = Job.objects.get()
    assert (event.member_id, event.subject) == (actor.member, f"annotation {done.annotation_id}")
    assert (job.kind, job.payload) == ("labeling.follow_up", {"annotation_id": done.annotation_id})


def test_an_annotation_points_to_the_guidelines_that_were_in_force() -> None:
    project = make.project(guidelines="Judge each step.")
    newest = Guidelines.objects.create(project=project, version=2, text="Judge each step alone.")
    actor, assignment = handed(project)
    submit(actor, assignment, make.marked(1, 1, 1))

    assert Annotation.objects.get().guidelines == newest


@pytest.mark.parametrize(("told", "kept"), [(12.5, 12.5), (-3.0, 0.0), (float("nan"), 0.0), (1e9, 21_600.0)])
def test_the_time_is_kept_within_reason(told: float, kept: float) -> None:
    actor, assignment = handed(make.project())
    submit(actor, assignment, Work([1, 1, 1], {}, "solution", told))

    assert Annotation.objects.get().active_seconds == kept


def test_the_same_request_again_gets_the_same_answer() -> None:
    actor, assignment = handed(make.project())
    client_id = uuid.uuid4()
    first = submit(actor, assignment, make.marked(1, 1, 1), client_id)
    second = submit(actor, assignment, make.marked(1, 1, 1), client_id)

    assert (second, Annotation.objects.count()) == (first, 1)


@pytest.mark.parametrize("client_id", [uuid.uuid4(), None])
def test_another_submit_after_the_first_is_refused(client_id: uuid.UUID | None) -> None:
    actor, assignment = handed(make.project())
    submit(actor, assignment, make.marked(1, 1, 1), uuid.uuid4())
    with pytest.raises(AlreadyClosed):
        submit(actor, assignment, make.marked(1, -1, None), client_id)

    assert stored()[0] == [1, 1, 1]


def test_two_requests_without_an_id_are_two_requests() -> None:
    actor, assignment = handed(make.project())
    submit(actor, assignment, make.marked(1, 1, 1))
    with pytest.raises(AlreadyClosed):
        submit(actor, assignment, make.marked(1, 1, 1))


def test_a_late_submit_counts_while_its_slot_is_free() -> None:
    actor, assignment = handed(make.project())
    let_expire(assignment)

    done = submit(actor, assignment, make.marked(1, 1, 1))

    assignment.refresh_from_db()
    assert (done.counted, assignment.state, assignment.slot) == (True, "submitted", 0)
    assert QueueRow.objects.get().taken == 1


def test_a_late_submit_is_kept_but_does_not_count_once_its_slot_is_taken() -> None:
    project = make.project()
    actor, assignment = handed(project)
    let_expire(assignment)
    quicker = make.actor(project)
    submit(quicker, queueing.next_assignment(actor=quicker), make.marked(1, 1, 1))

    done = submit(actor, assignment, make.marked(1, -1, None))

    late = Annotation.objects.get(pk=done.annotation_id)
    assert (done.counted, late.counted, late.uncounted_reason) == (False, False, "late")
    assert QueueRow.objects.get().taken == 1


def test_a_lease_that_ran_out_unnoticed_is_as_good_as_live() -> None:
    actor, assignment = handed(make.project())
    Assignment.objects.update(lease_expires_at=Now() - timedelta(seconds=1))

    assert submit(actor, assignment, make.marked(1, 1, 1)).counted


def pause(actor: Actor) -> Actor:
    member = Membership.objects.get(pk=actor.member)
    member.state = Membership.State.PAUSED
    member.save()
    return make.as_actor(member)


def test_labels_of_somebody_who_was_paused_meanwhile_are_kept_but_do_not_count() -> None:
    actor, assignment = handed(make.project())
    done = submit(pause(actor), assignment, make.marked(1, 1, 1))

    assert not done.counted
    assert Annotation.objects.get().uncounted_reason == "paused"


@pytest.mark.parametrize("expired", [False, True])
def test_labels_that_do_not_count_leave_their_slot_to_somebody_else(expired: bool) -> None:
    project = make.project()
    actor, assignment = handed(project)
    if expired:
        let_expire(assignment)
    submit(pause(actor), assignment, make.marked(1, 1, 1))

    assert queueing.next_assignment(actor=make.actor(project)).solution_id == assignment.solution_id


def test_somebody_elses_assignment_looks_like_none() -> None:
    project = make.project()
    _, assignment = handed(project)
    with pytest.raises(NoSuchAssignment):
        submit(make.actor(project), assignment, make.marked(1, 1, 1))


def test_another_projects_assignment_looks_like_none() -> None:
    project, other = make.project(), make.project()
    actor, assignment = handed(project)
    membership = make.member(other, user=Membership.objects.get(pk=actor.member).user)
    with pytest.raises(NoSuchAssignment):
        submit(make.as_actor(membership), assignment, make.marked(1, 1, 1))


def test_an_assignment_that_never_was_looks_like_none() -> None:
    actor, assignment = handed(make.project())
    assignment.pk = uuid.uuid4()
    with pytest.raises(NoSuchAssignment):
        submit(actor, assignment, make.marked(1, 1, 1))


def test_the_servers_operator_submits_nothing() -> None:
    project = make.project()
    _, assignment = handed(project)
    with pytest.raises(NotAllowed):
        submit(operator(project), assignment, make.marked(1, 1, 1))


def skip(actor: Actor, assignment: Assignment, reason: str = "not my field") -> None:
    labeling.skip(actor=actor, assignment_id=assignment.pk, reason=reason)


def test_a_skipped_solution_goes_to_somebody_else_and_keeps_the_reason() -> None:
    project = make.project()
    actor, assignment = handed(project)
    skip(actor, assignment)

    assignment.refresh_from_db()
    assert (assignment.state, assignment.slot, assignment.skip_reason) == ("skipped", None, "not my field")
    assert queueing.next_assignment(actor=make.actor(project)).solution_id == assignment.solution_id


def test_a_skip_twice_frees_one_slot() -> None:
    project = make.project()
    actor, assignment = handed(project, wanted=2)
    queueing.next_assignment(actor=make.actor(project))
    skip(actor, assignment), skip(actor, assignment)

    assert QueueRow.objects.get().taken == 1


def test_a_skip_after_the_lease_ran_out_frees_no_second_slot() -> None:
    project = make.project()
    actor, assignment = handed(project, wanted=2)
    queueing.next_assignment(actor=make.actor(project))
    let_expire(assignment)
    skip(actor, assignment)

    assert QueueRow.objects.get().taken == 1


@pytest.mark.parametrize("reason", ["  ", "NUL \0", "half a pair \ud800", "x" * 4_001])
def test_a_skip_says_why_in_words_that_can_be_kept(reason: str) -> None:
    actor, assignment = handed(make.project())
    with pytest.raises(InvalidLabels, match="why you skip"):
        skip(actor, assignment, reason)


def test_what_was_submitted_is_not_skipped_and_what_was_skipped_not_submitted() -> None:
    project = make.project()
    actor, assignment = handed(project)
    submit(actor, assignment, make.marked(1, 1, 1))
    with pytest.raises(AlreadyClosed):
        skip(actor, assignment)

    other, second = handed(project)
    skip(other, second)
    with pytest.raises(AlreadyClosed):
        submit(other, second, make.marked(1, 1, 1))


def gold_in_hand(project: Project, actor: Actor) -> Assignment:
    """A gold solution handed out by the gold route alone: the queue is empty at that moment."""
    make.gold(project, (1, 1, 1))
    Project.objects.filter(pk=project.pk).update(gold_rate=1.0)
    assignment = queueing.next_assignment(actor=actor)
    assert assignment.purpose == Assignment.Purpose.GOLD
    return assignment


def test_a_submit_of_gold_does_the_same_as_one_of_work() -> None:
    project = make.project()
    actor, work = handed(project)
    with CaptureQueriesContext(
        connection,
    ) as for_work:
        submit(actor, work, make.marked(1, 1, 1))
    gold = gold_in_hand(project, actor)
    with CaptureQueriesContext(connection) as for_gold:
        submit(actor, gold, make.marked(1, 1, 1))

    assert len(for_gold) == len(for_work)
    assert set(Job.objects.values_list("kind", flat=True)) == {"labeling.follow_up"}


def test_with_the_broker_down_a_submit_is_quick_and_its_job_waits(
    django_capture_on_commit_callbacks: Any,
) -> None:
    actor, assignment = handed(make.project())
    started = time.monotonic()
    with broker_at(DEAD), django_capture_on_commit_callbacks(execute=True) as wakes:
        submit(actor, assignment, make.marked(1, 1, 1))

    assert len(wakes) == 1
    assert time.monotonic() - started < 2.0
    assert Job.objects.get().state == Job.State.QUEUED
