"""The evaluation of a project's scorers: computed once, kept, and computed anew when what it would see has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from annotator.models import Project, QualityReport
from annotator.queries.evaluation.known import Against
from annotator.queries.evaluation.mark import mark
from annotator.queries.evaluation.measured import compared, plain


@dataclass(frozen=True)
class Evaluated:
    """The plain values of each version, and when they were computed."""

    versions: Sequence[dict[str, Any]]
    computed_at: datetime


def evaluation(*, project: Project, against: Against) -> Evaluated:
    """The kept evaluation where it still holds, else a new one. May run twice."""
    seen, kind = mark(project), f"evaluation_{against.value}"
    row = QualityReport.objects.filter(project=project, kind=kind).first()
    if row is not None and row.fingerprint == seen:
        return Evaluated(row.data["versions"], row.computed_at)
    versions = [plain(each) for each in compared(project, against)]
    row, _ = QualityReport.objects.update_or_create(
        project=project,
        kind=kind,
        defaults={"fingerprint": seen, "data": {"versions": versions}, "computed_at": timezone.now()},
    )
    return Evaluated(versions, row.computed_at)
