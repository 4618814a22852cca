"""Deciding cases: a reviewer takes one, looks, and says what the labels are and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from annotator.actions import access, completion, gold, queueing
from annotator.actions.access import Actor, Verb
from annotator.core import labels as rules
from annotator.core.details import is_text
from annotator.core.labels import InvalidLabels, Mode
from annotator.models import (
    Adjudication,
    AdjudicationCase,
    Annotation,
    Assignment,
    AuditEvent,
    QueueRow,
    Solution,
)

LEASE = timedelta(minutes=45)


class NoSuchCase(Exception):
    """No such case in this project."""


class AlreadyDecided(Exception):
    """Somebody decided it before."""


class HeldByAnother(Exception):
    """Another reviewer has the case now."""


class NotTaken(Exception):
    """The case has to be taken before it is decided."""


class OwnWork(Exception):
    """The reviewer labelled this solution: somebody else must decide."""


class NoCase(Exception):
    """No case waits that this reviewer may decide."""


@dataclass(frozen=True)
class Decision:
    """Labels over all steps (None: not judged), or with ``bad_problem`` none at all; why; what people can learn."""

    labels: Sequence[int | None]
    reason: str
    note: str = ""
    bad_problem: bool = False
    make_gold: bool = False


@dataclass(frozen=True)
class Decided:
    """``gold_refused``: why the solution didn't become gold, "" where it did or nobody asked."""

    adjudication: Adjudication
    gold_refused: str


@transaction.atomic
def take_next(*, actor: Actor) -> AdjudicationCase:
    """The case this reviewer holds, else the one that waits longest and isn't their own work. Raises NoCase."""
    access.require(actor, Verb.ADJUDICATE)
    cases = AdjudicationCase.objects.filter(project_id=actor.project_id, closed_at=None)
    mine = cases.filter(claimed_by_id=actor.member, claim_expires_at__gt=Now()).first()
    if mine is not None:
        return mine
    free = (
        _not_own(cases, actor.member)
        .filter(Q(claimed_by=None) | Q(claim_expires_at__lte=Now()) | Q(claimed_by_id=actor.member))
        .select_for_update(of=("self",), skip_locked=True)
        .order_by("opened_at", "pk")
        .first()
    )
    if free is None:
        raise NoCase
    return _take(free, actor)


@transaction.atomic
def take(*, actor: Actor, case_id: int) -> AdjudicationCase:
    """Hold a case, so that two don't decide it. Raises NoSuchCase, AlreadyDecided, HeldByAnother, OwnWork.

    Whoever has seen the others' labels is never handed the solution as work.
    """
    case = _locked(actor, case_id)
    if _annotated(case.solution_id, actor.member):
        raise OwnWork
    return _take(case, actor)


@transaction.atomic
def put_back(*, actor: Actor, case_id: int) -> None:
    """Let somebody else have it. Raises NoSuchCase, AlreadyDecided, HeldByAnother."""
    case = _locked(actor, case_id)
    if case.claimed_by_id == actor.member:
        _hold(case, None)
        _record("case:put_back", case, actor, {"before": {"held": True}, "after": {"held": False}})


@transaction.atomic
def decide(*, actor: Actor, case_id: int, decision: Decision) -> Decided:
    """Write the decision and close the case; the latest decision stands above every consensus.

    Raises NoSuchCase, AlreadyDecided, HeldByAnother, NotTaken, OwnWork, and InvalidLabels for labels that aren't
    complete or a reason that is missing.
    """
    case = _locked(actor, case_id)
    if case.claimed_by_id != actor.member:
        raise NotTaken
    if _annotated(case.solution_id, actor.member):
        raise OwnWork
    solution = Solution.objects.select_related("project").get(pk=case.solution_id)
    labels, stop = _checked(solution, decision)
    before, watch = _last(solution), completion.watch(solution.project_id, [solution.pk])
    made = Adjudication.objects.create(
        solution=solution,
        member_id=actor.member,
        n_steps=solution.n_steps,
        labels=labels,
        stop=stop,
        reason=decision.reason.strip(),
        note=decision.note.strip(),
        case=case,
    )
    AdjudicationCase.objects.filter(pk=case.pk).update(closed_at=Now())
    if decision.bad_problem:
        QueueRow.objects.filter(pk=solution.pk).update(wanted=F("taken"))  # nobody else needs to meet it
    data = {"solution": solution.pk, "before": before, "after": {"stop": stop, "labels": labels}}
    _record("case:decided", case, actor, data)
    watch.announce()
    return Decided(made, _make_gold(actor, solution.pk) if decision.make_gold else "")


def _make_gold(actor: Actor, solution_id: int) -> str:
    try:
        with transaction.atomic():
            gold.make(actor=actor, solution_id=solution_id)
    except gold.CannotBecomeGold as error:
        return str(error)
    return ""


def _locked(actor: Actor, case_id: int) -> AdjudicationCase:
    access.require(actor, Verb.ADJUDICATE)
    case = (
        AdjudicationCase.objects.select_for_update(of=("self",))
        .filter(pk=case_id, project_id=actor.project_id)
        .first()
    )
    if case is None:
        raise NoSuchCase
    if case.closed_at is not None:
        raise AlreadyDecided
    held = case.claim_expires_at is not None and case.claim_expires_at > timezone.now()
    if held and case.claimed_by_id != actor.member:
        raise HeldByAnother
    return case


def _take(case: AdjudicationCase, actor: Actor) -> AdjudicationCase:
    new = case.claimed_by_id != actor.member
    _hold(case, actor.member)
    if new:
        _remember_as_seen(case.solution_id, actor)
        _record("case:taken", case, actor, {"before": {"held": False}, "after": {"held": True}})
    case.refresh_from_db()
    return case


def _hold(case: AdjudicationCase, member_id: int | None) -> None:
    until = Now() + LEASE if member_id is not None else None
    AdjudicationCase.objects.filter(pk=case.pk).update(claimed_by_id=member_id, claim_expires_at=until)


def _remember_as_seen(solution_id: int, actor: Actor) -> None:
    """An assignment of its own kind, or the end of the one that the reviewer let lie."""
    mine = Assignment.objects.filter(solution_id=solution_id, member_id=actor.member)
    open_ones = mine.filter(state__in=[Assignment.State.LIVE, Assignment.State.EXPIRED])
    for assignment in open_ones.select_for_update(of=("self",)).select_related("project"):
        queueing.release(assignment, Assignment.State.SKIPPED, "assignment:released")
    if not mine.exists():
        Assignment.objects.create(
            project_id=actor.project_id,
            solution_id=solution_id,
            member_id=actor.member,
            purpose=Assignment.Purpose.REVIEW,
            state=Assignment.State.SUBMITTED,
            lease_expires_at=Now(),
        )


def _not_own(cases: QuerySet[AdjudicationCase], member_id: int) -> QuerySet[AdjudicationCase]:
    mine = Annotation.objects.filter(solution_id=OuterRef("solution_id"), member_id=member_id)
    return cases.filter(~Exists(mine))


def _annotated(solution_id: int, member_id: int) -> bool:
    return Annotation.objects.filter(solution_id=solution_id, member_id=member_id).exists()


def _checked(solution: Solution, decision: Decision) -> tuple[list[int | None], int | None]:
    """Labels to store, and their stop. Raises InvalidLabels."""
    if not decision.reason.strip():
        raise InvalidLabels("write in a sentence why, so that others can follow the decision")
    if not (is_text(decision.reason) and is_text(decision.note)):
        raise InvalidLabels("the reason or the note is too long, or holds signs that can't be stored")
    if decision.bad_problem:
        return [None] * solution.n_steps, None
    judged = [step["judged"] for step in solution.steps]
    rules.check_shape(decision.labels, judged)
    mode = Mode(solution.project.mode)
    rules.check(decision.labels, judged, mode, rules.finish_reason(decision.labels, mode))
    return list(decision.labels), rules.stop(decision.labels, judged)


def _last(solution: Solution) -> dict[str, object] | None:
    """What stood before: the last decision, else the consensus."""
    decided = solution.adjudications.order_by("-decided_at", "-pk").first()
    if decided is not None:
        return {"from": "decision", "stop": decided.stop, "labels": decided.labels}
    consensus = getattr(solution, "consensus", None)
    return {"from": "consensus", "stop": consensus.stop, "state": consensus.state} if consensus else None


def _record(name: str, case: AdjudicationCase, actor: Actor, data: Mapping[str, object]) -> None:
    AuditEvent.objects.record(
        name, f"case {case.pk}", project_id=actor.project_id, member_id=actor.member_id, data=data
    )
