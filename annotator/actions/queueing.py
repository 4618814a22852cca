"""Handing out solutions: exactly as many labels as wanted, never the same person twice, never "nothing" by mistake.

A claim locks one queue row with SKIP LOCKED, so that people who ask at once get different rows. Locks are taken in
the order membership, assignment, queue row.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Sequence

from django.db import transaction
from django.db.models.functions import Now

from annotator.actions import access, hidden_checks
from annotator.actions.access import Actor, Verb
from annotator.actions.claiming import claim
from annotator.actions.slots import lease, release_slot, take_slot
from annotator.core import sampling
from annotator.core.sampling import Route, Shares
from annotator.models import Assignment, AuditEvent, Membership, Project, QueueRow
from annotator.queries import waiting

_chance = random.SystemRandom()
#: A person holds at most the solution they see and the one after it.
MAX_LIVE = 2


class NothingForYou(Exception):
    """No solution for this person now.

    ``reason``: all_done; waiting (others hold what is left, or it needs other people); skills (what is left asks for
    skills the person lacks); paused; cap (enough for today); enough (holds two already); exam_failed; exam_pending;
    exam_unready (the exam has too few items).
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _NothingAtOnce(Exception):
    """Nothing on these routes without waiting for rows that others hold."""

    def __init__(self, routes: Sequence[Route]) -> None:
        super().__init__(routes)
        self.routes = routes


def next_assignment(
    *, actor: Actor, after: uuid.UUID | None = None, chance: random.Random = _chance
) -> Assignment:
    """The person's live assignment, else one they let expire, else a new claim. Raises NothingForYou.

    ``after`` names the live one that they are looking at: this call is for the one to come.
    """
    access.require(actor, Verb.LABEL)
    try:
        return _next(actor, after, lambda member, project: _claimed(member, project, chance))
    except _NothingAtOnce as dry:
        routes = dry.routes
    # Before "nothing left" may be said: free what was let go, then look again and wait for locks. Each in its own
    # transaction: who waits for a row while holding those just freed may meet somebody who does the same.
    reclaim(project_id=actor.project_id)
    return _next(actor, after, lambda member, project: _waited_for(routes, member, project))


@transaction.atomic
def _next(
    actor: Actor, after: uuid.UUID | None, claimed: Callable[[Membership, Project], Assignment]
) -> Assignment:
    member = Membership.objects.select_for_update(no_key=True).get(pk=actor.member)
    if member.state != Membership.State.ACTIVE:
        raise NothingForYou("paused")
    project = Project.objects.get(pk=actor.project_id)
    live = list(
        Assignment.objects.filter(member=member, state=Assignment.State.LIVE)
        .exclude(purpose=Assignment.Purpose.PRACTICE)
        .select_for_update()  # else it could be reclaimed before it is renewed
        .order_by("claimed_at", "pk")
    )
    for assignment in live:
        if assignment.pk != after:
            return _renew(assignment, project)
    if len(live) >= MAX_LIVE:
        raise NothingForYou("enough")
    _check_cap(member, project, ahead=len(live))
    return _revived(member, project) or _exam(member, project) or claimed(member, project)


@transaction.atomic
def next_practice(*, actor: Actor) -> Assignment:
    """The next practice solution of this person, in the order of import. Raises NothingForYou."""
    access.require(actor, Verb.LABEL)
    member = Membership.objects.select_for_update(no_key=True).get(pk=actor.member)
    project = Project.objects.get(pk=actor.project_id)
    mine = Assignment.objects.filter(member=member, purpose=Assignment.Purpose.PRACTICE)
    live = mine.filter(state__in=[Assignment.State.LIVE, Assignment.State.EXPIRED]).first()
    if live is not None:
        return _renew(live, project)
    item = hidden_checks.claim_practice(member, project)
    if item is None:
        raise NothingForYou("all_done")
    return item


def _renew(assignment: Assignment, project: Project) -> Assignment:
    Assignment.objects.filter(pk=assignment.pk).update(
        lease_expires_at=lease(project), state=Assignment.State.LIVE
    )
    assignment.refresh_from_db()
    return assignment


def _check_cap(member: Membership, project: Project, *, ahead: int) -> None:
    cap = waiting.cap_of(member, project)
    if cap is not None and waiting.done_today(member.pk) + ahead >= cap:
        raise NothingForYou("cap")


def _revived(member: Membership, project: Project) -> Assignment | None:
    """An expired assignment of this person whose slot is still free: it comes back with its draft."""
    expired = Assignment.objects.filter(member=member, state=Assignment.State.EXPIRED)
    expired = expired.exclude(purpose=Assignment.Purpose.PRACTICE)
    # Work on steps that were cut anew never comes back; left in, it would fill the twenty that are looked at.
    expired = expired.exclude(purpose=Assignment.Purpose.WORK, solution__superseded_at__isnull=False)
    for assignment in expired.select_for_update(of=("self",)).order_by("-claimed_at")[:20]:
        slot = None
        if assignment.purpose == Assignment.Purpose.WORK:
            # Only an open row is locked: two people who held each other's full rows would wait for each other.
            row = QueueRow.objects.open().locked(blocking=True).filter(pk=assignment.solution_id).first()
            if row is None:
                continue
            slot = take_slot(row, project)
        assignment.state, assignment.slot = Assignment.State.LIVE, slot
        assignment.closed_at = None
        assignment.save(update_fields=["state", "slot", "closed_at"])
        return _renew(assignment, project)
    return None


def _exam(member: Membership, project: Project) -> Assignment | None:
    """An exam item while the exam is open. Raises NothingForYou when it was failed or waits to be marked."""
    if not project.exam_size or member.exam == Membership.Exam.PASSED:
        return None
    if member.exam == Membership.Exam.FAILED:
        raise NothingForYou("exam_failed")
    try:
        item = hidden_checks.claim_exam(member, project)
    except hidden_checks.NoExam:
        raise NothingForYou("exam_unready") from None
    if item is None:
        raise NothingForYou("exam_pending")
    return item


def _claimed(member: Membership, project: Project, chance: random.Random) -> Assignment:
    """A hidden check or work, by chance. Raises _NothingAtOnce."""
    check_draw = chance.random()
    shares = Shares(
        gold=hidden_checks.gold_share(member, project), audit=project.audit_rate, holdout=project.holdout_rate
    )
    routes = sampling.choose_route(check_draw, chance.random(), shares)
    if routes[0] is Route.GOLD:
        gold = hidden_checks.claim_gold(member, project)
        if gold is not None:
            return gold
        routes = routes[1:]
    elif check_draw >= 1 - project.repeat_rate:
        repeat = hidden_checks.claim_repeat(member, project)
        if repeat is not None:
            return repeat
    for route in routes:
        assignment = claim(route, member, project, blocking=False)
        if assignment is not None:
            return assignment
    raise _NothingAtOnce(routes)


def _waited_for(routes: Sequence[Route], member: Membership, project: Project) -> Assignment:
    """Work by one of the routes, waiting for rows that others hold. Raises NothingForYou."""
    for route in routes:
        assignment = claim(route, member, project, blocking=True)
        if assignment is not None:
            return assignment
    raise NothingForYou(waiting.why_no_work(member.pk, project.pk))


@transaction.atomic
def reclaim(*, project_id: int | None = None, limit: int = 500) -> int:
    """Free the slots of assignments whose lease ran out; their drafts stay. Returns how many."""
    lapsed = Assignment.objects.select_related("project").filter(
        state=Assignment.State.LIVE, lease_expires_at__lt=Now()
    )
    if project_id is not None:
        lapsed = lapsed.filter(project_id=project_id)
    rows = list(lapsed.select_for_update(skip_locked=True, of=("self",)).order_by("solution_id")[:limit])
    for assignment in rows:
        release(assignment, Assignment.State.EXPIRED, "assignment:expired")
    return len(rows)


def release(assignment: Assignment, state: Assignment.State, event: str) -> None:
    """Take a locked, live assignment out of work: its slot is owed again, its draft stays."""
    release_slot(assignment)
    assignment.state, assignment.slot = state, None
    assignment.save(update_fields=["state", "slot"])
    AuditEvent.objects.record(
        event,
        f"assignment {assignment.pk}",
        project_id=assignment.project_id,
        member_id=assignment.member_id,
    )
