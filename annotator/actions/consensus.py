"""Keeping each solution's consensus up to date with its annotations."""

from __future__ import annotations

from django.db import transaction
from django.db.models.functions import Now

from annotator.core import consensus as arithmetic
from annotator.core.labels import CENSORED, Mode
from annotator.models import Annotation, Consensus, Solution


@transaction.atomic
def update(*, solution_id: int) -> None:
    """Recompute one solution's consensus from its current, counted, uncensored annotations. May run twice."""
    solution = (
        Solution.objects.select_for_update(of=("self",), no_key=True)
        .select_related("project")
        .get(pk=solution_id)
    )
    annotations = list(
        Annotation.objects.filter(solution=solution, current=True, counted=True)
        .exclude(finish_reason__in=[reason.value for reason in CENSORED])
        .values_list("labels", flat=True)
    )
    judged = [step["judged"] for step in solution.steps]
    agreed = arithmetic.plurality(annotations, judged, Mode(solution.project.mode))
    if agreed is None:
        Consensus.objects.filter(solution=solution).delete()
        return
    Consensus.objects.update_or_create(
        solution=solution,
        defaults={
            "n_steps": solution.n_steps,
            "method": agreed.method,
            "state": Consensus.State.TIED if agreed.tied else Consensus.State.AGREED,
            "labels": list(agreed.labels),
            "stop": agreed.stop,
            "n_annotations": len(annotations),
            "computed_at": Now(),
        },
    )
