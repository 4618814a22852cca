"""Monte-Carlo estimates that go on where they were left: each tally is kept as it comes, so nothing is paid twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.db import transaction
from django.utils import timezone

from annotator.models import Rollouts, ScorerVersion, Solution
from annotator.scorers.base import (
    AnsweredInput,
    NeedsAnswer,
    Scored,
    ScoreFailure,
    Scorer,
    ScoringInput,
    Tally,
)

NO_ANSWER = "The problem has no reference answer, so no continuation can be checked."


def score(
    found: Scorer,
    version: ScorerVersion,
    batch: Sequence[Solution],
    inputs: Sequence[ScoringInput],
    cancelled: Callable[[], bool],
) -> list[Scored | ScoreFailure]:
    """One result for each solution, in order; the reference answer goes only to a scorer that needs it.

    Raises ScoringCancelled. Call it outside a transaction.
    """
    if isinstance(found, NeedsAnswer):
        return _estimate(found, version, batch, inputs, cancelled)
    return found.score(inputs, cancelled=cancelled)


def _estimate(
    found: NeedsAnswer,
    version: ScorerVersion,
    batch: Sequence[Solution],
    inputs: Sequence[ScoringInput],
    cancelled: Callable[[], bool],
) -> list[Scored | ScoreFailure]:
    known = _known(version, batch)
    asked = [place for place, one in enumerate(batch) if (one.problem.answer or "").strip()]
    answered = [
        AnsweredInput(inputs[place], batch[place].problem.answer or "", known.get(batch[place].pk, {}))
        for place in asked
    ]

    def paid(place: int, step: int, tally: Tally) -> None:
        add(solution_id=batch[asked[place]].pk, version_id=version.pk, step=step, tally=tally)

    results: list[Scored | ScoreFailure] = [ScoreFailure(NO_ANSWER)] * len(batch)
    if answered:
        for place, result in zip(
            asked, found.score_answered(answered, cancelled=cancelled, paid=paid), strict=True
        ):
            results[place] = result
    return results


@transaction.atomic
def add(*, solution_id: int, version_id: int, step: int, tally: Tally) -> None:
    """Add what one request brought to what is known of a prefix."""
    rows = Rollouts.objects.select_for_update()
    row, _ = rows.get_or_create(solution_id=solution_id, version_id=version_id, step=step)
    total = _tally(row) + tally
    row.tried, row.right, row.unparsed, row.usage = (
        total.tried,
        total.right,
        total.unparsed,
        dict(total.usage),
    )
    row.updated_at = timezone.now()
    row.save()


def _known(version: ScorerVersion, batch: Sequence[Solution]) -> dict[int, dict[int, Tally]]:
    """Tallies by solution and step."""
    found: dict[int, dict[int, Tally]] = {}
    for row in Rollouts.objects.filter(version=version, solution__in=[one.pk for one in batch]):
        found.setdefault(row.solution_id, {})[row.step] = _tally(row)
    return found


def _tally(row: Rollouts) -> Tally:
    return Tally(row.tried, row.right, row.unparsed, row.usage)
