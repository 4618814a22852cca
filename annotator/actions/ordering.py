"""Putting the queue in order: each new score finds its place at once, and the whole is re-ranked behind it.

A row's ``priority`` is in nats. What stands there because the scorer is unsure of it has its own mean entropy, so what
is scored later finds its place among those without a new order. What something else put there (the floor, another
strategy) has the entropy of the row before it, and the ``tiebreak`` keeps it behind that row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction

from annotator.core.selection import NAMES, Mixture, Strategy, rank
from annotator.jobs import enqueue
from annotator.models import Project, QueueRow, Score, Scorer, ScorerVersion
from annotator.queries.beside import in_order
from annotator.queries.pool import Floats, Ints, Placed, Standing, mixture_of, standing
from annotator.queries.scored_rows import STRATEGY_CODES
from annotator.queries.scores import entropies

#: Rows that are held at once: for some 50 ms, for which who hands in one of them waits.
RERANK_CHUNK = 1_000
REORDER = "queueing.reprioritize"
#: The strategy of rows that ActPRM's rule calls certain: they come last.
CERTAIN = "certain"
LAST, MOST = -1.0, log(2.0)
_LOCK_CLASS = 0x57EA
#: Leaves the planner one way to `WRITTEN`: to look up one row after the other, in the order of the array. To lock them
#: in that order first would cost a fifth more.
ONE_BY_ONE = "".join(
    f"SET LOCAL enable_{way} = off; "
    for way in ("hashjoin", "mergejoin", "seqscan", "bitmapscan", "material")
)
#: What a foreign key would do for each row: nobody deletes the version before the rows that stand by it are to be seen.
HELD = "SELECT 1 FROM annotator_scorerversion WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"
WRITTEN = """
UPDATE annotator_queuerow q SET ranked_by_id = due.ranked_by, strategy = (%s::text[])[due.strategy + 1],
  priority = due.priority, tiebreak = due.tiebreak
FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::float8[], %s::float8[])
  AS due(id, ranked_by, strategy, priority, tiebreak)
WHERE q.solution_id = due.id
"""


def reprioritize(
    *, version_id: int, chunk: int = RERANK_CHUNK, progress: Callable[[], None] = lambda: None
) -> int:
    """Order the queue by the project's strategies and this version's scores, in committed chunks. Where a scorer that
    refines this one has scored a solution, that score orders it.

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
    found = standing(project, [version, *refining(version)], progress)
    places = _places(found, mixture_of(project))
    due = _changed(found, places)
    parts = [due[start : start + chunk] for start in range(0, len(due), chunk)]
    changed = 0
    # Closed before the order's lock is given back, whatever happens: nothing may be written after that.
    with closing(in_order(lambda part: _write(found.id[part], places.of(part)), parts)) as chunks:
        for written in chunks:
            changed += written
            progress()
    return changed


def refining(version: ScorerVersion) -> list[ScorerVersion]:
    """The versions in force of scorers that refine this one's scores."""
    return list(ScorerVersion.objects.filter(scorer__refines=version.scorer_id).in_force())


def _places(found: Standing, mixture: Mixture) -> Placed:
    """Where each row belongs (n,). Rows that want no label keep their own entropy and what brought them there; those
    of the holdout have neither."""
    ranked = rank(found.pool, mixture)
    value, tiebreak = (np.where(found.holdout, 0.0, each) for each in (found.score, found.width))
    strategy = np.where(found.holdout, STRATEGY_CODES.index(""), np.maximum(found.now.strategy, 0))
    value[found.where], tiebreak[found.where] = LAST, 0.0
    strategy[found.where] = STRATEGY_CODES.index(CERTAIN)
    places = found.where[ranked.order]
    value[places], tiebreak[places] = _values(
        found.pool.uncertainty[ranked.order],
        found.pool.tiebreak[ranked.order],
        ranked.strategy == NAMES.index(Strategy.UNCERTAINTY.value),
    )
    strategy[places] = ranked.strategy + STRATEGY_CODES.index(NAMES[0])
    return Placed(found.version, strategy, value, tiebreak)


def _values(entropy: Floats, width: Floats, own: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Priorities and tiebreaks (n,) that keep rows in this order: ``own`` rows (n,) their entropy and spread, the
    others the entropy of the own row before them. Without own rows the k-th row has the k-th largest entropy."""
    if not own.any():
        values = -np.sort(-entropy)
        return values, _behind(values, np.ones(len(values), dtype=np.bool_))
    at = np.maximum.accumulate(np.where(own, np.arange(len(own)), -1))
    values = np.minimum.accumulate(np.where(at < 0, MOST, entropy[at]))
    before = at < 0  # what comes before the first own row stands above the widest spread
    tiebreaks = np.where(own, np.nan_to_num(width), 0.0)
    run = np.cumsum(np.r_[True, (values[1:] != values[:-1]) | (before[1:] != before[:-1])])
    _, first = np.unique(run, return_index=True)
    counted = np.cumsum(~own)
    behind = np.greater(counted - (counted - ~own)[first][run - 1], 0)
    tiebreaks = np.where(behind, _behind(run, behind), tiebreaks)
    return values, np.where(before, 1.0 + before.sum() - np.arange(len(own)), tiebreaks)


def _behind(run: npt.NDArray[Any], chosen: npt.NDArray[np.bool_]) -> Floats:
    """-1, -2, -3 … for the chosen rows (n,) within each run of equal values (n,)."""
    first = np.r_[True, run[1:] != run[:-1]] if len(run) else np.zeros(0, dtype=np.bool_)
    count = np.cumsum(chosen)
    at_start = np.maximum.accumulate(np.where(first, count - chosen, 0))
    return -(count - at_start).astype(np.float64)


def _changed(found: Standing, places: Placed) -> Ints:
    """Which rows (k,) stand elsewhere than they should, or by another version."""
    pairs = zip(places.columns(), found.now.columns(), strict=True)
    return np.flatnonzero(np.logical_or.reduce([new != old for new, old in pairs]))


@transaction.atomic(durable=True)  # in another's transaction, ONE_BY_ONE would hold for all that follows
def _write(ids: Ints, placed: Placed) -> int:
    """Write these places; ``ids`` (k,) rise, and rows are locked in this order, so that nobody who does the same waits
    for us while we wait for them. Raises ScorerVersion.DoesNotExist."""
    versions = np.unique(placed.ranked_by).tolist()
    with connection.cursor() as cursor:
        cursor.execute(ONE_BY_ONE)
        cursor.execute(HELD, [versions])
        if cursor.rowcount != len(versions):
            raise ScorerVersion.DoesNotExist(f"One of the scorer versions {versions} is gone.")
        cursor.execute(
            WRITTEN, [list(STRATEGY_CODES), _array(ids), *(_array(each) for each in placed.columns())]
        )
        return int(cursor.rowcount)


def _array(column: npt.NDArray[Any]) -> str:
    """Numbers (n,) as PostgreSQL writes an array: much quicker than to adapt them one by one."""
    return "{" + str(column.tolist())[1:-1] + "}"


def rank_new(*, solution_ids: Sequence[int], version: ScorerVersion) -> None:
    """Give freshly scored rows their place at once, in the caller's transaction, which holds the version by its scores.

    Those that no version has ranked yet, whichever scorer is first. Where the queue stands in this version's order,
    or in that of the scorer which this one refines, also those that another scorer, quicker but not meant to, has
    placed meanwhile.
    """
    base = base_of(version)
    standing_by = QueueRow.objects.filter(project_id=version.scorer.project_id, ranked_by=base)
    takes_over = base is not None and standing_by.exists()
    mine = [version.scorer_id, *Scorer.objects.filter(refines=version.scorer_id).values_list("pk", flat=True)]
    entropy = entropies([(solution, version.pk) for solution in solution_ids])
    scores = Score.objects.filter(solution__in=solution_ids, version=version)
    width = dict(scores.values_list("solution_id", "tiebreak"))
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH due AS (SELECT q.solution_id, q.holdout, n.priority, n.tiebreak FROM annotator_queuerow q "
            "JOIN unnest(%s::bigint[], %s::float8[], %s::float8[]) AS n(id, priority, tiebreak) "
            "ON n.id = q.solution_id "
            "LEFT JOIN annotator_scorerversion v ON v.id = q.ranked_by_id "
            "WHERE (q.ranked_by_id IS NULL OR %s AND v.scorer_id <> ALL(%s)) "
            "ORDER BY q.solution_id FOR NO KEY UPDATE OF q) "
            "UPDATE annotator_queuerow q SET ranked_by_id = %s, "
            "priority = CASE WHEN due.holdout THEN 0 ELSE due.priority END, "
            "tiebreak = CASE WHEN due.holdout THEN 0 ELSE due.tiebreak END, "
            "strategy = CASE WHEN due.holdout THEN '' ELSE %s END "
            "FROM due WHERE q.solution_id = due.solution_id",
            [
                list(entropy),
                list(entropy.values()),
                [width[solution] for solution in entropy],
                takes_over,
                mine,
                version.pk,
                Strategy.UNCERTAINTY.value,
            ],
        )


def base_of(version: ScorerVersion) -> ScorerVersion | None:
    """The version in whose order a queue stands where this one has a say in it: itself, or what it refines."""
    if version.scorer.ranks:
        return version
    refined = ScorerVersion.objects.filter(scorer=version.scorer.refines_id, scorer__ranks=True)
    return refined.in_force().select_related("scorer__project").first()


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
    standing_by = QueueRow.objects.filter(project_id=project_id).versions()
    mine = ScorerVersion.objects.filter(scorer__project=project_id, scorer__ranks=True)
    version = mine.filter(pk__in=standing_by).order_by("-pk").first() or mine.in_force().first()
    if version is not None and standing_by:
        ask_for_new_order(project_id=project_id, version_id=version.pk)


def takes_turns(project: Project) -> bool:
    """Whether a row's place depends on the others, so that new scores call for a new order."""
    alone = {name for name, weight in project.strategies.items() if weight} == {Strategy.UNCERTAINTY.value}
    return not alone or project.error_free_floor > 0 or bool(project.certain)
