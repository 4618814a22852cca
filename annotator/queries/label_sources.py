"""Where labels can come from beside people: each scorer by its kind of source, and whether two kinds agree."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery

from annotator.core.consensus_filter import Kept
from annotator.models import Project, Score, ScorerVersion, Solution

JUDGE, MONTE_CARLO, SCORER = "judge", "monte_carlo", "scorer"
_SOURCES = {"critic": JUDGE, "judge": JUDGE, "monte_carlo": MONTE_CARLO}


def source_of(kind: str) -> str:
    """What a scorer of this kind is as a source of labels."""
    return _SOURCES.get(kind, SCORER)


def versions_in_force(project_id: int) -> list[ScorerVersion]:
    """The present version of each scorer of a project, in the order in which the scorers were added."""
    rows = ScorerVersion.objects.filter(scorer__project_id=project_id).select_related("scorer")
    return list(rows.in_force())


def of_source(versions: Sequence[ScorerVersion], source: str) -> list[int]:
    """The versions that are of this source, by their ids."""
    return [one.pk for one in versions if source_of(one.scorer.kind) == source]


def where_both_speak(
    solutions: QuerySet[Solution], judges: Sequence[int], estimates: Sequence[int]
) -> QuerySet[Solution]:
    """Solutions of which a judge and a Monte-Carlo estimate have said something."""
    for versions in (judges, estimates):
        solutions = solutions.filter(
            Exists(Score.objects.filter(solution=OuterRef("pk"), version__in=list(versions)))
        )
    return solutions


def where_both_agree(
    solutions: QuerySet[Solution], judges: Sequence[int], estimates: Sequence[int]
) -> QuerySet[Solution]:
    """Those among them where all put the first error in the same place (core.consensus_filter)."""
    said = Score.objects.filter(solution=OuterRef("pk"), version__in=[*judges, *estimates])
    places = said.order_by().values("solution").annotate(n=Count("predicted_stop", distinct=True))
    return (
        where_both_speak(solutions, judges, estimates)
        .annotate(places=Subquery(places.values("n")))
        .filter(places=1)
    )


def consensus_kept(project: Project, versions: Sequence[ScorerVersion]) -> Kept:
    """How many solutions the consensus filter keeps: two queries."""
    judges, estimates = of_source(versions, JUDGE), of_source(versions, MONTE_CARLO)
    if not judges or not estimates:
        return Kept(0, 0)
    mine = Solution.objects.filter(project=project)
    return Kept(
        where_both_speak(mine, judges, estimates).count(), where_both_agree(mine, judges, estimates).count()
    )
