"""Training a scorer on what people labelled: by button, after so many new labels, or every so many hours.

The work itself is `training_run.run`, in a worker; what comes of it is decided in `promotion`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator import jobs
from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.actions.scorers import Refused, own_scorer
from annotator.models import AuditEvent, Project, Scorer
from annotator.queries.training_labels import labels_of
from annotator.queries.training_state import (
    CANCELLED,
    RUN,
    WAITING,
    TrainingState,
    busy,
    keep_state,
    state_of,
    subject_of,
)
from annotator.scorers.trainers import TRAINERS

#: The queue of training: it keeps a processor busy for minutes, so an installation may give it a worker of its own.
QUEUE = "training"
MOST_LABELS, MOST_HOURS, MOST_PRICE = 1_000_000, 10_000, 1e6
PRICES = ("input_per_million", "output_per_million", "per_hour")


@transaction.atomic
def ask(*, actor: Actor, scorer_id: int) -> Scorer:
    """Have a worker train this scorer now. Raises NoSuchScorer; Refused where it can't be, or a run is on."""
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    _begin(scorer, "by hand")
    _record(actor, scorer, "scorer:training_asked", {"why": "by hand"})
    return scorer


@transaction.atomic
def cancel(*, actor: Actor, scorer_id: int) -> bool:
    """Give up the run that waits or is on; its worker stops at its next sign of life. False where there was none."""
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    if not busy(scorer.pk):
        return False
    jobs.drop(kind=RUN, subject_prefix=subject_of(scorer.pk), running=True)
    before = state_of(scorer.project, scorer.pk) or TrainingState(CANCELLED)
    given_up = replace(before, state=CANCELLED, said="It was cancelled.", ended=timezone.now().isoformat())
    keep_state(scorer.project, scorer.pk, given_up)
    _record(actor, scorer, "scorer:training_cancelled", {})
    return True


@transaction.atomic
def set_triggers(
    *, actor: Actor, every: int | None, hours: float | None, automatic: bool, target: float | None = None
) -> Project:
    """When a scorer is trained by itself: after ``every`` new labels, ``hours`` after the last run where anything is
    new; None: not by that. ``automatic``: judges and Monte-Carlo teach before people do. ``target``: the F1 that is
    worked towards, for the forecast. Raises Refused."""
    access.require(actor, Verb.MANAGE)
    if every is not None and not 1 <= every <= MOST_LABELS:
        raise Refused(f"Between 1 and {MOST_LABELS:,} new labels.", "every")
    if hours is not None and not 1 <= hours <= MOST_HOURS:
        raise Refused(f"Between 1 and {MOST_HOURS:,} hours.", "hours")
    if target is not None and not 0.0 < target < 1.0:
        raise Refused("An F1 lies between 0 and 1.", "target")
    project = Project.objects.select_for_update().get(pk=actor.project_id)
    before = project.retraining
    chosen = {"every": every, "hours": hours, "target": target}
    project.retraining = {name: value for name, value in chosen.items() if value is not None}
    project.retraining["automatic"] = automatic
    if before != project.retraining:
        project.save(update_fields=["retraining"])
        AuditEvent.objects.record(
            "project:changed",
            f"project {project.slug}",
            project_id=project.pk,
            member_id=actor.member_id,
            data={"before": {"retraining": before}, "after": {"retraining": project.retraining}},
        )
    return project


@transaction.atomic
def set_prices(*, actor: Actor, scorer_id: int, prices: Mapping[str, float]) -> Scorer:
    """What the scorer's use costs: ``input_per_million`` and ``output_per_million`` tokens, ``per_hour`` of work. What
    is left out is not known. Raises NoSuchScorer, Refused."""
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    if set(prices) - set(PRICES) or any(not 0.0 <= price <= MOST_PRICE for price in prices.values()):
        raise Refused("A price is a number, zero or more.")
    before, scorer.prices = scorer.prices, dict(prices)
    if before != scorer.prices:
        scorer.save(update_fields=["prices"])
        _record(actor, scorer, "scorer:priced", {"before": before, "after": scorer.prices})
    return scorer


def look_at_all() -> int:
    """Begin what is due by the projects' own rules. Returns how many runs were asked for."""
    begun = 0
    for project in Project.objects.filter(retraining__has_any_keys=["every", "hours"]):
        for scorer in Scorer.objects.filter(project=project, kind__in=TRAINERS, paused=False):
            why = _due(project, scorer)
            if why:
                begun += _begin_by_itself(scorer, why)
    return begun


@transaction.atomic
def _begin_by_itself(scorer: Scorer, why: str) -> bool:
    locked = Scorer.objects.select_for_update().get(pk=scorer.pk)
    if locked.paused or busy(locked.pk):
        return False
    _begin(locked, why)
    AuditEvent.objects.record(
        "scorer:training_asked",
        f"scorer {scorer.name}",
        project_id=scorer.project_id,
        member_id=None,
        data={"why": why},
    )
    return True


def _due(project: Project, scorer: Scorer) -> str:
    """Why a run is due now, or "". Without a new label there is nothing to learn, however long ago the last run is."""
    if busy(scorer.pk):
        return ""
    last = state_of(project, scorer.pk)
    new = labels_of(project) - (last.labels if last else 0)
    every, hours = project.retraining.get("every"), project.retraining.get("hours")
    if every is not None and new >= every:
        return f"{new:,} new labels"
    began = last.started_at if last else None
    waited = began is None or timezone.now() - began >= timedelta(hours=hours or 0)
    if hours is not None and new > 0 and waited:
        return f"every {hours:g} hours"
    return ""


def _begin(scorer: Scorer, why: str) -> None:
    """Write the job. The scorer is locked: two who ask at once are told apart."""
    if scorer.kind not in TRAINERS:
        raise Refused("A scorer of this kind is not trained here.")
    if scorer.paused:
        raise Refused("The scorer is paused. Resume it first.")
    if busy(scorer.pk):
        raise Refused("A run is on already.")
    jobs.enqueue(
        kind=RUN,
        subject=subject_of(scorer.pk),
        queue=QUEUE,
        project_id=scorer.project_id,
        payload={"scorer_id": scorer.pk, "why": why},
    )
    # Counted when a worker begins; until then as many as the last run knew, so that nothing is asked for twice.
    known = state_of(scorer.project, scorer.pk)
    asked = TrainingState(
        WAITING, why=why, started=timezone.now().isoformat(), labels=known.labels if known else 0
    )
    keep_state(scorer.project, scorer.pk, asked)


def _record(actor: Actor, scorer: Scorer, event: str, data: Mapping[str, Any]) -> None:
    AuditEvent.objects.record(
        event,
        f"scorer {scorer.name}",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data=data,
    )
