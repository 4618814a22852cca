"""Putting the queue in order: each new score finds its place at once, and the whole is re-ranked behind it.

A row's ``priority`` is in nats, however it came there: the row in the k-th place of the order has the k-th largest
mean entropy. So what is scored later finds its place by its own entropy until the next re-ranking, and with the
strategy `uncertainty` alone a row's priority is its own entropy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import numpy as np
from django.db import connection, transaction

from annotator.core.selection import STRATEGIES, Mixture, Strategy, rank
from annotator.jobs import enqueue
from annotator.models import Project, QueueRow, ScorerVersion
from annotator.queries.pool import Floats, Standing, mixture_of, standing

RERANK_CHUNK = 5_000
REORDER = "queueing.reprioritize"
#: The strategy of rows that ActPRM's rule calls certain: they come last.
CERTAIN = "certain"
LAST = -1.0
_LOCK_CLASS = 0x57EA


def reprioritize(
    *, version_id: int, chunk: int = RERANK_CHUNK, progress: Callable[[], None] = lambda: None
) -> int:
    """Order the queue by the project's strategies and this version's scores, in committed chunks.

    Returns how many rows changed. Holdout rows keep priority 0: they are handed out in random order, whatever a
    scorer says. ``progress`` is called between the chunks and may raise to stop.
    """
    version = ScorerVersion.objects.select_related("scorer__project").get(pk=version_id)
    if not version.scorer.ranks:
        return 0
    project = version.scorer.project
    with connection.cursor() as cursor:
        # One order at a time: two that are written at once would mix.
        cursor.execute("SELECT pg_advisory_lock(%s, %s)", [_LOCK_CLASS, project.pk])
    try:
        return _reprioritize(project, version, chunk, progress)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [_LOCK_CLASS, project.pk])


def _reprioritize(project: Project, version: ScorerVersion, chunk: int, progress: Callable[[], None]) -> int:
    found = standing(project, version)
    progress()
    priority, tiebreak, strategy = _places(found, mixture_of(project))
    changed = 0
    for start in range(0, len(found.id), chunk):
        part = slice(start, start + chunk)
        changed += _write(
            version.pk,
            found.id[part].tolist(),
            priority[part].tolist(),
            tiebreak[part].tolist(),
            strategy[part],
        )
        progress()
    return changed


def _places(found: Standing, mixture: Mixture) -> tuple[Floats, Floats, list[str]]:
    """Priority, tiebreak and strategy of each row (n,). Rows that want no label keep their own entropy."""
    ranked = rank(found.pool, mixture)
    priority, tiebreak = found.score.copy(), np.zeros(len(found.id))
    strategy = [""] * len(found.id)
    for at in found.where.tolist():
        strategy[at] = CERTAIN
    priority[found.where] = LAST
    places = found.where[ranked.order]
    values = -np.sort(-found.pool.uncertainty)[: len(places)]
    priority[places] = values
    tiebreak[places] = _within_ties(values)
    names = [one.value for one in STRATEGIES]
    for at, by in zip(places.tolist(), ranked.strategy.tolist(), strict=True):
        strategy[at] = names[by]
    return priority, tiebreak, strategy


def _within_ties(values: Floats) -> Floats:
    """0, -1, -2 … within each run of equal values (n,): the order among equals."""
    first = np.r_[True, values[1:] != values[:-1]] if len(values) else np.zeros(0, dtype=np.bool_)
    starts = np.maximum.accumulate(np.where(first, np.arange(len(values)), 0))
    return (starts - np.arange(len(values))).astype(np.float64)


@transaction.atomic
def _write(
    version_id: int,
    ids: Sequence[int],
    priority: Sequence[float],
    tiebreak: Sequence[float],
    strategy: Sequence[str],
) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH due AS (SELECT q.solution_id, n.priority, n.tiebreak, n.strategy FROM unnest(%s::bigint[], "
            "%s::float8[], %s::float8[], %s::text[]) AS n(id, priority, tiebreak, strategy) "
            "JOIN annotator_queuerow q ON q.solution_id = n.id "
            "WHERE q.ranked_by_id IS DISTINCT FROM %s OR NOT q.holdout AND (q.priority, q.tiebreak, q.strategy) "
            "IS DISTINCT FROM (n.priority, n.tiebreak, n.strategy::varchar) "
            "ORDER BY q.solution_id FOR NO KEY UPDATE OF q) "
            "UPDATE annotator_queuerow q SET ranked_by_id = %s, "
            "priority = CASE WHEN q.holdout THEN 0 ELSE due.priority END, "
            "tiebreak = CASE WHEN q.holdout THEN 0 ELSE due.tiebreak END, "
            "strategy = CASE WHEN q.holdout THEN '' ELSE due.strategy END "
            "FROM due WHERE q.solution_id = due.solution_id",
            [list(ids), list(priority), list(tiebreak), list(strategy), version_id, version_id],
        )
        return int(cursor.rowcount)


def rank_new(*, solution_ids: Sequence[int], version: ScorerVersion) -> None:
    """Give freshly scored rows their place at once, in the caller's transaction.

    Those that no version has ranked yet, whichever scorer is first. Where the queue stands in this version's order,
    also those that another scorer, quicker but not the one that ranks, has placed meanwhile.
    """
    refines = version.scorer.ranks and QueueRow.objects.filter(ranked_by=version).exists()
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH due AS (SELECT q.solution_id, q.holdout, s.priority, s.tiebreak FROM annotator_queuerow q "
            "JOIN annotator_score s ON s.solution_id = q.solution_id AND s.version_id = %s "
            "LEFT JOIN annotator_scorerversion v ON v.id = q.ranked_by_id "
            "WHERE q.solution_id = ANY(%s) AND (q.ranked_by_id IS NULL OR %s AND v.scorer_id <> %s) "
            "ORDER BY q.solution_id FOR NO KEY UPDATE OF q) "
            "UPDATE annotator_queuerow q SET ranked_by_id = %s, "
            "priority = CASE WHEN due.holdout THEN 0 ELSE due.priority END, "
            "tiebreak = CASE WHEN due.holdout THEN 0 ELSE due.tiebreak END, "
            "strategy = CASE WHEN due.holdout THEN '' ELSE %s END "
            "FROM due WHERE q.solution_id = due.solution_id",
            [
                version.pk,
                list(solution_ids),
                refines,
                version.scorer_id,
                version.pk,
                Strategy.UNCERTAINTY.value,
            ],
        )


def subject_of(version_id: int) -> str:
    """What the job is about that writes this version's order."""
    return f"version {version_id}"


def ask_for_new_order(*, project_id: int, version_id: int, after: timedelta = timedelta(0)) -> None:
    """Have the queue re-ranked by a worker; asked for several times within ``after``, it is done once."""
    enqueue(
        kind=REORDER,
        subject=subject_of(version_id),
        project_id=project_id,
        payload={"version_id": version_id},
        after=after,
    )


def ask_for_present_order(*, project_id: int) -> None:
    """Have the queue re-ranked by the version whose order it stands in, after the strategies have changed."""
    ranked = QueueRow.objects.filter(project_id=project_id, ranked_by__scorer__ranks=True)
    version = ranked.order_by("-ranked_by").values_list("ranked_by", flat=True).first()
    if version is not None:
        ask_for_new_order(project_id=project_id, version_id=version)


def takes_turns(project: Project) -> bool:
    """Whether a row's place depends on the others, so that new scores call for a new order."""
    alone = {name for name, weight in project.strategies.items() if weight} == {Strategy.UNCERTAINTY.value}
    return not alone or project.error_free_floor > 0 or bool(project.certain)
