"""The quality report: computed once, kept, and computed anew when anything changes that it would see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from annotator.jobs import enqueue
from annotator.models import Project, QualityReport
from annotator.queries.quality.fingerprint import fingerprint
from annotator.queries.quality.kept import REPORT, kept_report
from annotator.queries.quality.report import build
from annotator.queries.quality.shapes import Report, from_json, to_json

#: A busy project's report is computed at most so often, everybody's habits more rarely.
REPORT_EVERY, CONSENSUS_EVERY = timedelta(seconds=60), timedelta(minutes=10)


@dataclass(frozen=True)
class Kept:
    """A report, when it was computed, and whether everything it saw is still so."""

    report: Report
    computed_at: datetime
    fresh: bool


def report(*, project: Project, patience: timedelta = timedelta(0)) -> Kept:
    """The kept report where it still holds, else a new one.

    One that no longer holds is still good for ``patience`` after it was computed; a worker then computes the next.
    """
    row = kept_report(project)
    if row is None:
        return compute(project=project)
    if row.fingerprint == fingerprint(project):
        return Kept(from_json(row.data), row.computed_at, fresh=True)
    if timezone.now() - row.computed_at < patience:
        ask_for_report(project_id=project.pk, after=timedelta(0))
        return Kept(from_json(row.data), row.computed_at, fresh=False)
    return compute(project=project)


def compute(*, project: Project) -> Kept:
    """Compute the report and keep it. What changes while it is computed makes it stale at once."""
    mark = fingerprint(project)
    made = build(project)
    row, _ = QualityReport.objects.update_or_create(
        project=project,
        kind=REPORT,
        defaults={"fingerprint": mark, "data": to_json(made), "computed_at": timezone.now()},
    )
    return Kept(made, row.computed_at, fresh=True)


def refresh(*, project_id: int) -> bool:
    """Compute the report unless the kept one still holds. Returns whether it was computed. May run twice."""
    project = Project.objects.get(pk=project_id)
    row = kept_report(project)
    if row is not None and row.fingerprint == fingerprint(project):
        return False
    compute(project=project)
    return True


@transaction.atomic
def ask_for_all(*, project_id: int) -> None:
    """Labels have changed: the report and everybody's habits are due, a while from now."""
    ask_for_report(project_id=project_id)
    ask_for_consensus(project_id=project_id)


def ask_for_report(*, project_id: int, after: timedelta = REPORT_EVERY) -> None:
    """Have a worker compute the report, once however many ask. Call it inside a transaction."""
    enqueue(
        kind="quality.report",
        subject=f"project {project_id}",
        project_id=project_id,
        payload={"project_id": project_id},
        after=after,
    )


def ask_for_consensus(*, project_id: int, after: timedelta = CONSENSUS_EVERY) -> None:
    """Have a worker fit everybody's habits and decide every solution anew, once however many ask."""
    enqueue(
        kind="consensus.recompute_all",
        subject=f"project {project_id}",
        project_id=project_id,
        payload={"project_id": project_id},
        after=after,
    )
