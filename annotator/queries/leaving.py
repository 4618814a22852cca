"""What an export reads of each solution: plain values in chunks, without a database object for each.

JSON comes as text and is parsed by orjson: Django's own way took a third of an export's time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import BooleanField, F, Func, QuerySet, TextField, Value
from django.db.models.functions import Cast

from annotator.core.codecs.base import Consensus as Note
from annotator.core.codecs.base import ExportScore, Selection
from annotator.core.solutions import ImportedAnnotation, ProblemImage, ProblemText
from annotator.models import (
    Adjudication,
    Annotation,
    Consensus,
    Gold,
    Problem,
    Project,
    ReferenceLabels,
    Score,
    Solution,
)
from annotator.queries.beside import ahead
from annotator.queries.export_filters import LabelsFrom, Only, passing
from annotator.queries.label_sources import source_of

#: What is read at a time: so many solutions, or of longer ones so many that their steps have so many characters. Two
#: chunks are held while an export reads ahead.
CHUNK, CHUNK_CHARS = 2_000, 8 * 1024 * 1024


class _Among(Func):
    """A column's value is one of these keys. They go as one array, written out: to fill in a place for each of a
    thousand keys took a quarter of an export, and the driver looks at each of a list as well.
    """

    template = "%(expressions)s::bigint[])"
    arg_joiner = " = ANY("

    def __init__(self, column: str, keys: Collection[int]) -> None:
        among = "{" + ",".join(map(str, keys)) + "}"
        super().__init__(F(column), Value(among), output_field=BooleanField())


class Agreed(NamedTuple):
    """What people's labels came to; ``posterior`` in whatever shape the method has."""

    method: str
    posterior: Any
    labels: Sequence[int | None]
    state: str
    n_annotations: int

    @property
    def note(self) -> Note:
        return Note(self.method, self.posterior)


class Brought(NamedTuple):
    """The labels that a file brought."""

    labels: Sequence[int | None]
    first_error: int | None


class Labelled(NamedTuple):
    """One person's current labels, and why they were asked for."""

    said: ImportedAnnotation
    selection: Selection | None


@dataclass(slots=True)
class Leaving:
    """One solution with all that an export may say of it. ``decided`` is the latest adjudication's labels."""

    pk: int
    external_id: str
    steps: list[dict[str, Any]]
    generator: dict[str, Any]
    final_answer: str | None
    answer_correct: bool | None
    meta: dict[str, Any]
    problem: ProblemText
    split: str
    benchmarks: Sequence[str]
    mode: str
    accept: Sequence[int] | None
    reference: Brought | None
    consensus: Agreed | None
    decided: Sequence[int | None] | None
    annotations: Sequence[Labelled]
    scores: Sequence[ExportScore]


_JSON = ("steps", "generator", "meta")
_PROBLEM = ("text", "external_id", "answer", "solution", "domain", "subject")
_CONSENSUS = ("method", "posterior", "labels", "state", "n_annotations")


def in_order(project_id: int, only: Only, labels: LabelsFrom) -> Iterator[Leaving]:
    """Every solution that passes, by its key, a chunk at a time.

    A server-side cursor outside a transaction would first write the whole result to the server's disk: at a million
    solutions 12 s before the first byte. Here a chunk is read when the one before has been sent. The keys come first,
    so that the rest is looked up for these alone.

    Outside a transaction PostgreSQL finds the next chunk while the caller is busy with this one.
    """
    mode = Project.objects.values_list("mode", flat=True).get(pk=project_id)
    found = _chunks(passing(Solution.objects.filter(project_id=project_id), only, labels))
    for chunk in found if connection.in_atomic_block else ahead(found):
        # Each is parsed when its turn comes: thousands of parsed objects at a time make Python look for garbage.
        for row in chunk.rows:
            yield _leaving(row, mode, chunk)


class _About(NamedTuple):
    """What is told of a problem, and which side it is on."""

    problem: ProblemText
    split: str
    benchmarks: Sequence[str]


class _Chunk(NamedTuple):
    """What was read of some solutions: their rows, their problems, and by their keys what else there may be."""

    rows: Sequence[tuple[Any, ...]]
    problems: Mapping[int, _About]
    accept: Mapping[int, Sequence[int]]
    references: Mapping[int, Brought]
    consensus: Mapping[int, Agreed]
    decisions: Mapping[int, Sequence[int | None]]
    annotations: Mapping[int, Sequence[Labelled]]
    scores: Mapping[int, Sequence[ExportScore]]


def _chunks(solutions: QuerySet[Solution]) -> Iterator[_Chunk]:
    """Each table is asked for its rows of a chunk by itself: joined, PostgreSQL read the whole of the smaller ones for
    each chunk, since so many of their rows were wanted.
    """
    wanted, last = solutions.order_by("pk").values_list("pk", "n_chars"), 0
    while keys := _beginning(wanted.filter(pk__gt=last)[:CHUNK]):
        rows = _rows(keys)
        yield _Chunk(
            rows,
            _problems({row[-1] for row in rows}),
            dict(Gold.objects.filter(_Among("solution_id", keys)).values_list("solution_id", "accept")),
            _references(keys),
            _consensus(keys),
            _decisions(keys),
            _annotations(keys),
            _scores(keys),
        )
        last = keys[-1]


def _beginning(lengths: Iterable[tuple[int, int]]) -> list[int]:
    """The first keys, with (key, characters) of each: one, and those that together stay within CHUNK_CHARS."""
    keys: list[int] = []
    held = 0
    for key, characters in lengths:
        held += characters
        if keys and held > CHUNK_CHARS:
            break
        keys.append(key)
    return keys


def _rows(keys: Collection[int]) -> list[tuple[Any, ...]]:
    texts = {f"{name}_text": Cast(name, TextField()) for name in _JSON}
    columns = ("pk", "external_id", "final_answer", "answer_correct", *texts, "problem_id")
    solutions = Solution.objects.filter(_Among("pk", keys))
    return list(solutions.annotate(**texts).order_by("pk").values_list(*columns))


def _problems(keys: Collection[int]) -> dict[int, _About]:
    problems = Problem.objects.filter(_Among("id", keys)).annotate(images_text=Cast("images", TextField()))
    rows: Any = problems.values_list("pk", *_PROBLEM, "images_text", "split", "benchmarks")
    return {
        pk: _About(
            ProblemText(text, external_id, answer, solution, domain, subject, _images(images)), *beside
        )
        for pk, text, external_id, answer, solution, domain, subject, images, *beside in rows
    }


def _references(keys: Collection[int]) -> dict[int, Brought]:
    rows = ReferenceLabels.objects.filter(_Among("solution_id", keys))
    said = rows.values_list("solution_id", "labels", "first_error")
    return {pk: Brought(labels, first_error) for pk, labels, first_error in said}


def _consensus(keys: Collection[int]) -> dict[int, Agreed]:
    rows = Consensus.objects.filter(_Among("solution_id", keys)).values_list("solution_id", *_CONSENSUS)
    return {pk: Agreed(*said) for pk, *said in rows}


def _leaving(row: Sequence[Any], mode: str, chunk: _Chunk) -> Leaving:
    pk, external_id, final_answer, answer_correct, steps, generator, meta, problem_id = row
    about = chunk.problems[problem_id]
    return Leaving(
        pk=pk,
        external_id=external_id,
        steps=orjson.loads(steps),
        generator=orjson.loads(generator),
        final_answer=final_answer,
        answer_correct=answer_correct,
        meta={} if meta == "{}" else orjson.loads(meta),
        problem=about.problem,
        split=about.split,
        benchmarks=about.benchmarks,
        mode=mode,
        accept=chunk.accept.get(pk),
        reference=chunk.references.get(pk),
        consensus=chunk.consensus.get(pk),
        decided=chunk.decisions.get(pk),
        annotations=chunk.annotations.get(pk, ()),
        scores=chunk.scores.get(pk, ()),
    )


def _images(stored: str) -> tuple[ProblemImage, ...]:
    if stored == "[]":
        return ()
    return tuple(ProblemImage(each["sha256"], each["alt"]) for each in orjson.loads(stored))


def _decisions(keys: Collection[int]) -> dict[int, Sequence[int | None]]:
    """The latest of each solution."""
    rows = Adjudication.objects.filter(_Among("solution_id", keys)).order_by("decided_at", "pk")
    return dict(rows.values_list("solution_id", "labels"))


def _annotations(keys: Collection[int]) -> dict[int, list[Labelled]]:
    rows = Annotation.objects.filter(_Among("solution_id", keys), current=True).order_by("submitted_at", "pk")
    columns = (
        "solution_id",
        "member__pseudonym",
        "labels",
        "finish_reason",
        "details",
        "active_seconds",
        "submitted_at",
        "counted",
        "guidelines__version",
        "assignment__selection",
    )
    found: dict[int, list[Labelled]] = {}
    for solution_id, *said, selection in rows.values_list(*columns):
        labelled = Labelled(_said(*said), Selection(**selection) if selection else None)
        found.setdefault(solution_id, []).append(labelled)
    return found


def _said(
    annotator: str,
    labels: Sequence[int | None],
    finish_reason: str,
    details: dict[str, Any],
    active_seconds: float | None,
    submitted_at: datetime,
    counted: bool,
    guidelines: int | None,
) -> ImportedAnnotation:
    return ImportedAnnotation(
        annotator=annotator,
        labels=tuple(labels),
        finish_reason=finish_reason,
        details=details,
        active_seconds=active_seconds,
        submitted_at=submitted_at.isoformat(),
        counted=counted,
        guidelines=guidelines,
    )


def _scores(keys: Collection[int]) -> dict[int, list[ExportScore]]:
    rows = Score.objects.filter(_Among("solution_id", keys)).order_by("version_id")
    columns = (
        "solution_id",
        "version__scorer__name",
        "version__version",
        "version__measures",
        "values",
        "spread",
        "version__scorer__kind",
        "predicted_stop",
    )
    found: dict[int, list[ExportScore]] = {}
    for solution_id, name, version, measures, values, spread, kind, stop in rows.values_list(*columns):
        score = ExportScore(name, version, measures, values, spread, source_of(kind), stop)
        found.setdefault(solution_id, []).append(score)
    return found
