"""Writing what a scorer said: scores and failures, once each."""

from __future__ import annotations

from collections.abc import Sequence

from annotator.core.uncertainty import priority
from annotator.models import Score, ScoreFailure, ScorerVersion, Solution
from annotator.scorers.base import InvalidScores, Scored, ScoringInput, checked
from annotator.scorers.base import ScoreFailure as Failure

Said = tuple[Solution, ScoringInput, Scored | Failure]


def keep(said: Sequence[Said], version: ScorerVersion) -> int:
    """Write scores and failures in the caller's transaction. Returns the number of scores."""
    scores: list[Score] = []
    failures: list[ScoreFailure] = []
    for solution, given, result in said:
        made = _row(solution, given, result, version)
        if isinstance(made, Score):
            scores.append(made)
        else:
            failures.append(made)
    Score.objects.bulk_create(scores, ignore_conflicts=True)
    ScoreFailure.objects.filter(
        version=version, solution__in=[score.solution_id for score in scores]
    ).delete()
    ScoreFailure.objects.bulk_create(
        failures,
        update_conflicts=True,
        unique_fields=["solution", "version"],
        update_fields=["message"],
    )
    return len(scores)


def _row(
    solution: Solution, given: ScoringInput, result: Scored | Failure, version: ScorerVersion
) -> Score | ScoreFailure:
    if isinstance(result, Failure):
        return ScoreFailure(solution=solution, version=version, message=result.message[:500])
    try:
        scored = checked(result, given.steps)
    except InvalidScores as error:
        return ScoreFailure(solution=solution, version=version, message=str(error)[:500])
    rank = priority(scored.values, scored.spread, version.threshold)
    return Score(
        solution=solution,
        version=version,
        n_steps=solution.n_steps,
        values=list(scored.values),
        spread=list(scored.spread),
        priority=rank.score,
        tiebreak=rank.tiebreak,
        predicted_stop=rank.predicted_stop,
    )
