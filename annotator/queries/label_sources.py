"""Where labels can come from beside people: each scorer by its kind of source, and whether two kinds agree."""

from __future__ import annotations

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery

from annotator.core.consensus_filter import Kept
from annotator.models import Project, Score, ScorerVersion, Solution

JUDGE, MONTE_CARLO, SCORER = "judge", "monte_carlo", "scorer"
#: Kinds of scorers whose word may stand where no person's does, and what they are as sources.
AUTOMATIC = {"critic": JUDGE, "generative": JUDGE, "judge": JUDGE, "monte_carlo": MONTE_CARLO}


def source_of(kind: str) -> str:
    """What a scorer of this kind is as a source of labels."""
    return AUTOMATIC.get(kind, SCORER)


def versions_in_force(project_id: int) -> list[ScorerVersion]:
    """The present version of each scorer of a project, in the order in which the scorers were added."""
    rows = ScorerVersion.objects.filter(scorer__project_id=project_id).select_related("scorer")
    return list(rows.in_force())


def where_both_speak(solutions: QuerySet[Solution]) -> QuerySet[Solution]:
    """Solutions of which a judge and a Monte-Carlo estimate have said something."""
    return solutions.filter(Exists(_said(JUDGE)), Exists(_said(MONTE_CARLO)))


def where_both_agree(solutions: QuerySet[Solution]) -> QuerySet[Solution]:
    """Those among them where all put the first error in the same place (core.consensus_filter)."""
    said = _said(JUDGE, MONTE_CARLO).order_by().values("solution")
    places = said.annotate(n=Count("predicted_stop", distinct=True)).values("n")
    return where_both_speak(solutions).annotate(places=Subquery(places)).filter(places=1)


def _said(*sources: str) -> QuerySet[Score]:
    """A solution's scores by the versions in force that are of these sources."""
    kinds = [kind for kind, source in AUTOMATIC.items() if source in sources]
    versions = ScorerVersion.objects.filter(scorer__kind__in=kinds).in_force()
    return Score.objects.filter(solution=OuterRef("pk"), version__in=versions.values("pk"))


def consensus_kept(project: Project) -> Kept:
    """How many solutions the consensus filter keeps: two queries."""
    mine = Solution.objects.filter(project=project, superseded_at=None)
    return Kept(where_both_speak(mine).count(), where_both_agree(mine).count())
