"""Writing what a scorer said: scores and failures, once each."""

from __future__ import annotations

from collections.abc import Sequence

from annotator.core.uncertainty import priority
from annotator.models import Score, ScoreDetail, ScoreFailure, ScorerVersion, Solution
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
    _keep_details(said, version)
    ScoreFailure.objects.filter(
        version=version, solution__in=[score.solution_id for score in scores]
    ).delete()
    ScoreFailure.objects.bulk_create(
        failures,
        update_conflicts=True,
        unique_fields=["solution", "version"],
        update_fields=["message", "failed_at"],
    )
    return len(scores)


def _keep_details(said: Sequence[Said], version: ScorerVersion) -> None:
    """What was said or paid beside the values. Nothing for a scorer that only reads: its rows come by the million."""
    told = {
        solution.pk: result
        for solution, _, result in said
        if isinstance(result, Scored)
        and (result.rationale or result.error_types or set(result.usage or ()) - {"characters"})
    }
    if not told:
        return
    rows = Score.objects.filter(version=version, solution_id__in=told)
    ScoreDetail.objects.bulk_create(
        [
            ScoreDetail(
                score_id=pk,
                error_types=told[solution].error_types,
                rationale=told[solution].rationale or "",
                usage=dict(told[solution].usage or {}),
            )
            for pk, solution in rows.values_list("pk", "solution_id")
        ],
        ignore_conflicts=True,
    )


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
