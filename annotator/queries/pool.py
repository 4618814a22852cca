"""What a queue is ordered by, as arrays: one scan each, packed by the database.

A million rows as Python objects would take longer than everything that is computed from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction

from annotator.core.selection import Mixture, Pool, Strategy, expected_sound
from annotator.core.uncertainty import Values, disagreement, is_certain
from annotator.models import Project, Score, ScorerVersion

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: The answer is right, wrong, or nobody knows.
_ANSWERS = {1: True, 0: False, -1: None}
CHUNK = 5_000

# Near-duplicates differ in numbers, case and punctuation: what is left of a problem's text is its group.
_ROWS = """
SELECT {packed} FROM (
  SELECT s.solution_id AS id, s.priority AS score, s.tiebreak,
    (SELECT CASE WHEN count(v) = 0 THEN 'NaN' WHEN min(v) <= 0 THEN 0 ELSE exp(sum(ln(v::float8))) END
      FROM unnest(s."values") v) AS whole,
    coalesce(t.answer_correct::int, -1) AS answer, q.shuffle, (NOT q.holdout AND q.taken < q.wanted)::int AS open,
    (q.taken > 0 AND NOT q.holdout)::int AS begun, p.like_code AS like_code,
    hashtextextended(p.domain || E'\\x1f' || p.subject || E'\\x1f' || coalesce(t.generator->>'model', ''), 0) AS stratum
  FROM annotator_score s
  JOIN annotator_queuerow q ON q.solution_id = s.solution_id
  JOIN annotator_solution t ON t.id = s.solution_id
  JOIN (SELECT id, domain, subject,
      hashtextextended(regexp_replace(lower(text), '[^[:alpha:]]+', ' ', 'g'), 0) AS like_code
    FROM annotator_problem WHERE project_id = %(project)s) p ON p.id = t.problem_id
  WHERE s.version_id = %(version)s AND q.project_id = %(project)s ORDER BY s.solution_id) x
"""
_WHOLE = ("id", "answer", "open", "begun", "stratum", "like_code")
_REAL = ("score", "tiebreak", "shuffle", "whole")


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """All queue rows that a version has scored, as arrays (n,) ordered by ``id``. ``open`` ones want labels and are
    no holdout: ``pool`` describes these alone, and ``where`` (open,) says where each stands among the n."""

    id: Ints
    score: Floats
    open: Bools
    where: Ints
    pool: Pool


def mixture_of(project: Project) -> Mixture:
    """How this project fills its queue. Raises InvalidMixture."""
    weights = {Strategy(name): float(weight) for name, weight in project.strategies.items()}
    return Mixture(weights, sound_share=project.error_free_floor, skip_certain=bool(project.certain))


def standing(project: Project, version: ScorerVersion) -> Standing:
    """The rows of one moment, by one query."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL work_mem = '128MB'")
        packed = [f"string_agg(int8send({name}::int8), '')" for name in _WHOLE]
        packed += [f"string_agg(float8send({name}), '')" for name in _REAL]
        names = {"project": project.pk, "version": version.pk}
        cursor.execute(_ROWS.format(packed=", ".join(packed)), names)
        row = cursor.fetchone()
    whole: list[npt.NDArray[Any]] = [
        np.frombuffer(one or b"", ">i8").astype(np.int64) for one in row[: len(_WHOLE)]
    ]
    real: list[npt.NDArray[Any]] = [
        np.frombuffer(one or b"", ">f8").astype(np.float64) for one in row[len(_WHOLE) :]
    ]
    columns: dict[str, npt.NDArray[Any]] = dict(zip((*_WHOLE, *_REAL), (*whole, *real), strict=True))
    where = np.flatnonzero(columns["open"] == 1)
    return Standing(
        columns["id"], columns["score"], columns["open"] == 1, where, _pool(project, version, columns, where)
    )


def _pool(
    project: Project, version: ScorerVersion, columns: Mapping[str, npt.NDArray[Any]], where: Ints
) -> Pool:
    strata, codes = np.unique(columns["stratum"], return_inverse=True)
    begun = np.bincount(codes, weights=columns["begun"], minlength=len(strata)).astype(np.int64)
    answer, whole = columns["answer"][where], columns["whole"][where]
    known = [None if math.isnan(one) else one for one in whole.tolist()]
    sound = expected_sound([[one] for one in known], [_ANSWERS[one] for one in answer.tolist()])
    certain, differ = _by_steps(project, version, columns["id"][where])
    return Pool(
        uncertainty=columns["score"][where],
        tiebreak=columns["tiebreak"][where],
        trajectory=whole,
        answer_wrong=answer == 0,
        disagreement=differ,
        sound=sound,
        stratum=codes[where],
        done=begun[codes[where]] if len(where) else np.zeros(0, dtype=np.int64),
        group=columns["like_code"][where],
        shuffle=columns["shuffle"][where],
        certain=certain,
    )


def _by_steps(project: Project, version: ScorerVersion, ids: Ints) -> tuple[Bools, Floats]:
    """Certain by ActPRM's rule, and how far scorers differ: each (n,). Reads single steps only where they matter."""
    certain, differ = np.zeros(len(ids), dtype=np.bool_), np.full(len(ids), np.nan)
    rule, others = project.certain, _others(project, version)
    if not rule and not others:
        return certain, differ
    for start in range(0, len(ids), CHUNK):
        part = ids[start : start + CHUNK].tolist()
        rows = _rows([version, *others], part)
        for at, solution in enumerate(part, start=start):
            if rule:
                values, spread = rows[solution, version.pk]
                certain[at] = is_certain(
                    values,
                    spread,
                    delta_pred=rule["pred"],
                    delta_std=rule["std"],
                    threshold=version.threshold,
                )
            speak = [one for one in (version, *others) if (solution, one.pk) in rows]
            if len(speak) > 1:
                differ[at] = disagreement(
                    [rows[solution, one.pk][0] for one in speak], [one.threshold for one in speak]
                )
    return certain, differ


def _others(project: Project, version: ScorerVersion) -> list[ScorerVersion]:
    """The present version of each other scorer of the project, where the strategies ask how far scorers differ."""
    if not project.strategies.get(Strategy.DISAGREEMENT.value):
        return []
    found = ScorerVersion.objects.filter(scorer__project=project).exclude(scorer_id=version.scorer_id)
    return list(found.in_force())


def _rows(
    versions: Sequence[ScorerVersion], ids: Sequence[int]
) -> Mapping[tuple[int, int], tuple[Values, Values]]:
    found: Iterable[Any] = Score.objects.filter(version__in=versions, solution_id__in=ids).values_list(
        "solution_id", "version_id", "values", "spread"
    )
    return {(solution, version): (values, spread) for solution, version, values, spread in found}
