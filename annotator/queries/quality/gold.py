"""Against gold, what was taken for what there, and whether enough good gold is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from django.db.models import Count, F, Func, JSONField, Q
from django.utils import timezone

from annotator.core.agreement import NOT_JUDGED, beside_gold, judged_place, stop_agreement
from annotator.core.intervals import Figure, Ints, proportion
from annotator.core.labels import NO_ERROR, NOT_AN_ERROR, Label, accept_bit, acceptable_stops
from annotator.core.screening import confusion
from annotator.models import Assignment, Gold, Membership, Project
from annotator.queries.quality.choosing import choose, telling
from annotator.queries.quality.shapes import AgainstGold, GoldHealth, SuspectItem
from annotator.queries.quality.tables import GOLD, Bools, Tables
from annotator.queries.standings import Record

#: The pace of hidden checks is looked at over so many days.
PACE_DAYS = 14
_INCORRECT = accept_bit(Label.INCORRECT)


@dataclass(frozen=True)
class GoldItem:
    """One gold solution; ``stops`` are the acceptable ones in judged steps."""

    solution_id: int
    external_id: str
    accept: Sequence[int]
    use: str
    suspect: bool
    retired: bool
    stops: frozenset[int]


def gold_items(project: Project) -> dict[int, GoldItem]:
    """All gold of a project by solution; what turned out wrong is left out. One query."""
    rows = Gold.objects.filter(project=project, void=False).annotate(judged=judged_of("solution__steps"))
    found = {}
    for pk, name, accept, use, suspect, retired, takes in rows.values_list(
        "pk", "solution__external_id", "accept", "use", "suspect", "retired", "judged"
    ):
        places = frozenset(
            judged_place(stop, takes) for stop in acceptable_stops(accept) if stop == NO_ERROR or takes[stop]
        )
        found[pk] = GoldItem(pk, name or f"#{pk}", accept, use, suspect, retired, places)
    return found


def judged_of(steps: str) -> Any:
    """Which steps take a label, without their texts: an annotation that reads as a list of true and false."""
    judged: Any = Func(F(steps), template="jsonb_path_query_array(%(expressions)s, '$[*].judged')")
    judged.output_field = JSONField()
    return judged


def hidden_checks(tables: Tables, items: dict[int, GoldItem]) -> Bools:
    """First, counted annotations that were hidden checks, of shape (annotations,)."""
    annotations = tables.annotations
    known = np.isin(annotations.solution, np.fromiter(items, dtype=np.int64, count=len(items)))
    return np.asarray(annotations.first() & (annotations.purpose == GOLD) & known)


def against_gold(tables: Tables, items: dict[int, GoldItem]) -> AgainstGold:
    """Each annotator beside gold, and annotators among themselves on gold, where the most people overlap."""
    chosen = choose(tables, hidden_checks(tables, items) & telling(tables.annotations))
    these = chosen.stops(tables)
    acceptable = [items[pk].stops for pk in tables.solutions.id[chosen.home].tolist()]
    return AgainstGold(stop_agreement(beside_gold(these, acceptable)), stop_agreement(these))


def taken_for(tables: Tables, items: dict[int, GoldItem], *, until_first_error: bool) -> list[list[int]]:
    """The confusion table on hidden gold, of steps that were reached; after gold's own first error nothing counts.

    A label that gold accepts stands in its own row; any other in the row of the gravest that gold accepts.
    """
    kept = tables.annotations.where(hidden_checks(tables, items))
    if not len(kept.id):
        return [[0] * 3 for _ in range(3)]
    masks = np.concatenate([np.asarray(items[pk].accept, dtype=np.int64) for pk in kept.solution.tolist()])
    counts = (kept.labels != NOT_JUDGED) & (masks > 0)
    if until_first_error:
        error = ((masks > 0) & (masks & NOT_AN_ERROR == 0)).astype(np.int64)
        before = np.cumsum(error) - error
        counts &= before == np.repeat(before[kept.start], kept.n_steps)
    table: list[list[int]] = confusion(*_rows_and_columns(masks[counts], kept.labels[counts])).tolist()
    return table


def health(project: Project, items: dict[int, GoldItem], records: dict[int, Record]) -> GoldHealth:
    """The stock of gold, and for how long it lasts."""
    usable = [each for each in items.values() if not each.retired]
    hidden = [each for each in usable if each.use == Gold.Use.HIDDEN and not each.suspect]
    since = timezone.now() - timedelta(days=PACE_DAYS)
    had = (
        Assignment.objects.filter(
            project=project,
            member__state=Membership.State.ACTIVE,
            solution__gold__use=Gold.Use.HIDDEN,
            solution__gold__retired=False,
            solution__gold__suspect=False,
            solution__gold__void=False,
        )
        .order_by()
        .values_list("member_id")
        .annotate(
            had=Count("solution_id", distinct=True), lately=Count("pk", filter=Q(claimed_at__gte=since))
        )
    )
    worked = [(max(0, len(hidden) - seen), lately) for _, seen, lately in had]
    unseen = [left for left, _ in worked]
    lasting = [left * PACE_DAYS / lately for left, lately in worked if lately]
    return GoldHealth(
        hidden=len(hidden),
        exam=sum(each.use == Gold.Use.EXAM for each in usable),
        practice=sum(each.use == Gold.Use.PRACTICE for each in usable),
        retired=len(items) - len(usable),
        with_error=_with_error(hidden),
        members=len(worked),
        least_unseen=min(unseen, default=None),
        mean_unseen=sum(unseen) / len(unseen) if unseen else None,
        days_left=min(lasting, default=None),
        suspects=_suspects(items, records),
    )


def _with_error(hidden: Sequence[GoldItem]) -> Figure:
    return proportion(sum(NO_ERROR not in each.stops for each in hidden), len(hidden))


def _suspects(items: dict[int, GoldItem], records: dict[int, Record]) -> list[SuspectItem]:
    right, of = Counter[int](), Counter[int]()
    for record in records.values():
        for check in record.checks:
            if check.right is not None:
                right[check.solution_id] += check.right
                of[check.solution_id] += 1
    flagged = [each for each in items.values() if each.suspect and not each.retired]
    return [
        SuspectItem(at, each.external_id, right[at], of[at]) for each in flagged if (at := each.solution_id)
    ]


def _rows_and_columns(masks: Ints, said: Ints) -> tuple[Ints, Ints]:
    gravest = np.where(masks & _INCORRECT, -1, np.where(masks & accept_bit(Label.CORRECT), 1, 0))
    accepted = (masks >> (said + 1)) & 1 == 1
    return np.where(accepted, said, gravest), said
