"""Scoring solutions with a PRM: jobs name solutions, workers read, score and write, each step safe to repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotator.actions import access, queueing
from annotator.actions.access import Actor, Verb
from annotator.core.solutions import Step
from annotator.core.uncertainty import priority
from annotator.jobs import Claimed, enqueue, extend
from annotator.models import (
    AuditEvent,
    QueueRow,
    Score,
    ScoreFailure,
    Scorer,
    ScorerVersion,
    Solution,
)
from annotator.scorers import make
from annotator.scorers.base import InvalidScores, Scored, ScoringInput, checked
from annotator.scorers.base import ScoreFailure as Failure
from annotator.scorers.base import Scorer as RunningScorer

QUEUE = "scoring"
#: Solutions in one job: small enough to lose little with a worker, large enough to cost few rows.
JOB_SIZE = 100
#: Solutions between two lease renewals.
BATCH_SIZE = 16
#: Workers woken for many jobs at once; each does all that is due. A message for every job would be 10,000 of them
#: for a million solutions, sent while the person waits.
WAKE_UPS = 8


class NoSuchScorer(Exception):
    """The project has no scorer of that name."""


@dataclass(frozen=True)
class Asked:
    """What was asked of the workers: ``solutions`` still unscored by this version, in ``jobs`` jobs."""

    scorer: str
    version: str
    version_id: int
    solutions: int
    jobs: int


def current_version(scorer: Scorer) -> tuple[RunningScorer, ScorerVersion]:
    """The running scorer and the row of its version, made at first sight."""
    running = make(scorer.kind)
    version, _ = ScorerVersion.objects.get_or_create(
        scorer=scorer,
        version=running.version,
        defaults={"measures": running.measures, "threshold": running.threshold},
    )
    return running, version


@transaction.atomic
def request(*, actor: Actor, scorer_name: str | None = None) -> list[Asked]:
    """Ask the workers to score what the current version of each scorer has not. Raises NoSuchScorer."""
    access.require(actor, Verb.SCORE)
    scorers = Scorer.objects.filter(project_id=actor.project_id)
    if scorer_name is not None:
        scorers = scorers.filter(name=scorer_name)
        if not scorers:
            raise NoSuchScorer(f"This project has no scorer '{scorer_name}'.")
    asked = []
    for scorer in scorers:
        _, version = current_version(scorer)
        ScoreFailure.objects.filter(version=version).delete()
        unscored = unscored_ids(project_id=actor.project_id, version_id=version.pk)
        jobs = enqueue_scoring(scorer=scorer, solution_ids=unscored)
        asked.append(Asked(scorer.name, version.version, version.pk, len(unscored), jobs))
        AuditEvent.objects.record(
            "scoring:requested",
            f"scorer {scorer.name}",
            project_id=actor.project_id,
            member_id=actor.member_id,
            data={"version": version.version, "solutions": len(unscored)},
        )
        queueing.ask_for_new_order(project_id=actor.project_id, version_id=version.pk)
    return asked


def unscored_ids(*, project_id: int, version_id: int) -> list[int]:
    """Solutions of a project that a scorer version has said nothing of, oldest first."""
    rows = Solution.objects.filter(project_id=project_id).exclude(scores__version_id=version_id)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def enqueue_scoring(*, scorer: Scorer, solution_ids: Sequence[int]) -> int:
    """Write scoring jobs for these solutions, in the caller's transaction. Returns how many."""
    count = 0
    for ids in _chunks(solution_ids, JOB_SIZE):
        enqueue(
            kind="scoring.score_batch",
            subject=f"scorer {scorer.pk} solutions {ids[0]}-{ids[-1]}",
            queue=QUEUE,
            project_id=scorer.project_id,
            payload={"scorer_id": scorer.pk, "solution_ids": ids},
            announce=count < WAKE_UPS,
        )
        count += 1
    return count


def score_batch(*, job: Claimed) -> int:
    """Score a job's solutions that this version hasn't tried yet. Returns how many were written. Raises LeaseLost.

    No transaction is open while the scorer works. Each small batch is written as it comes, so that a killed worker
    loses a batch and no more, and a second run finds only what is missing.
    """
    scorer = Scorer.objects.get(pk=job.payload["scorer_id"])
    running, version = current_version(scorer)
    written = 0
    wanted = (
        Solution.objects.filter(pk__in=job.payload["solution_ids"])
        .exclude(scores__version=version)
        .exclude(pk__in=ScoreFailure.objects.filter(version=version).values("solution_id"))
        .select_related("problem")
        .order_by("pk")
    )
    for batch in _chunks(list(wanted), BATCH_SIZE):
        inputs = [ScoringInput(one.problem.text, tuple(map(Step.from_json, one.steps))) for one in batch]
        results = running.score(inputs, cancelled=lambda: False)
        with transaction.atomic():
            extend(job)
            written += _keep(batch, inputs, results, version)
            queueing.rank_new(solution_ids=[one.pk for one in batch], version_id=version.pk)
    if _replaces_another(version):
        with transaction.atomic():
            queueing.ask_for_new_order(project_id=scorer.project_id, version_id=version.pk)
    return written


def _replaces_another(version: ScorerVersion) -> bool:
    """Whether rows still stand in an older version's order and this one has tried every solution by now.

    Until then the old order serves, so that the two are never mixed.
    """
    rows = QueueRow.objects.filter(project_id=version.scorer.project_id)
    if not rows.exclude(ranked_by=version).exclude(ranked_by=None).exists():
        return False
    tried = ScoreFailure.objects.filter(version=version).values("solution_id")
    waiting = Solution.objects.filter(project_id=version.scorer.project_id).exclude(scores__version=version)
    return not waiting.exclude(pk__in=tried).exists()


def _keep(
    solutions: Sequence[Solution],
    inputs: Sequence[ScoringInput],
    results: Sequence[Scored | Failure],
    version: ScorerVersion,
) -> int:
    """Write scores and failures, once each. Returns the number of scores."""
    scores: list[Score] = []
    failures: list[ScoreFailure] = []
    for solution, given, result in zip(solutions, inputs, results, strict=True):
        made = _score_row(solution, given, result, version)
        if isinstance(made, Score):
            scores.append(made)
        else:
            failures.append(made)
    Score.objects.bulk_create(scores, ignore_conflicts=True)
    ScoreFailure.objects.filter(
        version=version, solution__in=[score.solution_id for score in scores]
    ).delete()
    ScoreFailure.objects.bulk_create(
        failures,
        update_conflicts=True,
        unique_fields=["solution", "version"],
        update_fields=["message"],
    )
    return len(scores)


def _score_row(
    solution: Solution, given: ScoringInput, result: Scored | Failure, version: ScorerVersion
) -> Score | ScoreFailure:
    if isinstance(result, Failure):
        return ScoreFailure(solution=solution, version=version, message=result.message[:500])
    try:
        scored = checked(result, given.steps)
    except InvalidScores as error:
        return ScoreFailure(solution=solution, version=version, message=str(error)[:500])
    rank = priority(scored.values, scored.spread, version.threshold)
    return Score(
        solution=solution,
        version=version,
        n_steps=solution.n_steps,
        values=list(scored.values),
        spread=list(scored.spread),
        priority=rank.score,
        tiebreak=rank.tiebreak,
        predicted_stop=rank.predicted_stop,
    )


def _chunks(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
