"""Active hours of everybody in a project, for whoever pays or plans them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from django.db.models import Count, Sum
from django.db.models.functions import TruncDate

from annotator.models import Annotation
from annotator.queries.mine import judged_steps


@dataclass(frozen=True)
class HoursRow:
    """One person on one day (UTC): what was handed in, and the active hours it took."""

    pseudonym: str
    day: date
    solutions: int
    steps: int
    hours: float


def hours(project_id: int) -> Iterator[HoursRow]:
    """By person and day, oldest first, over the project's whole life; read as a stream, by one query.

    Practice, gold and labels that don't count are work and are in it; imported labels are not. Of a solution that
    was opened again the newest version stands, since its time includes that of the ones before.
    """
    rows = (
        Annotation.objects.filter(member__project_id=project_id, source=Annotation.Source.HUMAN, current=True)
        .annotate(day=TruncDate("submitted_at"), judged=judged_steps())
        .values("member__pseudonym", "member_id", "day")
        .annotate(solutions=Count("pk"), n_steps_judged=Sum("judged"), seconds=Sum("active_seconds"))
        .order_by("member_id", "day")
    )
    for row in rows.iterator(chunk_size=1_000):
        yield HoursRow(
            pseudonym=row["member__pseudonym"],
            day=row["day"],
            solutions=row["solutions"],
            steps=row["n_steps_judged"] or 0,
            hours=(row["seconds"] or 0.0) / 3600,
        )
