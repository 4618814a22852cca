"""A scorer as the second pass over another: slow and better, it scores what the first pass has put first."""

from __future__ import annotations

from django.db import transaction

from annotator import jobs
from annotator.actions import access, ordering, scorers, scoring
from annotator.actions.access import Actor, Verb
from annotator.actions.scorers import Refused
from annotator.models import AuditEvent, Project, Scorer, ScorerVersion
from annotator.scorers import UTILITY_KINDS


@transaction.atomic
def refine(*, actor: Actor, scorer_id: int, refines_id: int | None) -> Scorer:
    """Have a scorer refine another: it scores after that one, most needed first, and where its score is there, that
    orders the queue. None: it refines nothing any more. Raises NotAllowed, NoSuchScorer, Refused."""
    access.require(actor, Verb.SCORE)
    Project.objects.select_for_update().get(pk=actor.project_id)
    scorer = scorers.own_scorer(actor=actor, scorer_id=scorer_id)
    first = scorers.own_scorer(actor=actor, scorer_id=refines_id) if refines_id is not None else None
    if scorer.refines == first:
        return scorer
    if first is not None:
        _check(scorer, first)
    before, scorer.refines = scorer.refines, first
    scorer.save(update_fields=["refines"])
    AuditEvent.objects.record(
        "scorer:refines",
        f"scorer {scorer.name}",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data={"before": before.name if before else None, "after": first.name if first else None},
    )
    if first is not None:
        jobs.drop(kind=scoring.SCORE, subject_prefix=scoring.subject_of(scorer.pk))
        scoring.start(scorer)
    _order_anew(actor.project_id)
    return scorer


def _check(scorer: Scorer, first: Scorer) -> None:
    """Raise Refused unless the one can refine the other."""
    if scorer == first:
        raise Refused("A scorer can't be a second pass over itself.")
    if scorer.ranks:
        raise Refused(f"{scorer.name} orders the queue itself. Have another scorer order it first.")
    if {scorer.kind, first.kind} & UTILITY_KINDS:
        raise Refused("What measures utility says nothing of correctness: it refines nothing.")
    if first.refines_id is not None or scorer.refined_by.exists():
        raise Refused("There are two passes at most.")
    if first.refined_by.exclude(pk=scorer.pk).exists():
        raise Refused(f"Another scorer is the second pass over {first.name} already.")


def _order_anew(project_id: int) -> None:
    """By the version in force of the scorer that ranks; scores that no longer have a say lose it there."""
    ranking = ScorerVersion.objects.filter(scorer__project=project_id, scorer__ranks=True).in_force().first()
    if ranking is not None:
        ordering.ask_for_new_order(project_id=project_id, version_id=ranking.pk)
