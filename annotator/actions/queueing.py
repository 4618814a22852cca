"""Handing out solutions: exactly as many labels as wanted, never the same person twice, never "nothing" by mistake.

A claim locks one queue row with SKIP LOCKED, so that people who ask at once get different rows. Locks are taken in
the order membership, assignment, queue row.
"""

from __future__ import annotations

import random
import uuid
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Greatest, Now

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.core import sampling
from annotator.core.sampling import Route, Shares
from annotator.jobs import enqueue
from annotator.models import (
    Assignment,
    AuditEvent,
    Gold,
    Membership,
    Project,
    QueueRow,
    ScorerVersion,
    Solution,
)

RERANK_CHUNK = 5_000
#: `pool` in a selection is counted up to here; beyond it reads "at least this many".
POOL_CAP = 10_000
_chance = random.SystemRandom()


STRATEGIES = {Route.PRIORITY: "uncertainty", Route.SIBLING: "same problem"}
#: A person holds at most the solution they see and the one after it.
MAX_LIVE = 2


class NothingForYou(Exception):
    """No solution for this person now. ``reason``: all_done, waiting (others hold what is left), paused, enough."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@transaction.atomic
def next_assignment(
    *, actor: Actor, after: uuid.UUID | None = None, chance: random.Random = _chance
) -> Assignment:
    """The person's live assignment, else one they let expire, else a new claim. Raises NothingForYou.

    ``after`` names the live one that they are looking at: this call is for the one to come.
    """
    access.require(actor, Verb.LABEL)
    member = Membership.objects.select_for_update(no_key=True).get(pk=actor.member)
    if member.state != Membership.State.ACTIVE:
        raise NothingForYou("paused")
    project = Project.objects.get(pk=actor.project_id)
    live = list(
        Assignment.objects.filter(member=member, state=Assignment.State.LIVE)
        .exclude(purpose=Assignment.Purpose.PRACTICE)
        .order_by("claimed_at", "pk")
    )
    for assignment in live:
        if assignment.pk != after:
            return _renew(assignment, project)
    if len(live) >= MAX_LIVE:
        raise NothingForYou("enough")
    return _revived(member, project) or _claimed(member, project, chance)


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
    items = Gold.objects.filter(project=project, use=Gold.Use.PRACTICE).unseen_by(member.pk)
    item = items.order_by("solution_id").first()
    if item is None:
        raise NothingForYou("all_done")
    return _hand_out_gold(item, Assignment.Purpose.PRACTICE, member, project)


def _renew(assignment: Assignment, project: Project) -> Assignment:
    Assignment.objects.filter(pk=assignment.pk).update(
        lease_expires_at=_lease(project), state=Assignment.State.LIVE
    )
    assignment.refresh_from_db()
    return assignment


def _revived(member: Membership, project: Project) -> Assignment | None:
    """An expired assignment of this person whose slot is still free: it comes back with its draft."""
    expired = Assignment.objects.select_for_update().filter(member=member, state=Assignment.State.EXPIRED)
    expired = expired.exclude(purpose=Assignment.Purpose.PRACTICE)
    for assignment in expired.order_by("-claimed_at")[:20]:
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


def _claimed(member: Membership, project: Project, chance: random.Random) -> Assignment:
    shares = Shares(gold=project.gold_rate, audit=project.audit_rate, holdout=project.holdout_rate)
    routes = sampling.choose_route(chance.random(), chance.random(), shares)
    for blocking in (False, True):
        for route in routes:
            if route is Route.GOLD:
                if not blocking and (gold := _claim_gold(member, project)) is not None:
                    return gold
                continue
            sibling = _pick_sibling(route, member, project)
            row = sibling or _pick(route, member, project, blocking=blocking)
            if row is not None:
                return _claim_row(row, Route.SIBLING if sibling else route, member, project)
        # Before "nothing left" may be said: free what was let go, then look again and wait for locks.
        if not blocking:
            reclaim(project_id=project.pk)
    raise NothingForYou(_why_nothing(project))


def _pick(route: Route, member: Membership, project: Project, *, blocking: bool) -> QueueRow | None:
    """Lock the row that the route names next for this member, or None.

    The audit route takes the lowest untouched shuffle. The others first probe started solutions, 200 at most, so
    that a long history costs nothing; the blocking pass, which decides whether nothing is left, looks at all.
    """
    side = QueueRow.objects.filter(project=project, holdout=route is Route.HOLDOUT)
    mine = side.unseen_by(member.pk).locked(blocking=blocking)
    if route is not Route.AUDIT:
        started = mine.started().by_priority()
        if not blocking:
            started = started.among_first(side.started().order_by("-priority"))
        if (found := started.first()) is not None:
            return found
    untouched = mine.untouched()
    return (untouched.by_priority() if route is Route.PRIORITY else untouched.by_shuffle()).first()


def _pick_sibling(route: Route, member: Membership, project: Project) -> QueueRow | None:
    """Another solution of the problem this person has just read, so that nobody solves a problem four times.

    Only in place of priority and holdout, so that the audit route keeps its share; at most ``project.siblings``.
    """
    if route is Route.AUDIT or project.siblings < 2:
        return None
    work = Assignment.objects.filter(member=member, purpose=Assignment.Purpose.WORK)
    last = work.order_by("-claimed_at").values_list("solution__problem_id", flat=True).first()
    if last is None or work.filter(solution__problem_id=last).count() >= project.siblings:
        return None
    rows = QueueRow.objects.filter(project=project, holdout=route is Route.HOLDOUT, solution__problem_id=last)
    return rows.unseen_by(member.pk).open().by_priority().locked(blocking=False).first()


def _claim_row(row: QueueRow, route: Route, member: Membership, project: Project) -> Assignment:
    if route is Route.AUDIT:
        row.wanted = max(row.wanted, project.labels_audit)
        _raise_below(row, project)
    selection = _selection(row, route, member, project)
    assignment = Assignment.objects.create(
        project=project,
        solution_id=row.solution_id,
        member=member,
        slot=take_slot(row, project),
        lease_expires_at=_lease(project),
        selection=selection,
        position=1 + _seen_of_problem(row.solution_id, member),
    )
    assignment.refresh_from_db()
    return assignment


def _seen_of_problem(solution_id: int, member: Membership) -> int:
    """How many solutions of the same problem this person was given before."""
    problem = Solution.objects.filter(pk=solution_id).values("problem_id")
    return Assignment.objects.filter(member=member, solution__problem_id__in=problem).count()


def _raise_below(row: QueueRow, project: Project) -> None:
    """The watermark now stands at this row: what the priority route labelled below it wants the audit's number too.

    Rows that others hold are left to the next audit claim, whose range includes them.
    """
    below = (
        QueueRow.objects.filter(project=project, holdout=False, shuffle__lt=row.shuffle)
        .owed_to_audit()
        .filter(wanted__lt=project.labels_audit)
        .locked(blocking=False)
    )
    QueueRow.objects.filter(pk__in=list(below.values_list("pk", flat=True))).update(
        wanted=project.labels_audit
    )


def take_slot(row: QueueRow, project: Project) -> int:
    """Count one label as taken and return the lowest free slot. The row must be locked and not full."""
    used = set(
        Assignment.objects.filter(
            solution_id=row.solution_id, state__in=[Assignment.State.LIVE, Assignment.State.SUBMITTED]
        )
        .exclude(slot=None)
        .values_list("slot", flat=True)
    )
    slot = next(number for number in range(len(used) + 1) if number not in used)
    row.taken += 1
    row.audit_owed = 0 if row.holdout else max(0, project.labels_audit - row.taken)
    row.save(update_fields=["taken", "wanted", "audit_owed"])
    return slot


def release_slot(assignment: Assignment) -> None:
    """Owe this label to somebody again. Locks the queue row; the assignment must be locked already."""
    if assignment.slot is None:
        return
    labels_audit = assignment.project.labels_audit
    QueueRow.objects.filter(pk=assignment.solution_id, taken__gt=0).update(
        taken=F("taken") - 1, audit_owed=Greatest(0, labels_audit - F("taken") + 1)
    )
    QueueRow.objects.filter(pk=assignment.solution_id, holdout=True).update(audit_owed=0)


def _selection(row: QueueRow, route: Route, member: Membership, project: Project) -> dict[str, Any]:
    """Why this row: kept with the assignment, and with the exported label.

    Rank and pool are among untouched solutions of its side of the split, before this claim.
    """
    untouched = QueueRow.objects.filter(project=project, holdout=row.holdout).untouched()
    ahead = untouched.filter(priority__gt=row.priority).unseen_by(member.pk)[:POOL_CAP].count()
    ranked_by = ScorerVersion.objects.filter(pk=row.ranked_by_id or 0)
    version = ranked_by.values_list("version", flat=True).first()
    return {
        "route": route.value,
        "strategy": STRATEGIES.get(route, "random"),
        "score": row.priority if version else None,
        "scorer_version": version,
        "rank": ahead + 1,
        "pool": untouched[:POOL_CAP].count(),
        "round": 1,
    }


def _claim_gold(member: Membership, project: Project) -> Assignment | None:
    """A gold solution this person has never had, at random; it holds no slot."""
    items = Gold.objects.filter(project=project, use=Gold.Use.HIDDEN).unseen_by(member.pk)
    item = items.order_by("?").first()
    return _hand_out_gold(item, Assignment.Purpose.GOLD, member, project) if item else None


def _hand_out_gold(
    item: Gold, purpose: Assignment.Purpose, member: Membership, project: Project
) -> Assignment:
    assignment = Assignment.objects.create(
        project=project,
        solution_id=item.solution_id,
        member=member,
        purpose=purpose,
        position=1 + _seen_of_problem(item.solution_id, member),
        lease_expires_at=_lease(project),
        selection={"route": Route.GOLD.value, "strategy": "random", "round": 1},
    )
    assignment.refresh_from_db()
    return assignment


def _why_nothing(project: Project) -> str:
    held = Assignment.objects.filter(
        project=project, state=Assignment.State.LIVE, purpose=Assignment.Purpose.WORK
    ).exists()
    owed = QueueRow.objects.filter(project=project).open().exists()
    return "waiting" if held or owed else "all_done"


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
        release_slot(assignment)
        assignment.state, assignment.slot = Assignment.State.EXPIRED, None
        assignment.save(update_fields=["state", "slot"])
        AuditEvent.objects.record(
            "assignment:expired",
            f"assignment {assignment.pk}",
            project_id=assignment.project_id,
            member_id=assignment.member_id,
        )
    return len(rows)


def reprioritize(*, version_id: int, chunk: int = RERANK_CHUNK) -> int:
    """Copy a scorer version's priorities to the queue, in committed chunks. Returns how many rows changed."""
    changed = 0
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "WITH due AS (SELECT q.solution_id, s.priority, s.tiebreak FROM annotator_score s "
                "JOIN annotator_queuerow q ON q.solution_id = s.solution_id "
                "WHERE s.version_id = %s AND q.ranked_by_id IS DISTINCT FROM %s "
                "ORDER BY q.solution_id LIMIT %s FOR NO KEY UPDATE OF q) "
                "UPDATE annotator_queuerow q SET priority = due.priority, tiebreak = due.tiebreak, ranked_by_id = %s "
                "FROM due WHERE q.solution_id = due.solution_id",
                [version_id, version_id, chunk, version_id],
            )
            done = int(cursor.rowcount)
        changed += done
        if done < chunk:
            return changed


def ask_for_new_order(*, project_id: int, version_id: int) -> None:
    """Have the queue re-ranked by a worker."""
    enqueue(
        kind="queueing.reprioritize",
        subject=f"version {version_id}",
        project_id=project_id,
        payload={"version_id": version_id},
    )


def _lease(project: Project) -> Any:
    return Now() + timedelta(seconds=project.lease_seconds)
