"""What comes next and why, for managers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery

from annotator.models import Gold, Project, QueueRow, Score

SHOWN = 25


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

    @property
    def reason(self) -> str:
        if self.priority is None:
            return "Not scored yet: it comes after the scored ones, in random order."
        if self.predicted_stop is None or self.predicted_stop < 0:
            return f"The scorer expects no error; its mean entropy is {self.priority:.3f}."
        return (
            f"The scorer expects the first error at step {self.predicted_stop + 1}; "
            f"its mean entropy up to there is {self.priority:.3f}."
        )


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
        started=Count("pk", filter=Q(taken__gt=0, taken__lt=F("wanted"))),
        done=Count("pk", filter=Q(taken=F("wanted"))),
        holdout=Count("pk", filter=Q(holdout=True)),
        ranked=Count("pk", filter=Q(ranked_by__isnull=False)),
    )
    gold = Gold.objects.filter(project=project).aggregate(
        total=Count("pk"),
        scored=Count("pk", filter=Exists(Score.objects.filter(solution_id=OuterRef("pk")))),
    )
    return Queue(
        sentence=_sentence(counts),
        counts=[
            ("Untouched", counts["untouched"]),
            ("Started", counts["started"]),
            ("Labelled", counts["done"]),
            ("Holdout", counts["holdout"]),
            ("Gold", gold["total"]),
        ],
        scored=counts["ranked"] + gold["scored"],
        total=counts["total"] + gold["total"],
        rows=_head(project),
    )


def _sentence(counts: dict[str, int]) -> str:
    if not counts["total"]:
        return "No solution is here yet; import a file to begin."
    if counts["done"] == counts["total"]:
        return f"All {counts['total']:,} solutions have the labels they need."
    return (
        f"{counts['done']:,} of {counts['total']:,} solutions have the labels they need; "
        f"{counts['ranked']:,} are in the scorer's order."
    )


def _head(project: Project) -> list[Waiting]:
    stop = Score.objects.filter(solution_id=OuterRef("pk"), version_id=OuterRef("ranked_by_id"))
    rows = (
        QueueRow.objects.filter(project=project, holdout=False)
        .untouched()
        .by_priority()
        .select_related("solution__problem")
        .annotate(predicted_stop=Subquery(stop.values("predicted_stop")[:1]))[:SHOWN]
    )
    stops = [getattr(row, "predicted_stop", None) for row in rows]
    return [
        Waiting(
            rank=rank,
            external_id=row.solution.external_id or f"#{row.solution_id}",
            problem_text=row.solution.problem.text,
            n_steps=row.solution.n_steps,
            priority=row.priority if row.ranked_by_id else None,
            spread=row.tiebreak if row.ranked_by_id else None,
            predicted_stop=expected,
            wanted=row.wanted,
            taken=row.taken,
        )
        for rank, (row, expected) in enumerate(zip(rows, stops, strict=True), start=1)
    ]
