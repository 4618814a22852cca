"""A project's annotations as arrays: one scan each over annotations and solutions, packed by the database.

A hundred thousand rows as Python objects would take longer than everything that is computed from them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction

from annotator.core.agreement import NOT_JUDGED
from annotator.core.intervals import Floats, Ints
from annotator.models import Project

Bools = npt.NDArray[np.bool_]

#: Codes of purposes and finish reasons in the arrays; exams and practice are OTHER.
WORK, GOLD, REPEAT, OTHER = range(4)
FOUND_ERROR, SOLUTION, GIVE_UP, BAD_PROBLEM = range(4)
#: A stop that the labels don't tell.
UNKNOWN = -2
NO_SLOT = -1

_ANNOTATIONS = """
SELECT {packed}, string_agg(said, '') FROM (
  SELECT a.id, a.solution_id, a.member_id AS member, a.round, a.version, a.current::int AS current,
    a.counted::int AS counted, coalesce(a.stop, -2) AS stop, coalesce(g.slot, -1) AS slot,
    CASE g.purpose WHEN 'work' THEN 0 WHEN 'gold' THEN 1 WHEN 'repeat' THEN 2 ELSE 3 END AS purpose,
    CASE a.finish_reason WHEN 'found_error' THEN 0 WHEN 'solution' THEN 1 WHEN 'give_up' THEN 2 ELSE 3 END AS finish,
    a.n_steps, a.submitted_at AS at, coalesce(a.active_seconds, 0) AS seconds,
    replace(array_to_string(a.labels, '', '9'), '-1', '2') AS said
  FROM annotator_annotation a JOIN annotator_membership m ON m.id = a.member_id
  LEFT JOIN annotator_assignment g ON g.id = a.assignment_id
  WHERE m.project_id = %(project)s AND a.source = 'human' AND (a.current OR a.version = 1)
  ORDER BY a.solution_id, a.member_id, a.round, a.version) t
"""
_SOLUTIONS = """
SELECT {packed}, string_agg(generator, E'\\n') FROM (
  SELECT s.id, s.problem_id AS problem, s.n_judged, s.n_chars, coalesce(q.shuffle, 2) AS shuffle,
    coalesce(q.holdout, false)::int AS holdout, coalesce(q.taken, 0) AS taken,
    (q.solution_id IS NOT NULL)::int AS queued,
    replace(coalesce(s.generator->>'model', ''), E'\\n', ' ') AS generator
  FROM annotator_solution s LEFT JOIN annotator_queuerow q ON q.solution_id = s.id
  WHERE s.project_id = %(project)s ORDER BY s.id) t
"""
_WATERMARK = (
    "SELECT max(q.shuffle) FROM annotator_assignment a JOIN annotator_queuerow q USING (solution_id) "
    "WHERE a.project_id = %s AND (a.selection->'route') = '\"audit\"'::jsonb AND NOT q.holdout"
)
_LABEL_OF = np.full(128, NOT_JUDGED, dtype=np.int64)
_LABEL_OF[[ord("1"), ord("0"), ord("2")]] = (1, 0, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Annotations:
    """Arrays (n,) of current and of first versions, ordered by solution, person, round and version.

    ``solution`` and ``member`` are ids; ``labels`` holds all labels one after another, ``start[i]`` the place of the
    i-th annotation's first. ``at`` is seconds since 1970, ``seconds`` active time, 0 where unknown.
    """

    id: Ints
    solution: Ints
    member: Ints
    round: Ints
    version: Ints
    current: Ints
    counted: Ints
    stop: Ints
    slot: Ints
    purpose: Ints
    finish: Ints
    n_steps: Ints
    at: Floats
    seconds: Floats
    labels: Ints
    start: Ints

    def first(self) -> Bools:
        """First versions whose current version counts: a revision may come after a talk, the first one doesn't."""
        last = np.ones(len(self.id), dtype=np.bool_)
        same = (
            (self.solution[1:] == self.solution[:-1])
            & (self.member[1:] == self.member[:-1])
            & (self.round[1:] == self.round[:-1])
        )
        last[:-1] = ~same
        ends = np.flatnonzero(last)
        newest = ends[np.searchsorted(ends, np.arange(len(self.id)))]
        counts = (self.current[newest] == 1) & (self.counted[newest] == 1)
        return np.asarray((self.version == 1) & counts)

    def where(self, keep: Bools) -> Annotations:
        """Only these annotations, with their labels; ``keep`` (n,)."""
        taken = np.repeat(keep, self.n_steps)
        kept = {name: getattr(self, name)[keep] for name in _COLUMNS}
        return Annotations(**kept, labels=self.labels[taken], start=_starts(kept["n_steps"]))

    def places(self) -> Ints:
        """Stops in judged steps (n,): labels before the stop are all known, so they count the judged ones."""
        known = np.concatenate([[0], np.cumsum(self.labels != NOT_JUDGED)])
        at = self.start + np.maximum(self.stop, 0)
        return np.where(self.stop >= 0, known[at] - known[self.start], self.stop)

    def reached(self) -> Ints:
        """How many steps each judged (n,)."""
        known = np.concatenate([[0], np.cumsum(self.labels != NOT_JUDGED)])
        return np.asarray(known[self.start + self.n_steps] - known[self.start])


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """Arrays (solutions,), ordered by id. ``sampled`` solutions lie in the audit prefix; none of the holdout does."""

    id: Ints
    problem: Ints
    n_judged: Ints
    n_chars: Ints
    shuffle: Floats
    holdout: Bools
    taken: Ints
    queued: Bools
    sampled: Bools
    generator: npt.NDArray[np.str_]

    def index(self, ids: Ints) -> Ints:
        """Where these ids (n,) stand."""
        return np.asarray(np.searchsorted(self.id, ids))


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What the report and the consensus are computed from, of one moment."""

    annotations: Annotations
    solutions: Solutions
    watermark: float | None


_COLUMNS = [field.name for field in fields(Annotations) if field.name not in {"labels", "start"}]
_REAL = {"seconds", "shuffle"}
_SEND = {"at": "timestamptz_send", "seconds": "float8send", "shuffle": "float8send"}
#: The database counts microseconds from 2000 on, Python seconds from 1970.
_EPOCH_2000 = 946_684_800.0
_SOLUTION_COLUMNS = ["id", "problem", "n_judged", "n_chars", "shuffle", "holdout", "taken", "queued"]


def load(project: Project) -> Tables:
    """Everything of one snapshot, by three queries."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL work_mem = '128MB'")  # the sort of a large project fits, and needs no disk
        cursor.execute(_WATERMARK, [project.pk])
        watermark = cursor.fetchone()[0]
        names = {"project": project.pk}
        cursor.execute(_ANNOTATIONS.format(packed=_packed(_COLUMNS, {"solution": "solution_id"})), names)
        annotations = _annotations(cursor.fetchone())
        cursor.execute(_SOLUTIONS.format(packed=_packed(_SOLUTION_COLUMNS, {})), names)
        solutions = _solutions(cursor.fetchone(), watermark, annotations.solution)
    return Tables(annotations, solutions, watermark)


def _packed(names: list[str], columns: dict[str, str]) -> str:
    """Each column as one string of its numbers in network order."""
    return ", ".join(
        f"string_agg({_SEND.get(name, 'int8send')}({columns.get(name, name)}), '')" for name in names
    )


def _column(name: str, packed: Any) -> npt.NDArray[Any]:
    if name in _REAL:
        return np.frombuffer(packed or b"", dtype=">f8").astype(np.float64)
    whole = np.frombuffer(packed or b"", dtype=">i8").astype(np.int64)
    return whole / 1e6 + _EPOCH_2000 if name == "at" else whole


def _annotations(row: tuple[Any, ...]) -> Annotations:
    columns = {name: _column(name, packed) for name, packed in zip(_COLUMNS, row[:-1], strict=True)}
    said = np.frombuffer((row[-1] or "").encode("ascii"), dtype=np.uint8)
    return Annotations(**columns, labels=_LABEL_OF[said], start=_starts(columns["n_steps"]))


def _solutions(row: tuple[Any, ...], watermark: float | None, labelled: Ints) -> Solutions:
    columns = {name: _column(name, packed) for name, packed in zip(_SOLUTION_COLUMNS, row[:-1], strict=True)}
    holdout, queued = columns.pop("holdout") == 1, columns.pop("queued") == 1
    generator = (row[-1] or "").split("\n") if len(columns["id"]) else []
    shuffle, pool = columns["shuffle"], queued & ~holdout
    sampled = pool & (shuffle <= (-1.0 if watermark is None else watermark))
    # What was imported later, or asks for a skill, may still be untouched below the furthest audit claim: the prefix
    # ends before the first such solution.
    untouched = pool & (columns["taken"] == 0) & ~np.isin(columns["id"], labelled)
    if untouched.any():
        sampled &= shuffle < shuffle[untouched].min()
    return Solutions(
        **columns,
        holdout=holdout,
        queued=queued,
        sampled=sampled,
        generator=np.array(generator, dtype=np.str_),
    )


def _starts(sizes: Ints) -> Ints:
    return np.asarray(np.cumsum(sizes) - sizes)
