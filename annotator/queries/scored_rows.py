"""Queue rows with the scores that order them, a block at a time, packed by the database and unpacked by numpy.

A million rows as Python objects would take longer than everything that is computed from them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db import connection

from annotator.core.ragged import Rows
from annotator.core.selection import NAMES
from annotator.queries.beside import in_order

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.int32]

BLOCK = 20_000
#: Strategies as the database packs them: their place in here, from 1; 0 for anything else.
STRATEGY_CODES = ("", *NAMES, "certain")

_WHOLE = ("id", "version", "problem", "model", "ranked_by", "flags")
_REAL = ("priority", "tiebreak", "shuffle", "score", "width")
_BLOCK = """
SELECT string_agg(record_send(x), ''), array_agg(x.n) FROM (
  SELECT q.solution_id AS id, {version} AS version, t.problem_id AS problem,
    hashtextextended(coalesce(t.generator->>'model', ''), 0) AS model, coalesce(q.ranked_by_id, 0) AS ranked_by,
    (coalesce(t.answer_correct::int, -1) + 1 + 4 * (NOT q.holdout AND q.taken < q.wanted)::int
      + 8 * (q.taken > 0 AND NOT q.holdout)::int + 16 * q.holdout::int
      + 32 * coalesce(array_position(%(names)s, q.strategy::text), 0))::int8 AS flags,
    q.priority, q.tiebreak, q.shuffle, {score} AS score, {width} AS width,
    array_replace({values}, NULL, 'NaN') AS "values", array_replace({spread}, NULL, 'NaN') AS spread,
    cardinality({values}) AS n
  FROM annotator_queuerow q JOIN annotator_solution t ON t.id = q.solution_id {joins}
  WHERE q.project_id = %(project)s AND {range} AND {known}
  ORDER BY q.solution_id) x
"""
_SAID = """
SELECT string_agg(record_send(x), ''), array_agg(x.n) FROM (
  SELECT solution_id AS id, array_replace("values", NULL, 'NaN') AS "values", cardinality("values") AS n
  FROM annotator_score WHERE version_id = %s AND solution_id BETWEEN %s AND %s ORDER BY solution_id) x
"""
_LAST = """
SELECT max(id) FROM (SELECT solution_id AS id FROM annotator_queuerow
  WHERE project_id = %s AND solution_id > %s ORDER BY solution_id LIMIT %s) x
"""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows (n,) by ``id``, with the scores of ``version``. ``answer``: 1 right, 0 wrong, -1 unknown. ``open`` rows want
    labels and are no holdout; ``begun`` ones have some. ``ranked_by`` (0: nobody), ``strategy`` (its place in
    STRATEGY_CODES), ``priority`` and ``tiebreak`` are as they stand in the queue; ``score`` and ``width`` are the
    score's own. ``values`` and ``spread`` (steps,)."""

    id: Ints
    version: Ints
    problem: Ints
    model: Ints
    ranked_by: Ints
    answer: Ints
    open: Bools
    begun: Bools
    holdout: Bools
    strategy: Ints
    priority: Floats
    tiebreak: Floats
    shuffle: Floats
    score: Floats
    width: Floats
    values: Rows
    spread: Rows


def blocks(project_id: int, versions: Sequence[int], *, size: int = BLOCK) -> Generator[Block, None, None]:
    """All rows that one of the versions has scored. Where several have, the later one in ``versions`` speaks."""
    query = _query(versions)

    def read(within: tuple[int, int]) -> Block | None:
        named = dict(zip(("after", "last"), within, strict=True))
        with connection.cursor() as cursor:
            cursor.execute(query, {"project": project_id, "names": list(STRATEGY_CODES), **named})
            packed, lengths = cursor.fetchone()
        return None if packed is None else _block(bytes(packed), np.array(lengths, dtype=np.int64))

    with closing(in_order(read, _ranges(project_id, size))) as found:
        yield from filter(None, found)


def _ranges(project_id: int, size: int) -> list[tuple[int, int]]:
    """Ends of ranges of ids that hold so many rows each, the first end not included."""
    found: list[tuple[int, int]] = []
    with connection.cursor() as cursor:
        while True:
            after = found[-1][1] if found else 0
            cursor.execute(_LAST, [project_id, after, size])
            last = cursor.fetchone()[0]
            if last is None:
                return found
            found.append((after, last))


def _query(versions: Sequence[int]) -> str:
    """The query for a block; a solution's scores come from the last version that has some."""
    names = [f"s{place}" for place in range(len(versions))]

    def first(column: str) -> str:
        return f"coalesce({', '.join(f'{name}.{column}' for name in reversed(names))})"

    joins = [
        f"LEFT JOIN annotator_score {name} ON {name}.solution_id = q.solution_id AND {name}.version_id = {version:d} "
        f"AND {_within(name)}"
        for name, version in zip(names, versions, strict=True)
    ]
    # The range is said of each table: the planner does not carry it over to what is joined.
    columns = {"version": "version_id", "score": "priority", "width": "tiebreak"}
    columns |= {"values": '"values"', "spread": "spread"}
    return _BLOCK.format(
        joins=" ".join(joins),
        range=f"{_within('q')} AND {_within('t', 'id')}",
        known=f"{first('id')} IS NOT NULL",
        **{name: first(column) for name, column in columns.items()},
    )


def _within(table: str, column: str = "solution_id") -> str:
    return f"{table}.{column} > %(after)s AND {table}.{column} <= %(last)s"


def values_of(version_id: int, ids: Ints) -> tuple[Ints, Floats]:
    """How many steps a version has scored of each solution (n,), 0 for none, and their values one after the other,
    NaN for what takes no label. ``ids`` (n,) rise."""
    steps: Ints = np.zeros(len(ids), dtype=np.int64)
    with connection.cursor() as cursor:
        cursor.execute(_SAID, [version_id, int(ids[0]), int(ids[-1])])
        packed, counts = cursor.fetchone()
    if packed is None:
        return steps, np.zeros(0)
    lengths = np.array(counts, dtype=np.int64)
    found, (values,) = _unpacked(bytes(packed), lengths, ("id",), 1)
    wanted = np.isin(found["id"], ids)
    steps[np.searchsorted(ids, found["id"][wanted])] = lengths[wanted]
    return steps, values[np.repeat(wanted, lengths)]


def _block(packed: bytes, lengths: Ints) -> Block:
    found, elements = _unpacked(packed, lengths, (*_WHOLE, *_REAL), 2)
    real = {name: found[name].view(np.float64) for name in _REAL}
    flags = found["flags"]
    values, spread = (Rows.of(each, lengths) for each in elements)
    return Block(
        id=found["id"],
        version=found["version"],
        problem=found["problem"],
        model=found["model"],
        ranked_by=found["ranked_by"],
        answer=flags % 4 - 1,
        open=(flags & 4) > 0,
        begun=(flags & 8) > 0,
        holdout=(flags & 16) > 0,
        strategy=(flags >> 5) - 1,
        values=values,
        spread=spread,
        **real,
    )


def _unpacked(
    packed: bytes, lengths: Ints, fields: Sequence[str], arrays: int
) -> tuple[dict[str, Ints], list[Floats]]:
    """Take apart what `record_send` made of rows (n,): for each field its type, its length and eight bytes; then arrays
    of real numbers of four bytes, which become (steps,) each; the last field is the number of steps."""
    words: Words = np.frombuffer(packed, ">i4").astype(np.int32)
    fixed, array = 1 + 4 * len(fields), 7 + 2 * lengths
    size = fixed + arrays * array + 3
    start = np.cumsum(size) - size
    found = {name: _eight_bytes(words, start + 3 + 4 * place) for place, name in enumerate(fields)}
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    elements = [
        words[np.repeat(start + fixed + place * array + 7, lengths) + 2 * within + 1]
        .view(np.float32)
        .astype(np.float64)
        for place in range(arrays)
    ]
    return found, elements


def _eight_bytes(words: Words, at: Ints) -> Ints:
    """The whole numbers whose two words begin at these places."""
    low = words[at + 1].view(np.uint32).astype(np.int64)
    return np.asarray((words[at].astype(np.int64) << 32) | low)
