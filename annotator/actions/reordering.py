"""When new scores call for a new order of the queue: soon while more are coming, at once after the last."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction

from annotator.actions import ordering
from annotator.models import Job, QueueRow, ScoreFailure, ScorerVersion, Solution

#: Seconds within which new scores call for one new order, while more are coming; as long again for each so many rows,
#: so that a large queue is not re-ranked all the time while it is scored.
REORDER_SECONDS, REORDER_ROWS = 60.0, 100_000


def after_scores(version: ScorerVersion, *, written: int, more: bool) -> None:
    """Ask for a new order where a job that has written so many scores calls for one; ``more``: others of the scorer's
    jobs wait. Nothing happens for a scorer that has no say in the order."""
    base = ordering.base_of(version)
    if base is None:
        return
    project, after = version.scorer.project, timedelta(0)
    if not _replaces_another(version, base):
        if not ordering.takes_turns(project) or base.pk not in _standing_by(version):
            return
        queued = Job.objects.filter(state=Job.State.QUEUED, kind=ordering.REORDER)
        put_off = queued.filter(subject=ordering.subject_of(base.pk)).exists()
        if not written and (more or not put_off):
            return
        if more:
            rows = QueueRow.objects.filter(project=project).count()
            after = timedelta(seconds=REORDER_SECONDS * (1 + rows // REORDER_ROWS))
    with transaction.atomic():
        ordering.ask_for_new_order(project_id=project.pk, version_id=base.pk, after=after)


def _replaces_another(version: ScorerVersion, base: ScorerVersion) -> bool:
    """Whether rows still stand in an older order and this version has tried every solution by now.

    Until then the old order serves, so that the two are never mixed.
    """
    others = set(_standing_by(version)) - {base.pk, *(one.pk for one in ordering.refining(base))}
    older = ScorerVersion.objects.filter(pk__in=others)
    mine = older.filter(scorer=version.scorer_id)
    if not (older.exclude(scorer__refines=base.scorer_id) if version == base else mine).exists():
        return False
    tried = ScoreFailure.objects.filter(version=version).values("solution_id")
    waiting = Solution.objects.filter(project=version.scorer.project, superseded_at=None)
    return not waiting.exclude(scores__version=version).exclude(pk__in=tried).exists()


def _standing_by(version: ScorerVersion) -> list[int]:
    versions: list[int] = QueueRow.objects.filter(project=version.scorer.project_id).versions()
    return versions
