"""Champion and challenger: who takes whose place, by the rule or by a manager's word, and the way back.

A version never changes: what is decided is which one is in force. The new one scores in the background while the old
order serves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotator import jobs
from annotator.actions import hooks, kept_weights, scoring
from annotator.actions.access import Actor
from annotator.actions.scorers import Refused, own_scorer
from annotator.core import promotion as rule
from annotator.core.promotion import Answer, Duel, Heard, Verdict, duel, verdict
from annotator.jobs import Claimed
from annotator.models import AuditEvent, Scorer, ScorerVersion, ScorerWeights
from annotator.queries.training_labels import Lesson
from annotator.scorers.base import Scored, ScoringInput
from annotator.scorers.base import Scorer as RunningScorer

Status = ScorerVersion.Status
#: Holdout solutions scored between two signs of life.
BATCH = 50
_ANSWERED = {Answer.REFUSED: Status.REFUSED, Answer.UNDECIDED: Status.CHALLENGER}


class Overtaken(Exception):
    """Another version came into force meanwhile: the comparison was with one that is champion no more."""


def challenge(
    *,
    job: Claimed,
    scorer: Scorer,
    champion: tuple[RunningScorer, ScorerVersion],
    version: ScorerVersion,
    holdout: Sequence[Lesson],
    seen: frozenset[str],
    progress: Callable[[str, int, int], None],
) -> Verdict:
    """Ask both versions about the labelled holdout and decide by the rule. ``seen``: hashes of problems that either
    was trained on (those its makers used), counted beside the decision. Raises Overtaken, LeaseLost."""
    running, present = champion
    new = scoring.made_of(scorer.kind, kept_weights.config_with(dict(scorer.config), version))
    inputs = [ScoringInput(one.problem, one.steps) for one in holdout]
    before = _hear(running, inputs, lambda n: progress("champion on the holdout", n, len(inputs)))
    after = _hear(new, inputs, lambda n: progress("challenger on the holdout", n, len(inputs)))
    both = [at for at in range(len(holdout)) if before[at] is not None and after[at] is not None]
    found = duel(
        Heard([before[at] or () for at in both], present.threshold),
        Heard([after[at] or () for at in both], version.threshold),
        [holdout[at].targets for at in both],
        [holdout[at].problem_id for at in both],
    )
    said = verdict(found, fewest=rule.FEWEST)
    overlap = sum(holdout[at].problem_hash in seen for at in both)
    _decide(job, scorer, present, version, said, found, overlap)
    return said


def _hear(
    running: RunningScorer, inputs: Sequence[ScoringInput], progress: Callable[[int], None]
) -> list[Sequence[float | None] | None]:
    """Values of each solution over all steps, None where it can't be scored."""
    heard: list[Sequence[float | None] | None] = []
    for start in range(0, len(inputs), BATCH):
        progress(start)
        results = running.score(inputs[start : start + BATCH], cancelled=lambda: False)
        heard += [each.values if isinstance(each, Scored) else None for each in results]
    return heard


@transaction.atomic
def _decide(
    job: Claimed,
    scorer: Scorer,
    present: ScorerVersion,
    version: ScorerVersion,
    said: Verdict,
    found: Duel,
    overlap: int,
) -> None:
    """Write the decision, and put the version in force where it won."""
    locked = Scorer.objects.select_for_update().get(pk=scorer.pk)
    jobs.extend(job)  # behind the scorer, as in `training.cancel`: else the two could wait for each other
    in_force = ScorerVersion.objects.filter(scorer=locked).in_force().first()
    if in_force is None or in_force.pk != present.pk:
        raise Overtaken
    decision = {
        "answer": said.answer.value,
        "why": said.why,
        "against": present.version,
        "by": "the rule",
        "at": timezone.now().isoformat(),
        "overlap": overlap,
        "duel": found.to_json(),
    }
    version.training = {**version.training, "decision": decision}
    version.status = _ANSWERED.get(said.answer, Status.CHALLENGER)
    version.save(update_fields=["training", "status"])
    AuditEvent.objects.record(
        "scorer:challenged",
        f"scorer {scorer.name}",
        project_id=scorer.project_id,
        member_id=None,
        data={"version": version.version, "against": present.version, "answer": said.answer.value},
    )
    if said.answer is Answer.PROMOTED:
        _put_in_force(locked, version)
        _record_promotion(locked, present, version, None, "the rule")


@transaction.atomic
def use_anyway(*, actor: Actor, scorer_id: int, version_id: int) -> ScorerVersion:
    """Put a challenger in force that the evidence neither refused nor carried, by a manager's own word.

    Raises NoSuchScorer; Refused where it is no challenger of the present champion.
    """
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    version = ScorerVersion.objects.filter(scorer=scorer, pk=version_id).first()
    present = ScorerVersion.objects.filter(scorer=scorer).in_force().first()
    if version is None or version.status != Status.CHALLENGER or present is None:
        raise Refused("Only a challenger that waits for more evidence can be put in force by hand.")
    if version.parent_id != present.pk:
        raise Refused("It was compared with another champion than the present one: train again.")
    decision = {**version.training.get("decision", {}), "by": "a manager", "at": timezone.now().isoformat()}
    version.training = {**version.training, "decision": decision}
    version.save(update_fields=["training"])
    _put_in_force(scorer, version)
    _record_promotion(scorer, present, version, actor.member_id, "a manager")
    return version


@transaction.atomic
def roll_back(*, actor: Actor, scorer_id: int) -> ScorerVersion:
    """Go back to the version that the champion came after. Its scores are kept: only what is new since is scored.

    Raises NoSuchScorer; Refused where there is none to go back to.
    """
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    present = scorer.champion
    if present is None or present.parent is None:
        raise Refused("There is no version to go back to.")
    before, after = present.version, present.parent
    _put_in_force(scorer, after)
    AuditEvent.objects.record(
        "scorer:rolled_back",
        f"scorer {scorer.name}",
        project_id=scorer.project_id,
        member_id=actor.member_id,
        data={"before": before, "after": after.version},
    )
    return after


def _put_in_force(scorer: Scorer, version: ScorerVersion) -> None:
    """In the caller's transaction, the scorer locked. What runs under the old version stops within seconds; it has
    written whole solutions under its own name, so that no order mixes the two."""
    version.put_in_force()
    kept = ScorerWeights.objects.filter(version=version).exists()
    scorer.champion = (
        version if kept else None
    )  # without numbers of its own it is what the kind itself declares
    scorer.save(update_fields=["champion"])
    jobs.drop(kind=scoring.SCORE, subject_prefix=scoring.subject_of(scorer.pk), running=True)
    scoring.start(scorer)


def _record_promotion(
    scorer: Scorer, before: ScorerVersion, after: ScorerVersion, member_id: int | None, by: str
) -> None:
    data: Mapping[str, Any] = {"before": before.version, "after": after.version, "by": by}
    AuditEvent.objects.record(
        "scorer:promoted",
        f"scorer {scorer.name}",
        project_id=scorer.project_id,
        member_id=member_id,
        data=data,
    )
    told = {"scorer": scorer.name, **data}
    hooks.announce(project_id=scorer.project_id, event=hooks.Event.PROMOTED, data=told)
