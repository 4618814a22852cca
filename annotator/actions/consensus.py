"""Keeping each solution's consensus up to date with its annotations, and asking for more where people differ."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from annotator.actions import cases
from annotator.core import consensus as arithmetic
from annotator.core.labels import CENSORED, FinishReason, Mode
from annotator.models import AdjudicationCase, Annotation, Consensus, QueueRow, Solution


@transaction.atomic
def update(*, solution_id: int) -> None:
    """Recompute one solution's consensus from its current, counted, uncensored annotations. May run twice.

    A tie asks for one more label, up to the project's cap; beyond it, and for a problem that somebody called bad,
    a reviewer is asked.
    """
    solution = (
        Solution.objects.select_for_update(of=("self",), no_key=True)
        .select_related("project")
        .get(pk=solution_id)
    )
    current = Annotation.objects.filter(solution=solution, current=True, counted=True)
    censored = [reason.value for reason in CENSORED]
    labels = list(current.exclude(finish_reason__in=censored).values_list("labels", flat=True))
    judged = [step["judged"] for step in solution.steps]
    agreed = arithmetic.plurality(labels, judged, Mode(solution.project.mode))
    if agreed is None:
        Consensus.objects.filter(solution=solution).delete()
    else:
        _write(solution, agreed, len(labels))
    if current.filter(finish_reason=FinishReason.BAD_PROBLEM.value).exists():
        cases.open_case(solution=solution, reason=AdjudicationCase.Reason.BAD_PROBLEM)
    elif agreed is not None and agreed.tied and not _ask_for_one_more(solution):
        cases.open_case(solution=solution, reason=AdjudicationCase.Reason.TIE)


def _write(solution: Solution, agreed: arithmetic.Agreed, n_annotations: int) -> None:
    Consensus.objects.update_or_create(
        solution=solution,
        defaults={
            "n_steps": solution.n_steps,
            "method": agreed.method,
            "state": Consensus.State.TIED if agreed.tied else Consensus.State.AGREED,
            "labels": list(agreed.labels),
            "stop": agreed.stop,
            "n_annotations": n_annotations,
            "computed_at": Now(),
        },
    )


def _ask_for_one_more(solution: Solution) -> bool:
    """Whether another label is on its way: wanted already, or now. False at the cap."""
    row = QueueRow.objects.select_for_update().filter(pk=solution.pk).first()
    if row is None:
        return False
    if row.taken < row.wanted:
        return True
    if row.wanted >= solution.project.labels_max:
        return False
    QueueRow.objects.filter(pk=row.pk).update(wanted=F("wanted") + 1)
    return True
