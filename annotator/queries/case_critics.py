"""What chat models wrote of a case's solution: for reviewers, where the case isn't blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.models import ScoreDetail, Solution
from annotator.scorers.base import CORRECTNESS

SHOWN = 4


@dataclass(frozen=True)
class CriticOpinion:
    """One scorer's words. ``predicted_stop`` is 0-based, -1 for none; ``error_type`` is that of the stop."""

    name: str
    kind: str
    predicted_stop: int
    error_type: str
    rationale: str


def critics(solution: Solution) -> Sequence[CriticOpinion]:
    """The newest words of each scorer that wrote some. One query."""
    rows = (
        ScoreDetail.objects.filter(score__solution=solution, score__version__measures=CORRECTNESS)
        .exclude(rationale="")
        .select_related("score__version__scorer")
        .order_by("score__version__scorer_id", "-score__scored_at", "-pk")
        .distinct("score__version__scorer_id")
    )
    return [_opinion(row) for row in rows[:SHOWN]]


def _opinion(row: ScoreDetail) -> CriticOpinion:
    stop, types = row.score.predicted_stop, row.error_types or []
    named = types[stop] if 0 <= stop < len(types) else None
    scorer = row.score.version.scorer
    return CriticOpinion(scorer.name, scorer.kind, stop, named or "", row.rationale)
