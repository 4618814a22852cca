"""What comes next and why, for managers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery

from annotator.core.explaining import sentence
from annotator.core.sampling import Route
from annotator.core.selection import Strategy
from annotator.models import Assignment, Gold, Project, QueueRow, Score
from annotator.models.labeling import QueueRows
from annotator.queries.scores import entropies

SHOWN = 25
#: What a row tells of its score.
SAID = {"width": "tiebreak", "predicted_stop": "predicted_stop"}


@dataclass(frozen=True)
class Waiting:
    """One untouched solution in the order of the priority route. ``priority`` is mean entropy in nats."""

    rank: int
    external_id: str
    problem_text: str
    n_steps: int
    priority: float | None
    spread: float | None
    predicted_stop: int | None
    wanted: int
    taken: int
    strategy: str
    version: str
    pool: int
    route: str = Route.PRIORITY.value

    @property
    def reason(self) -> str:
        """Why it stands here."""
        if self.priority is None:
            return "Not scored yet: it comes after the scored ones, in random order."
        kept = {"route": self.route, "strategy": self.strategy, "score": self.priority, "rank": self.rank}
        why = sentence({**kept, "scorer_version": self.version, "pool": self.pool, "round": 1}, comes="comes")
        if self.predicted_stop is None or self.predicted_stop < 0:
            return f"{why} The scorer expects no error."
        return f"{why} The scorer expects the first error at step {self.predicted_stop + 1}."


@dataclass(frozen=True)
class Queue:
    """The head of the queue, and counts by state.

    ``scored`` of ``total`` solutions: work counts once the queue stands in the order of its score.
    """

    sentence: str
    counts: Sequence[tuple[str, int]]
    scored: int
    total: int
    rows: Sequence[Waiting]


def queue(project: Project) -> Queue:
    """The queue page: a constant number of queries."""
    counts = QueueRow.objects.filter(project=project).aggregate(
        total=Count("pk"),
        untouched=Count("pk", filter=Q(taken=0)),
        pool=Count("pk", filter=Q(taken=0, wanted__gt=0, holdout=False)),
        started=Count("pk", filter=Q(taken__gt=0, taken__lt=F("wanted"))),
        done=Count("pk", filter=Q(taken=F("wanted"))),
        holdout=Count("pk", filter=Q(holdout=True)),
        ranked=Count("pk", filter=Q(ranked_by__isnull=False)),
    )
    begun = QueueRow.objects.filter(pk__in=held(project.pk).values("solution"), taken=F("wanted")).count()
    counts["started"], counts["done"] = counts["started"] + begun, counts["done"] - begun
    gold = Gold.objects.filter(project=project).aggregate(
        total=Count("pk"),
        scored=Count("pk", filter=Exists(Score.objects.filter(solution_id=OuterRef("pk")))),
    )
    return Queue(
        sentence=_headline(counts),
        counts=[
            ("Untouched", counts["untouched"]),
            ("Started", counts["started"]),
            ("Labelled", counts["done"]),
            ("Holdout", counts["holdout"]),
            ("Gold", gold["total"]),
        ],
        scored=counts["ranked"] + gold["scored"],
        total=counts["total"] + gold["total"],
        rows=_head(project, counts["pool"]),
    )


def held(project_id: Any) -> QuerySet[Assignment]:
    """The labels that people are at now, of a project or an outer row's: a place is taken when somebody begins, the
    label is there when they hand it in."""
    return Assignment.objects.filter(project_id=project_id, state=Assignment.State.LIVE, slot__isnull=False)


def _headline(counts: dict[str, int]) -> str:
    if not counts["total"]:
        return "No solution is here yet; import a file to begin."
    if counts["done"] == counts["total"]:
        return f"All {counts['total']:,} solutions have the labels they need."
    return (
        f"{counts['done']:,} of {counts['total']:,} solutions have the labels they need; "
        f"{counts['ranked']:,} are in the scorer's order."
    )


def _head(project: Project, pool: int) -> list[Waiting]:
    score = Score.objects.filter(solution_id=OuterRef("pk"), version_id=OuterRef("ranked_by_id"))
    untouched = QueueRow.objects.filter(project=project, holdout=False).untouched()
    found = (
        untouched.filter(pk__in=_first(untouched))
        .by_priority()
        .select_related("solution__problem", "ranked_by")
        .annotate(**{name: Subquery(score.values(of)[:1]) for name, of in SAID.items()})[:SHOWN]
    )
    rows = list(found)
    entropy = entropies([(row.pk, row.ranked_by_id) for row in rows if row.ranked_by_id])
    said = [{name: getattr(row, name, None) for name in SAID} for row in rows]
    return [
        Waiting(
            rank=rank,
            external_id=row.solution.external_id or f"#{row.solution_id}",
            problem_text=row.solution.problem.text,
            n_steps=row.solution.n_steps,
            priority=entropy.get(row.pk),
            spread=score["width"],
            predicted_stop=score["predicted_stop"],
            wanted=row.wanted,
            taken=row.taken,
            strategy=row.strategy or Strategy.UNCERTAINTY.value,
            version=row.ranked_by.version if row.ranked_by else "",
            pool=pool,
        )
        for rank, (row, score) in enumerate(zip(rows, said, strict=True), start=1)
    ]


def _first(untouched: QueueRows) -> list[int]:
    """The head of each skill's queue: one range of an index each, since a sort of all rows is slow."""
    heads = [untouched.filter(skill=skill).by_priority() for skill in untouched.skills()]
    return [pk for head in heads for pk in head.values_list("pk", flat=True)[:SHOWN]]
