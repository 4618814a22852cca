"""Thin Celery tasks. A message only says "wake up": what there is to do stands in PostgreSQL."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from celery import shared_task

from annotator import jobs
from annotator.actions import (
    calibrating,
    cases,
    consensus,
    deliveries,
    export_files,
    hooks,
    import_jobs,
    ordering,
    quality,
    queueing,
    scoring,
    screening,
    standing,
    training,
    training_run,
)
from annotator.jobs import Claimed
from annotator.models import Annotation

log = logging.getLogger(__name__)

#: A run hands over to a fresh message after this many seconds, so that a worker can be stopped politely.
BUDGET_SECONDS = 60.0
#: Reading and ranking a million rows takes longer than a job's usual lease, and nothing is written meanwhile.
ORDER_LEASE_SECONDS = 300.0


def follow_up(job: Claimed) -> None:
    """After a submit: gold is scored, work gets its consensus. One job for both, so that neither takes longer."""
    annotation_id = int(job.payload["annotation_id"])
    if job.project_id is not None:
        quality.ask_for_all(project_id=job.project_id)
    if not screening.score_gold(annotation_id=annotation_id):
        consensus.update(
            solution_id=Annotation.objects.values_list("solution_id", flat=True).get(pk=annotation_id)
        )
        cases.dispute_late(annotation_id=annotation_id)


def reprioritize(job: Claimed) -> None:
    """Write a scorer version's order to the queue."""

    def still_at_it() -> None:
        jobs.extend(job, lease_seconds=ORDER_LEASE_SECONDS)

    still_at_it()
    ordering.reprioritize(version_id=int(job.payload["version_id"]), progress=still_at_it)


def update_consensus(job: Claimed) -> None:
    """Compute one solution's consensus anew."""
    consensus.update(solution_id=int(job.payload["solution_id"]))


def score_batch(job: Claimed) -> None:
    """Score the solutions that a job names."""
    scoring.score_batch(job=job)


def plan_scoring(job: Claimed) -> None:
    """Find out what a scorer lacks, and write the jobs for it."""
    scoring.plan(job=job)


def recompute_consensus(job: Claimed) -> None:
    """Fit everybody's habits and decide every solution with them."""
    consensus.recompute_all(project_id=int(job.payload["project_id"]), progress=lambda: jobs.extend(job))


def quality_report(job: Claimed) -> None:
    """Compute a project's quality report, unless nothing has changed, and set its scorers right by the same labels."""
    project_id = int(job.payload["project_id"])
    quality.refresh(project_id=project_id)
    calibrating.refresh(project_id=project_id)


def update_standing(job: Claimed) -> None:
    """Follow a person's standing anew, after gold that was wrong."""
    standing.update(member_id=int(job.payload["member_id"]))


def import_upload(job: Claimed) -> None:
    """Import a file that somebody uploaded, or what is left of it."""
    import_jobs.run(job=job, extend=lambda: jobs.extend(job))


def train(job: Claimed) -> None:
    """Train a scorer on what people labelled."""
    training_run.run(job=job)


def run_export(job: Claimed) -> None:
    """Make the file of an export that somebody asked for."""
    export_files.run(job=job, extend=lambda: jobs.extend(job))


def tell_webhook(job: Claimed) -> None:
    """Try one message to an address outside."""
    deliveries.deliver(job=job)


HANDLERS: dict[str, Callable[[Claimed], None]] = {
    "consensus.recompute_all": recompute_consensus,
    "consensus.update": update_consensus,
    export_files.JOB: run_export,
    hooks.JOB: tell_webhook,
    "imports.run": import_upload,
    "labeling.follow_up": follow_up,
    "quality.report": quality_report,
    "queueing.reprioritize": reprioritize,
    "scoring.plan": plan_scoring,
    "scoring.score_batch": score_batch,
    "standing.update": update_standing,
    "training.run": train,
}


@shared_task(name="annotator.tasks.run_jobs")
def run_jobs(queue: str) -> int:
    """Do the due jobs of a queue, one after the other. Returns how many."""
    deadline = time.monotonic() + BUDGET_SECONDS
    done = 0
    while (job := jobs.claim(queue)) is not None:
        run(job)
        done += 1
        if time.monotonic() > deadline:
            jobs.wake(queue)
            break
    return done


def run(job: Claimed) -> None:
    """Do one job and say what came of it. Whatever it raises is kept with the job; the worker goes on."""
    try:
        HANDLERS[job.kind](job)
    except jobs.LeaseLost:
        log.warning("Lost the lease of %s %s: another worker has it.", job.kind, job.subject)
    except Exception as error:
        log.exception("%s %s failed", job.kind, job.subject)
        jobs.fail(job, f"{type(error).__name__}: {error}")
    else:
        jobs.finish(job)


@shared_task(name="annotator.tasks.reconcile")
def reconcile() -> list[str]:
    """Announce due jobs again, and free those whose worker died."""
    return jobs.reconcile()


@shared_task(name="annotator.tasks.reclaim")
def reclaim() -> int:
    """Free the slots of assignments whose lease ran out."""
    return queueing.reclaim()


@shared_task(name="annotator.tasks.look_at_scorers")
def look_at_scorers() -> int:
    """Look whether model servers serve another model than before."""
    return scoring.look_at_all()


@shared_task(name="annotator.tasks.look_at_training")
def look_at_training() -> int:
    """Begin what projects want trained after so many labels or hours."""
    return training.look_at_all()
