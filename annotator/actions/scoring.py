"""Scoring solutions with a PRM: jobs name solutions, workers read, score and write, each step safe to repeat.

A scorer behind a server is asked who it is by a worker, never by a request or inside a transaction: `start` writes a
job that plans the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max

from annotator import jobs
from annotator.actions import access, circuits, kept_weights, ordering, reordering, rollouts
from annotator.actions.access import Actor, Verb
from annotator.actions.score_rows import keep
from annotator.actions.scoring_inputs import inputs_for
from annotator.jobs import Claimed, enqueue, extend
from annotator.models import (
    AuditEvent,
    Job,
    ScoreFailure,
    Scorer,
    ScorerVersion,
    Solution,
)
from annotator.scorers import LOCAL_QUEUE, REMOTE_KINDS, REMOTE_QUEUE, RUBRIC_KINDS, make, queue_of
from annotator.scorers.base import CORRECTNESS, Scored, ScoringCancelled, ScoringInput
from annotator.scorers.base import ScoreFailure as Failure
from annotator.scorers.base import Scorer as RunningScorer
from annotator.scorers.breaker import CircuitOpen
from annotator.scorers.builtin.model import InvalidWeights
from annotator.scorers.endpoint import EndpointRefused
from annotator.scorers.http import RequestFailed
from annotator.scorers.remote import InvalidSettings

#: Work by where it can be done (annotator.scorers).
QUEUE, REMOTE = LOCAL_QUEUE, REMOTE_QUEUE
SCORE, PLAN = "scoring.score_batch", "scoring.plan"
#: Solutions in one job: small enough to lose little with a worker, large enough to cost few rows.
JOB_SIZE = 100
#: Solutions between two lease renewals.
BATCH_SIZE = 16
#: Workers woken for many jobs at once; each does all that is due. A message for every job would be 10,000 of them
#: for a million solutions, sent while the person waits.
WAKE_UPS = 8
#: A solution that fails while its server is well is tried so often; then its failure is its own.
TRIES = 4
#: Seconds between two looks at whether the work is still wanted; each pushes the lease on.
LOOK_SECONDS = 2.0


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


def subject_of(scorer_id: int) -> str:
    """What the subjects of all scoring jobs of a scorer begin with."""
    return f"scorer {scorer_id} "


def running(scorer: Scorer) -> RunningScorer:
    """The scorer itself, by what is stored and what the installation allows; its champion where it has one.

    Raises InvalidSettings or EndpointRefused.
    """
    config = kept_weights.config_of(scorer)
    if scorer.kind in RUBRIC_KINDS and scorer.project_id:
        config = {"error_types": scorer.project.error_types, **config}
    return made_of(scorer.kind, config)


def made_of(kind: str, config: Mapping[str, Any]) -> RunningScorer:
    """A scorer of this kind with these settings. Raises InvalidSettings or EndpointRefused."""
    try:
        hosts, keys, folders = settings.SCORER_HOSTS, settings.SCORER_KEYS, settings.STEPMARK_MODEL_FOLDERS
        return make(kind, config, allowed_hosts=hosts, allowed_keys=keys, model_folders=folders)
    except InvalidWeights as error:
        raise InvalidSettings(f"Its numbers can't be used: {error}.") from error


def current_version(scorer: Scorer) -> tuple[RunningScorer, ScorerVersion]:
    """The running scorer and the row of its version, made at first sight. Asks the scorer's server where it has one:
    raises RequestFailed or CircuitOpen, and what `running` raises."""
    found = running(scorer)
    if scorer.champion is not None:
        if found.version != scorer.champion.version:
            raise InvalidSettings(
                f"With these settings the numbers of {scorer.champion.version} are another version, {found.version}. "
                "Take the change of settings back, or go back to the version before it."
            )
        return found, scorer.champion
    version, _ = ScorerVersion.objects.get_or_create(
        scorer=scorer,
        version=found.version,
        defaults={"measures": found.measures, "threshold": found.threshold},
    )
    return found, version


def request(*, actor: Actor, scorer_name: str | None = None) -> list[Asked]:
    """Ask the workers to score what the current version of each scorer has not.

    For the shell: waits until a scorer's server has said who it is. Raises NoSuchScorer, and what `current_version`
    raises.
    """
    access.require(actor, Verb.SCORE)
    scorers = Scorer.objects.filter(project_id=actor.project_id)
    if scorer_name is not None:
        scorers = scorers.filter(name=scorer_name)
        if not scorers:
            raise NoSuchScorer(f"This project has no scorer '{scorer_name}'.")
    asked = []
    for scorer in scorers:
        _, version = current_version(scorer)
        asked.append(_plan(scorer, version))
        AuditEvent.objects.record(
            "scoring:requested",
            f"scorer {scorer.name}",
            project_id=actor.project_id,
            member_id=actor.member_id,
            data={"version": version.version, "solutions": asked[-1].solutions},
        )
    return asked


def start(scorer: Scorer) -> None:
    """Have a worker find out what there is to score, and write the jobs. Call it inside a transaction."""
    enqueue(
        kind=PLAN,
        subject=f"{subject_of(scorer.pk)}plan",
        queue=queue_of(scorer.kind, scorer.config),
        project_id=scorer.project_id,
        payload={"scorer_id": scorer.pk, "only_new": False},
    )


def look_at_all() -> int:
    """Have workers look whether a server serves another model than before. Returns how many scorers."""
    scorers = list(Scorer.objects.filter(paused=False, kind__in=REMOTE_KINDS))
    for scorer in scorers:
        with transaction.atomic():
            enqueue(
                kind=PLAN,
                subject=f"{subject_of(scorer.pk)}look",
                queue=queue_of(scorer.kind, scorer.config),
                project_id=scorer.project_id,
                payload={"scorer_id": scorer.pk, "only_new": True},
            )
    return len(scorers)


def plan(*, job: Claimed) -> None:
    """Write the jobs for what the scorer's present version lacks; with ``only_new`` only where another version
    than before has come into force.

    A server that doesn't answer is asked again later.
    """
    scorer = Scorer.objects.select_related("refines").get(pk=job.payload["scorer_id"])
    if scorer.paused or (scorer.refines is not None and _queued(scorer.refines)):
        return  # the last job of the first pass asks again
    known = set(scorer.versions.values_list("pk", flat=True))
    try:
        _, version = current_version(scorer)
    except (RequestFailed, CircuitOpen, InvalidSettings, EndpointRefused) as error:
        trouble = circuits.trouble(error)
        circuits.note(scorer, trouble)
        if not job.payload.get("only_new"):
            _again(job, scorer, job.payload, trouble)
        return
    circuits.note(scorer, None)
    if version.pk not in known or not job.payload.get("only_new") or not version.is_in_force():
        _plan(scorer, version)


@transaction.atomic
def _plan(scorer: Scorer, version: ScorerVersion) -> Asked:
    """Jobs for all that this version has not scored, in place of those still queued; failures are tried anew."""
    if not version.is_in_force():
        version.put_in_force()  # settings or a server have returned to it
    jobs.drop(kind=SCORE, subject_prefix=subject_of(scorer.pk))
    ScoreFailure.objects.filter(version=version).delete()
    unscored = unscored_ids(project_id=scorer.project_id, version_id=version.pk)
    count = 0 if scorer.paused else _enqueue(scorer, unscored, WAKE_UPS)
    if scorer.ranks:
        ordering.ask_for_new_order(project_id=scorer.project_id, version_id=version.pk)
    return Asked(scorer.name, version.version, version.pk, len(unscored), count)


def unscored_ids(*, project_id: int, version_id: int) -> list[int]:
    """Solutions that a scorer version has said nothing of, most needed first: untouched ones, in the queue's order."""
    rows = Solution.objects.filter(project_id=project_id, superseded_at=None)
    rows = rows.exclude(scores__version_id=version_id)
    begun, priority = F("queue_row__taken"), F("queue_row__priority")
    needed = rows.order_by(begun.asc(nulls_last=True), priority.desc(nulls_last=True), "pk")
    return list(needed.values_list("pk", flat=True))


def enqueue_scoring(*, scorer: Scorer, solution_ids: Sequence[int], wake_ups: int | None = None) -> int:
    """Write scoring jobs for these solutions, in the caller's transaction. Returns how many; none while paused, since
    going on plans anew, and none for a second pass, which is planned after the first. ``wake_ups`` instead of the usual
    is for many calls in a row."""
    if scorer.paused:
        return 0
    if scorer.refines_id is not None:
        start(scorer)
        return 0
    return _enqueue(scorer, solution_ids, WAKE_UPS if wake_ups is None else wake_ups)


def _enqueue(scorer: Scorer, solution_ids: Sequence[int], wake_ups: int) -> int:
    said = subject_of(scorer.pk)
    wanted = {
        f"{said}solutions {ids[0]}-{ids[-1]}": {"scorer_id": scorer.pk, "solution_ids": ids}
        for ids in _chunks(solution_ids, JOB_SIZE)
    }
    jobs.enqueue_many(
        kind=SCORE,
        queue=queue_of(scorer.kind, scorer.config),
        project_id=scorer.project_id,
        wanted=wanted,
        wake_ups=wake_ups,
    )
    return len(wanted)


def score_batch(*, job: Claimed) -> int:
    """Score a job's solutions that this version hasn't tried yet. Returns how many were written. Raises LeaseLost.

    No transaction is open while the scorer works. Each small batch is written as it comes, so that a killed worker
    loses a batch and no more, and a second run finds only what is missing.
    """
    scorer = Scorer.objects.select_related("project").get(pk=job.payload["scorer_id"])
    if scorer.paused:
        return 0
    known = scorer.versions.aggregate(newest=Max("pk"))["newest"]
    try:
        found, version = current_version(scorer)
    except (RequestFailed, CircuitOpen, InvalidSettings, EndpointRefused) as error:
        trouble = circuits.trouble(error)
        circuits.note(scorer, trouble)
        _again(job, scorer, job.payload, trouble)
        return 0
    if known is not None and version.pk > known:
        with transaction.atomic():
            start(scorer)  # the rest is due under the new version as well
    written, left = _score_all(job, scorer, found, version)
    if left:
        _later(job, scorer, found, left, version)
    else:
        circuits.note(scorer, None)
    more = _queued(scorer)
    reordering.after_scores(version, written=written, more=more)
    if not more:
        _hand_on(scorer)
    return written


def _queued(scorer: Scorer) -> bool:
    """Whether more of the scorer's jobs wait."""
    queued = Job.objects.filter(state=Job.State.QUEUED, kind=SCORE)
    return queued.filter(subject__startswith=subject_of(scorer.pk)).exists()


@transaction.atomic
def _hand_on(scorer: Scorer) -> None:
    """The first pass is over: those that refine it begin, with what the order needs most."""
    for each in scorer.refined_by.filter(paused=False):
        start(each)


def _score_all(
    job: Claimed, scorer: Scorer, found: RunningScorer, version: ScorerVersion
) -> tuple[int, dict[int, str]]:
    """How many were written, and what is left for the server's sake: solution → why."""
    wanted = (
        Solution.objects.filter(pk__in=job.payload["solution_ids"])
        .exclude(scores__version=version)
        .exclude(pk__in=ScoreFailure.objects.filter(version=version).values("solution_id"))
        .select_related("problem")
        .order_by("pk")
    )
    written, left = 0, dict[int, str]()
    for batch in _chunks(list(wanted), BATCH_SIZE):
        inputs = inputs_for(found, batch)
        try:
            results = rollouts.score(found, version, batch, inputs, _unwanted(job))
        except ScoringCancelled:
            raise jobs.LeaseLost(f"{job.kind} {job.subject}") from None
        later = {
            one.pk: result.message
            for one, result in zip(batch, results, strict=True)
            if isinstance(result, Failure) and result.temporary
        }
        with transaction.atomic():
            extend(job)
            written += _write(batch, inputs, results, later, version)
        left |= later
        if len(later) == len(batch) and circuits.state_of(found) == "open":
            left |= {pk: next(iter(later.values())) for pk in job.payload["solution_ids"]}
            break
    return written, left


def _write(
    batch: Sequence[Solution],
    inputs: Sequence[ScoringInput],
    results: Sequence[Scored | Failure],
    later: dict[int, str],
    version: ScorerVersion,
) -> int:
    said = [one for one in zip(batch, inputs, results, strict=True) if one[0].pk not in later]
    count = keep(said, version)
    if version.measures == CORRECTNESS:
        ordering.rank_new(solution_ids=[solution.pk for solution, _, _ in said], version=version)
    return count


def _later(
    job: Claimed, scorer: Scorer, found: RunningScorer, left: dict[int, str], version: ScorerVersion
) -> None:
    """Put off what failed for the server's sake. What fails again and again while the server is well, has failed."""
    circuit = circuits.state_of(found)
    tries = int(job.payload.get("tries", 0)) + (circuit == "closed")
    reason = next(iter(left.values()))
    if tries >= TRIES:
        with transaction.atomic():
            ScoreFailure.objects.bulk_create(
                [
                    ScoreFailure(solution_id=pk, version=version, message=why[:500])
                    for pk, why in left.items()
                ],
                ignore_conflicts=True,
            )
        return
    state = getattr(found, "state", None)
    pause = max(circuits.PAUSE, state.retry_in if state is not None else 0.0)
    trouble = circuits.NotNow(reason, pause, circuit if circuit != "closed" else "failing")
    circuits.note(scorer, trouble)
    _again(job, scorer, {**job.payload, "solution_ids": sorted(left), "tries": tries}, trouble)


def _again(job: Claimed, scorer: Scorer, payload: Any, trouble: circuits.NotNow) -> None:
    """The same job once more, after a pause; while a server is down, the scorer's other jobs wait as long."""
    with transaction.atomic():
        if not jobs.still_held(job):
            return  # dropped meanwhile: nobody wants it any more
        enqueue(
            kind=job.kind,
            subject=job.subject,
            queue=queue_of(scorer.kind, scorer.config),
            project_id=scorer.project_id,
            payload=payload,
            after=timedelta(seconds=trouble.pause),
        )
        if trouble.state != "failing":
            jobs.put_off(kind=SCORE, subject_prefix=subject_of(scorer.pk), seconds=trouble.pause)


def _unwanted(job: Claimed) -> Callable[[], bool]:
    """Whether the job was dropped meanwhile. Looks now and then, and holds the lease while a slow server works."""
    looked, found = time.monotonic(), False

    def ask() -> bool:
        nonlocal looked, found
        if time.monotonic() - looked >= LOOK_SECONDS:
            looked = time.monotonic()
            found = not jobs.renew(job)
        return found

    return ask


def _chunks(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    for start_at in range(0, len(items), size):
        yield list(items[start_at : start_at + size])
