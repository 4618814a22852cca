"""Looking after gold: making it from decisions, taking it out, and what it is used for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.core.labels import accept_masks
from annotator.jobs import enqueue
from annotator.models import Adjudication, Assignment, AuditEvent, Gold, GoldResult, QueueRow, Solution


class NoSuchGold(Exception):
    """No such gold solution in this project."""


class CannotBecomeGold(ValueError):
    """The rules keep this solution from being gold; the message says which."""


class Refused(ValueError):
    """What was asked isn't possible for this item; the message says why."""


@transaction.atomic
def make(*, actor: Actor, solution_id: int) -> Gold:
    """Turn a reviewer's decision into hidden gold. Raises NotAllowed, NoSuchGold, CannotBecomeGold.

    Only a decision will do: what people merely agree on selects the easy solutions. The solution leaves the queue,
    and with it the training data.
    """
    access.require(actor, Verb.ADJUDICATE)
    solution = (
        Solution.objects.select_for_update(no_key=True)
        .filter(pk=solution_id, project_id=actor.project_id)
        .first()
    )
    if solution is None:
        raise NoSuchGold
    decided = Adjudication.objects.filter(solution=solution).order_by("-decided_at", "-pk").first()
    if decided is None:
        raise CannotBecomeGold("Only a solution that a reviewer has decided can become gold.")
    if all(label is None for label in decided.labels):
        raise CannotBecomeGold(
            "The reviewer called the problem bad, so there is nothing to check people with."
        )
    if Gold.objects.filter(solution=solution).exists():
        raise CannotBecomeGold("This solution is gold already.")
    if Assignment.objects.filter(solution=solution, state=Assignment.State.LIVE).exists():
        raise CannotBecomeGold("Somebody is judging this solution now; try again when they are done.")
    QueueRow.objects.filter(pk=solution.pk).update(wanted=F("taken"))
    item = Gold.objects.create(
        solution=solution,
        project_id=actor.project_id,
        n_steps=solution.n_steps,
        accept=list(accept_masks(decided.labels)),
        source=Gold.Source.ADJUDICATED,
    )
    _record("gold:made", item, actor, before={"gold": False}, after={"gold": True, "source": item.source})
    return item


@transaction.atomic
def retire(*, actor: Actor, solution_id: int, reason: str, wrong: bool = False) -> Gold:
    """Stop handing an item out; with ``wrong`` its results stop counting and standings are followed anew.

    Raises NotAllowed, NoSuchGold.
    """
    item = _locked(actor, solution_id)
    before = _state(item)
    item.retired, item.void = True, item.void or wrong
    item.save(update_fields=["retired", "void"])
    data = {"reason": reason.strip()[:300]}
    _record("gold:retired", item, actor, before=before, after=_state(item), more=data)
    if item.void and not before["void"]:
        _follow_anew(item)
    return item


@transaction.atomic
def bring_back(*, actor: Actor, solution_id: int) -> Gold:
    """Hand a retired item out again, and let its results count again. Raises NotAllowed, NoSuchGold."""
    item = _locked(actor, solution_id)
    before = _state(item)
    item.retired = item.void = False
    item.save(update_fields=["retired", "void"])
    _record("gold:brought_back", item, actor, before=before, after=_state(item))
    if before["void"]:
        _follow_anew(item)
    return item


@transaction.atomic
def clear(*, actor: Actor, solution_id: int) -> Gold:
    """The labels are right after all: only results from now on can raise the suspicion again.

    Raises NotAllowed, NoSuchGold.
    """
    item = _locked(actor, solution_id)
    before = _state(item)
    item.suspect = False
    item.save(update_fields=["suspect"])
    Gold.objects.filter(pk=item.pk).update(cleared_at=Now())
    _record("gold:cleared", item, actor, before=before, after=_state(item))
    return item


@transaction.atomic
def set_use(*, actor: Actor, solution_id: int, use: Gold.Use) -> Gold:
    """Use an item as hidden check, exam or practice from now on. Raises NotAllowed, NoSuchGold, Refused.

    Practice shows the labels, so what people still could meet unseen must not go there and back.
    """
    item = _locked(actor, solution_id)
    shown = Assignment.objects.filter(solution_id=item.pk, purpose=Assignment.Purpose.PRACTICE).exists()
    if item.use == Gold.Use.PRACTICE and use != Gold.Use.PRACTICE and shown:
        raise Refused("People have seen this item's labels in practice; it can't check anybody any more.")
    before = _state(item)
    item.use = use
    item.save(update_fields=["use"])
    if before != _state(item):
        _record("gold:use_changed", item, actor, before=before, after=_state(item))
    return item


def _locked(actor: Actor, solution_id: int) -> Gold:
    access.require(actor, Verb.MANAGE)
    rows = Gold.objects.select_for_update(no_key=True)
    item: Gold | None = rows.filter(pk=solution_id, project_id=actor.project_id).first()
    if item is None:
        raise NoSuchGold
    return item


def _follow_anew(item: Gold) -> None:
    """In jobs: each locks one person, and gold is locked after people elsewhere."""
    had = GoldResult.objects.filter(annotation__solution_id=item.pk)
    for member_id in had.order_by("member_id").values_list("member_id", flat=True).distinct():
        enqueue(
            kind="standing.update",
            subject=f"member {member_id}",
            project_id=item.project_id,
            payload={"member_id": member_id},
        )


def _state(item: Gold) -> dict[str, Any]:
    return {"use": item.use, "suspect": item.suspect, "retired": item.retired, "void": item.void}


def _record(
    name: str,
    item: Gold,
    actor: Actor,
    *,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
) -> None:
    AuditEvent.objects.record(
        name,
        f"gold {item.pk}",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data={**(more or {}), "before": dict(before), "after": dict(after)},
    )
