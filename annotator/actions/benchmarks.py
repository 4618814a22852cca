"""Marking problems that well-known benchmarks hold: by hashes, made from files that the user has.

What is imported later is marked by the import; what is there already is marked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import transaction

from annotator.actions import imports
from annotator.actions.import_chunks import benchmarks_of
from annotator.actions.imports import Source
from annotator.core.benchmarks import fingerprint
from annotator.core.codecs import CODECS
from annotator.core.codecs.base import RowError
from annotator.core.codecs.lines import JsonLine
from annotator.core.codecs.rows import read_rows
from annotator.core.codecs.sources import read_source
from annotator.models import AuditEvent, BenchmarkProblem, Problem

#: Where a row of a list of problems keeps its text, in the order of preference; for files without solutions.
FIELDS = ("problem", "question", "original_question", "prompt", "input", "Question")
PLAIN = "problems"
CHUNK = 1_000
MAX_NAME = 60


class BadName(ValueError):
    """A benchmark's name that can't be stored or would not fit on a line."""


@dataclass(frozen=True)
class Hashed:
    """``read`` rows gave ``problems`` different problems, ``new`` of them not known before; ``rejected`` gave none.

    ``marked``: problems of all projects that this benchmark holds now.
    """

    read: int
    problems: int
    new: int
    rejected: int
    marked: int


def add(*, source: Source, name: str) -> Hashed:
    """Keep the hashes of a file's problems under the benchmark's name, and mark the problems that are here already.

    ``source.format`` PLAIN reads rows that hold a problem and no solution. Raises BadName, UnknownFormat,
    FormatNotDetected.
    """
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise BadName(f"A benchmark has a name of at most {MAX_NAME} printable characters, such as MATH-500.")
    read = rejected = 0
    prints: set[bytes] = set()
    for text in _texts(source):
        read += 1
        if text is None:
            rejected += 1
        else:
            prints.add(fingerprint(text))
    with transaction.atomic():
        known = BenchmarkProblem.objects.filter(benchmark=name)
        before = known.count()
        rows = [BenchmarkProblem(benchmark=name, content_hash=each) for each in sorted(prints)]
        BenchmarkProblem.objects.bulk_create(rows, batch_size=5_000, ignore_conflicts=True)
        new = known.count() - before
        data = {"name": name, "problems": len(prints), "new": new}
        AuditEvent.objects.record(
            "import:benchmark_hashed", f"benchmark {name}", project_id=None, member_id=None, data=data
        )
    mark_all()
    return Hashed(
        read, len(prints), new, rejected, Problem.objects.filter(benchmarks__contains=[name]).count()
    )


def _texts(source: Source) -> Iterator[str | None]:
    """Each row's problem, None for a row that has none."""
    if source.format == PLAIN:
        for line in read_source(source.file):
            yield _plain(line)
        return
    codec, _ = imports.choose_codec(source)
    for row in read_rows(source.file, codec):
        yield None if isinstance(row, RowError) else row.record.problem.text


def _plain(line: JsonLine | RowError) -> str | None:
    if isinstance(line, RowError):
        return None
    for name in FIELDS:
        value = line.value.get(name)
        text = value.get("text") if isinstance(value, dict) else value
        if isinstance(text, str) and text.strip():
            return text
    return None


def mark_all() -> int:
    """Mark every problem by the hashes that are known now. Returns how many marks changed.

    A chunk at a time, each in a transaction of its own: nobody who imports or labels waits for more.
    """
    changed, last = 0, 0
    while chunk := list(
        Problem.objects.filter(pk__gt=last).order_by("pk").only("text", "benchmarks")[:CHUNK]
    ):
        held = benchmarks_of(each.text for each in chunk)
        wrong = [each for each in chunk if each.benchmarks != held.get(each.text, [])]
        for each in wrong:
            each.benchmarks = held.get(each.text, [])
        Problem.objects.bulk_update(wrong, ["benchmarks"])
        changed, last = changed + len(wrong), chunk[-1].pk
    return changed


def formats() -> Iterable[str]:
    """What `add` reads."""
    return ("auto", PLAIN, *CODECS)
