"""What was computed before and kept: the report, and everybody's habits."""

from __future__ import annotations

from annotator.models import Project, QualityReport
from annotator.queries.quality.opinions import Rates

REPORT, STOP_RATES = "report", "stop_rates"


def kept_rates(project: Project) -> Rates | None:
    """Everybody's habits as they were fitted last, or None where they never were."""
    row = QualityReport.objects.filter(project=project, kind=STOP_RATES).first()
    return Rates.from_json(row.data) if row else None


def kept_report(project: Project) -> QualityReport | None:
    """The report as it was computed last, whether or not it still holds."""
    return QualityReport.objects.filter(project=project, kind=REPORT).first()
