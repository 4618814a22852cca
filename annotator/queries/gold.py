"""Gold for its keepers: what each item is used for, how often people fail it, and how long it will last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotator.core.labels import NO_ERROR, acceptable_stops
from annotator.models import Annotation, Assignment, Gold, GoldResult, Membership, Project

SHOWN = 50
SHOWS = ("all", "suspect", "hidden", "exam", "practice", "retired")


@dataclass(frozen=True)
class GoldRow:
    """One item. ``first_errors`` are the acceptable stops as step numbers from 1; ``sound``: no error is one."""

    id: int
    external_id: str
    problem_text: str
    source: str
    use: str
    suspect: bool
    retired: bool
    void: bool
    had: int
    failed: int
    first_errors: Sequence[int]
    sound: bool

    @property
    def share(self) -> float | None:
        return self.failed / self.had if self.had else None


@dataclass(frozen=True)
class Supply:
    """Hidden items that one person hasn't had, and for how many days they last at the person's pace."""

    pseudonym: str
    unseen: int
    days: float | None


@dataclass(frozen=True)
class GoldList:
    """A page of gold. ``with_error`` of ``hidden`` usable items have one; ``supply`` begins with who runs out first."""

    total: int
    hidden: int
    with_error: int
    suspect: int
    rows: Sequence[GoldRow]
    next: int | None
    supply: Sequence[Supply]


def gold_list(*, project_id: int, show: str = "all", after: int | None = None) -> GoldList:
    """A constant number of queries."""
    items = Gold.objects.filter(project_id=project_id)
    usable = list(items.usable(Gold.Use.HIDDEN).values_list("accept", flat=True))
    counts = items.aggregate(total=Count("pk"), suspect=Count("pk", filter=Q(suspect=True, retired=False)))
    results = (
        GoldResult.objects.filter(
            annotation__solution_id=OuterRef("pk"), annotation__current=True, item_right__isnull=False
        )
        .order_by()
        .values("annotation__solution_id")
    )
    chosen = {
        "all": Q(),
        "suspect": Q(suspect=True, retired=False),
        "retired": Q(retired=True),
        **{use: Q(use=use, retired=False) for use in Gold.Use.values},
    }[show]
    rows = list(
        items.filter(chosen, pk__gt=after or 0)
        .annotate(
            had=Coalesce(Subquery(results.annotate(n=Count("pk")).values("n")), 0),
            failed=Coalesce(
                Subquery(results.annotate(n=Count("pk", filter=Q(item_right=False))).values("n")), 0
            ),
        )
        .select_related("solution__problem")
        .order_by("pk")[: SHOWN + 1]
    )
    return GoldList(
        total=counts["total"],
        hidden=len(usable),
        with_error=sum(NO_ERROR not in acceptable_stops(accept) for accept in usable),
        suspect=counts["suspect"],
        rows=[_row(item) for item in rows[:SHOWN]],
        next=rows[SHOWN - 1].pk if len(rows) > SHOWN else None,
        supply=_supply(project_id),
    )


def _row(item: Gold) -> GoldRow:
    stops = acceptable_stops(item.accept)
    return GoldRow(
        id=item.pk,
        external_id=item.solution.external_id or f"#{item.pk}",
        problem_text=item.solution.problem.text,
        source=item.source,
        use=item.use,
        suspect=item.suspect,
        retired=item.retired,
        void=item.void,
        had=getattr(item, "had", 0),
        failed=getattr(item, "failed", 0),
        first_errors=[stop + 1 for stop in sorted(stops) if stop != NO_ERROR],
        sound=NO_ERROR in stops,
    )


def _supply(project_id: int) -> list[Supply]:
    """By person: items never had, over the rate at which checks come to them now (a week's submits, the share)."""
    project = Project.objects.get(pk=project_id)
    week = timezone.now() - timedelta(days=7)
    pace = dict(
        Annotation.objects.filter(
            member__project_id=project_id, version=1, source=Annotation.Source.HUMAN, submitted_at__gte=week
        )
        .order_by()
        .values_list("member_id")
        .annotate(n=Count("pk"))
    )
    usable = Gold.objects.filter(project_id=project_id).usable(Gold.Use.HIDDEN)
    n_usable = usable.count()
    is_usable = usable.filter(pk=OuterRef("solution_id"))
    had = dict(
        Assignment.objects.filter(Exists(is_usable), project_id=project_id, round=1)
        .order_by()
        .values_list("member_id")
        .annotate(n=Count("pk"))
    )
    people = Membership.objects.filter(project_id=project_id, state=Membership.State.ACTIVE).exclude(
        user=None
    )
    found = []
    for member_id, pseudonym in people.values_list("pk", "pseudonym"):
        unseen = n_usable - had.get(member_id, 0)
        checks_a_day = pace.get(member_id, 0) / 7 * project.gold_rate
        found.append(Supply(pseudonym, unseen, unseen / checks_a_day if checks_a_day else None))
    return sorted(found, key=lambda each: (each.days is None, each.days or 0, each.unseen))
