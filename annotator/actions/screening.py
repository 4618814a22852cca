"""Scoring people on gold."""

from __future__ import annotations

from django.db import transaction

from annotator.core.labels import FinishReason, Mode
from annotator.core.screening import score_item
from annotator.models import Annotation, Gold, GoldResult


@transaction.atomic
def score_gold(*, annotation_id: int) -> bool:
    """Score an annotation of a gold solution. Returns False when the solution isn't gold. May run twice."""
    annotation = Annotation.objects.select_related("solution__project").get(pk=annotation_id)
    gold = Gold.objects.filter(solution_id=annotation.solution_id).first()
    if gold is None:
        return False
    solution = annotation.solution
    score = score_item(
        annotation.labels,
        gold.accept,
        [step["judged"] for step in solution.steps],
        Mode(solution.project.mode),
        FinishReason(annotation.finish_reason),
    )
    GoldResult.objects.update_or_create(
        annotation=annotation,
        defaults={
            "member_id": annotation.member_id,
            "item_right": score.item_right,
            "errors_reached": score.errors_reached,
            "errors_caught": score.errors_caught,
            "sound_reached": score.sound_reached,
            "false_alarms": score.false_alarms,
        },
    )
    return True
