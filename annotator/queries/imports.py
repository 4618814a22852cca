"""What was imported, and what is being imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotator.models import ImportBatch, Job, Problem, Solution

SHOWN = 50
State = ImportBatch.State


@dataclass(frozen=True)
class Shown:
    """An import. ``on_benchmarks`` counts its solutions whose problem a known benchmark holds."""

    batch: ImportBatch
    on_benchmarks: int = 0

    @property
    def percent(self) -> int | None:
        """How much of the file is read; None where its size isn't known."""
        return min(100, 100 * self.batch.passed // self.batch.size) if self.batch.size else None

    @property
    def can_pause(self) -> bool:
        going = self.batch.state in {State.QUEUED, State.RUNNING}
        return going and not self.batch.asked

    @property
    def can_resume(self) -> bool:
        return self.batch.upload is not None and self.batch.state in {State.PAUSED, State.FAILED}

    @property
    def can_cancel(self) -> bool:
        return self.batch.is_open and self.batch.asked != "cancel"


@dataclass(frozen=True)
class History:
    """The last imports, the newest first; the last error of one that was given up."""

    imports: Sequence[Shown]
    failed: str

    @property
    def waiting(self) -> int:
        """How many files wait for a worker."""
        return sum(each.batch.state == State.QUEUED for each in self.imports)

    @property
    def busy(self) -> bool:
        """Whether anything is going on that the page should follow."""
        return any(each.batch.state in {State.QUEUED, State.RUNNING} for each in self.imports)


def history(project_id: int) -> History:
    """Three queries."""
    rows = ImportBatch.objects.filter(project_id=project_id).select_related("member").defer("errors")
    batches = list(rows[:SHOWN])
    found = on_benchmarks([batch.pk for batch in batches])
    failed = Job.objects.filter(project_id=project_id, kind="imports.run", state=Job.State.FAILED)
    error = failed.order_by("-pk").values_list("error", flat=True).first()
    return History([Shown(batch, found.get(batch.pk, 0)) for batch in batches], error or "")


def batch_in(project_id: int, batch_id: int) -> ImportBatch | None:
    """A batch of this project."""
    return ImportBatch.objects.filter(project_id=project_id, pk=batch_id).first()


def shown(batch: ImportBatch) -> Shown:
    """One import as its history shows it."""
    return Shown(batch, on_benchmarks([batch.pk]).get(batch.pk, 0))


def on_benchmarks(batch_ids: Sequence[int]) -> dict[int, int]:
    """Solutions of each batch, as they are cut now, whose problem a known benchmark holds; batches without any are
    left out.

    Begins with the problems that are marked, which are few and have an index of their own.
    """
    marked = Problem.objects.exclude(benchmarks=[])
    held = Solution.objects.filter(problem__in=marked, batch_id__in=batch_ids, superseded_at=None)
    rows = held.order_by().values("batch_id").annotate(n=Count("pk"))
    return {row["batch_id"]: row["n"] for row in rows}
