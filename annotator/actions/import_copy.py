"""Rows into tables by PostgreSQL's COPY: several times as fast as INSERT, and no Python object for each row.

The functions below give a row's cells in COPY's text form. The columns that are not named take their defaults; one that
has none makes the whole chunk fail, so that none is ever forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from django.db import connection

PROBLEM = (
    "id, project_id, external_id, text, content_hash, answer, solution, domain, subject, images, split, "
    "benchmarks"
)
SOLUTION = (
    "id, project_id, problem_id, batch_id, external_id, steps, n_steps, content_hash, generator, final_answer, "
    "answer_correct, derived_reason, meta"
)
REFERENCE = "solution_id, n_steps, labels, first_error"
QUEUE = "solution_id, project_id, holdout, priority, tiebreak, shuffle, wanted, taken, audit_owed, skill, strategy"
NULL = b"\\N"
_LABELS = {None: b"NULL", -1: b"-1", 0: b"0", 1: b"1"}
_FLAGS = {None: NULL, True: b"t", False: b"f"}


def copy_in(table: str, columns: str, lines: Iterable[bytes]) -> None:
    """Add these rows to a table of ours. Raises IntegrityError; then the transaction is lost."""
    command = f"COPY {table} ({columns}) FROM STDIN"
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(command) as copy:
        copy.write(b"".join(lines))


def new_ids(table: str, count: int) -> list[int]:
    """Keys for that many new rows."""
    with connection.cursor() as cursor:
        # MATERIALIZED, or the sequence would be looked up for each.
        cursor.execute(
            "WITH own AS MATERIALIZED (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS keys) "
            "SELECT array_agg(nextval(keys)) FROM own, generate_series(1, %s)",
            [table, count],
        )
        keys: list[int] = cursor.fetchone()[0]
        return keys


def found(table: str, columns: str, project_id: int, hashes: Iterable[bytes]) -> list[tuple[Any, ...]]:
    """(content_hash, ``columns``) of a project's rows with these hashes.

    Each is looked up by itself, by the unique index: while a large import runs PostgreSQL doesn't know yet how many
    rows there are, and would read all of the project's to find these. They go as one text, since the driver takes
    longer to look at each than PostgreSQL to find them.
    """
    among = "{" + ",".join(f'"\\\\x{each.hex()}"' for each in hashes) + "}"
    sql = (
        "SELECT asked.hash, there.* FROM unnest(%s::bytea[]) AS asked (hash), LATERAL "  # noqa: S608
        f"(SELECT {columns} FROM {table} WHERE project_id = %s AND content_hash = asked.hash LIMIT 1) AS there"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [among, project_id])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def line(*cells: bytes) -> bytes:
    """One row."""
    return b"\t".join(cells) + b"\n"


def number(value: float | None) -> bytes:
    """An integer or a float."""
    return NULL if value is None else repr(value).encode()


def text(value: str | None) -> bytes:
    r"""A text.

    >>> text("a\tb\n\\c")
    b'a\\tb\\n\\\\c'
    """
    if value is None:
        return NULL
    told = value.encode()
    if b"\\" in told:
        told = told.replace(b"\\", b"\\\\")
    if b"\n" in told:
        told = told.replace(b"\n", b"\\n")
    if b"\t" in told:
        told = told.replace(b"\t", b"\\t")
    return told.replace(b"\r", b"\\r") if b"\r" in told else told


def json(value: Any) -> bytes:
    """A value for a jsonb column; its text holds no control characters as they are."""
    told = orjson.dumps(value)
    return told.replace(b"\\", b"\\\\") if b"\\" in told else told


def raw(value: bytes) -> bytes:
    """Bytes for a bytea column."""
    return b"\\\\x" + value.hex().encode()


def flag(value: bool | None) -> bytes:
    """Yes, no or unknown."""
    return _FLAGS[value]


def labels(values: Sequence[int | None]) -> bytes:
    """Labels as a smallint[]. Raises KeyError for what is none.

    >>> labels((1, None, -1))
    b'{1,NULL,-1}'
    """
    return b"{" + b",".join([_LABELS[value] for value in values]) + b"}"


def names(values: Sequence[str]) -> bytes:
    r"""A varchar[].

    >>> names(["MATH", 'a "b"'])
    b'{"MATH","a \\\\"b\\\\""}'
    """
    quoted = ('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values)
    return text("{" + ",".join(quoted) + "}")
