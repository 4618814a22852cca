"""What was imported, and what is being imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.models import ImportBatch, Job

SHOWN = 50


@dataclass(frozen=True)
class History:
    """The last batches, the newest first; how many files wait for a worker; the last error of one that failed."""

    batches: Sequence[ImportBatch]
    waiting: int
    failed: str

    @property
    def busy(self) -> bool:
        """Whether anything is going on that the page should follow."""
        return self.waiting > 0 or any(each.state == ImportBatch.State.RUNNING for each in self.batches)


def history(project_id: int) -> History:
    """Two queries."""
    batches = (
        ImportBatch.objects.filter(project_id=project_id).select_related("member").defer("errors")[:SHOWN]
    )
    jobs = Job.objects.filter(project_id=project_id, kind="imports.run").order_by("pk")
    states = list(jobs.values_list("state", "error"))
    failed = [error for state, error in states if state == Job.State.FAILED]
    waiting = sum(state != Job.State.FAILED for state, _ in states)
    return History(list(batches), waiting, failed[-1] if failed else "")


def batch_in(project_id: int, batch_id: int) -> ImportBatch | None:
    """A batch of this project."""
    return ImportBatch.objects.filter(project_id=project_id, pk=batch_id).first()
