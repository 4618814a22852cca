"""Whether a person may go on: hidden gold speaks, a manager has the last word.

The standing is never stored as a running number: each time it is followed anew from gold results and managers'
words, so that a corrected gold item corrects what came of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotator.actions import access, alerts, hooks
from annotator.actions.access import Actor, Verb
from annotator.actions.members import NotYourself, recount, set_state
from annotator.actions.slots import release_slot, take_slot
from annotator.core.labels import FinishReason
from annotator.core.screening import Override, Standing, State, follow
from annotator.models import (
    Annotation,
    Assignment,
    AuditEvent,
    GoldResult,
    Membership,
    QueueRow,
    StandingEvent,
)
from annotator.queries.standings import rule_of

QUARANTINE = "quarantine"
ACTIVE = Membership.State.ACTIVE
WORDS = {Override.CLEAR.value, Override.PAUSE.value}
REASON = "Hidden checks went wrong more often than they should; a manager will look at it with you."


class NoSuchMember(Exception):
    """No such member in this project."""


@dataclass(frozen=True)
class Event:
    """One gold outcome (None: gave up) or a manager's word, and when."""

    at: datetime
    outcome: bool | Override | None


def events_of(member_id: int) -> list[Event]:
    """What the standing is followed from, in order of time: hidden gold and managers' words.

    Each check counts once, by the version that stands, and not at all once its gold has turned out wrong.
    """
    results = GoldResult.objects.filter(
        member_id=member_id,
        annotation__assignment__purpose=Assignment.Purpose.GOLD,
        annotation__current=True,
        annotation__solution__gold__void=False,
    ).values_list("annotation__submitted_at", "item_right")
    words = StandingEvent.objects.filter(member_id=member_id, kind__in=WORDS).values_list("at", "kind")
    found = [Event(at, right) for at, right in results] + [Event(at, Override(kind)) for at, kind in words]
    return sorted(found, key=lambda event: event.at)


@transaction.atomic
def update(*, member_id: int) -> Standing:
    """Follow a person's standing anew and act on a change. May run twice."""
    member = Membership.objects.select_for_update(no_key=True).select_related("project").get(pk=member_id)
    events = events_of(member_id)
    standing = follow([event.outcome for event in events], rule_of(member.project))
    if standing.state.value == member.standing:
        return standing
    before = member.standing
    member.standing = standing.state.value
    member.save(update_fields=["standing"])
    StandingEvent.objects.create(
        member=member, kind=f"became {standing.state.value}", statistic=standing.statistic
    )
    AuditEvent.objects.record(
        f"member:{standing.state.value}",
        f"member {member.pseudonym}",
        project_id=member.project_id,
        member_id=None,  # nobody did it: the rules led to it
        data={
            "statistic": round(standing.statistic, 3),
            "items": standing.n_items,
            "before": {"standing": before},
            "after": {"standing": member.standing},
        },
    )
    if before == State.PAUSED.value:
        _tell_of_a_wrong_pause(member)
    if standing.state is State.PAUSED and member.project.auto_pause and member.state == ACTIVE:
        set_state(member, Membership.State.PAUSED, REASON)
        _announce_pause(member, by="rules")
        since = events[standing.last_clear].at if standing.last_clear >= 0 else None
        quarantine(member, since=since)
    return standing


def quarantine(member: Membership, *, since: datetime | None) -> int:
    """Stop counting what a person labelled since then (None: ever); the slots are owed again. Returns how many."""
    rows = Annotation.objects.filter(
        member=member, current=True, counted=True, assignment__purpose=Assignment.Purpose.WORK
    )
    if since is not None:
        rows = rows.filter(submitted_at__gt=since)
    ids = list(rows.values_list("pk", flat=True))
    solutions = list(rows.values_list("solution_id", flat=True))
    rows.update(counted=False, uncounted_reason=QUARANTINE)
    assignments = Assignment.objects.select_for_update(of=("self",)).select_related("project")
    for assignment in assignments.filter(annotations__in=ids).order_by("solution_id"):
        release_slot(assignment)
        Assignment.objects.filter(pk=assignment.pk).update(slot=None)
    recount(member.project_id, solutions)
    AuditEvent.objects.record(
        "annotations:quarantined",
        f"member {member.pseudonym}",
        project_id=member.project_id,
        member_id=None,  # nobody did it: the rules led to it
        data={"annotations": ids, "since": since.isoformat() if since else None},
    )
    return len(ids)


@transaction.atomic
def override(
    *, actor: Actor, member_id: int, word: Override, reason: str, restore: bool = False
) -> Membership:
    """A manager clears or pauses a person, with a reason; ``restore`` counts quarantined labels again.

    Raises NotAllowed, NotYourself, NoSuchMember.
    """
    access.require(actor, Verb.MANAGE)
    if member_id == actor.member_id:
        raise NotYourself("Ask another manager to pause or clear you.")
    member = (
        Membership.objects.select_for_update(no_key=True)
        .select_related("project")
        .filter(pk=member_id, project_id=actor.project_id)
        .exclude(state=Membership.State.REMOVED)
        .first()
    )
    if member is None:
        raise NoSuchMember
    before, reason = {"state": member.state, "standing": member.standing}, reason.strip()[:300]
    StandingEvent.objects.create(member=member, kind=word.value, by_id=actor.member_id, reason=reason)
    member.standing = State.CLEAR.value if word is Override.CLEAR else State.PAUSED.value
    member.save(update_fields=["standing"])
    restored = 0
    if word is Override.CLEAR:
        set_state(member, Membership.State.ACTIVE, "")
        restored = _restore(member) if restore else 0
    else:
        set_state(member, Membership.State.PAUSED, reason)
        _announce_pause(member, by="manager")
    AuditEvent.objects.record(
        f"member:{'cleared' if word is Override.CLEAR else 'paused'}",
        f"member {member.pseudonym}",
        project_id=member.project_id,
        member_id=actor.member_id,
        data={
            "reason": reason,
            "restored": restored,
            "before": before,
            "after": {"state": member.state, "standing": member.standing},
        },
    )
    return member


def _announce_pause(member: Membership, *, by: str) -> None:
    told = {"member": member.pseudonym, "by": by}
    hooks.announce(project_id=member.project_id, event=hooks.Event.PAUSED, data=told)


def _tell_of_a_wrong_pause(member: Membership) -> None:
    """Followed anew without a gold item that was wrong, the person would not have been paused: a manager decides."""
    alerts.open_alert(
        project_id=member.project_id,
        kind="pause_in_doubt",
        subject=f"member {member.pseudonym}",
        sentence=f"Without gold that has turned out wrong, {member.pseudonym} would not have been paused; "
        "clear them on the members page if you agree.",
    )


def _restore(member: Membership) -> int:
    """Count quarantined labels again where their slot is still free; where it isn't, somebody else's count.

    Whoever gave up held no slot, and takes none. Returns how many count again.
    """
    rows = Annotation.objects.filter(member=member, uncounted_reason=QUARANTINE).select_related("assignment")
    # Before the queue's rows, as in a submit: else the two could wait for each other.
    held = Assignment.objects.select_for_update(of=("self",)).filter(annotations__in=rows.values("pk"))
    list(held.order_by("solution_id", "pk").values_list("pk"))
    solutions = []
    for annotation in rows.order_by("solution_id"):
        if annotation.assignment is None:
            continue
        if annotation.finish_reason != FinishReason.GIVE_UP:
            row = QueueRow.objects.open().locked(blocking=True).filter(pk=annotation.solution_id).first()
            if row is None:
                continue
            slot = take_slot(row, member.project)
            Assignment.objects.filter(pk=annotation.assignment.pk).update(slot=slot)
        Annotation.objects.filter(pk=annotation.pk).update(counted=True, uncounted_reason="")
        solutions.append(annotation.solution_id)
    recount(member.project_id, solutions)
    return len(solutions)
