"""What an export would hold, in three numbers."""

from __future__ import annotations

from dataclasses import dataclass

from annotator.models import Consensus, Gold, Problem, Solution


@dataclass(frozen=True)
class ExportSummary:
    """``labelled`` solutions have an agreed label; gold is left out unless asked for."""

    labelled: int
    solutions: int
    gold_left_out: int


def export_summary(project_id: int) -> ExportSummary:
    """Three counts."""
    return ExportSummary(
        labelled=Consensus.objects.filter(
            solution__project_id=project_id, solution__gold=None, state=Consensus.State.AGREED
        ).count(),
        solutions=Solution.objects.filter(project_id=project_id).count(),
        gold_left_out=Gold.objects.filter(project_id=project_id).count(),
    )


def domains(project_id: int) -> list[str]:
    """The domains that problems of the project name; one query."""
    named = Problem.objects.filter(project_id=project_id).exclude(domain="")
    return list(named.order_by("domain").values_list("domain", flat=True).distinct()[:200])
