"""What an export reads of each solution: plain values in chunks, without a database object for each.

JSON comes as text and is parsed by orjson: Django's own way took a third of an export's time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import BooleanField, F, Func, QuerySet, TextField, Value
from django.db.models.functions import Cast

from annotator.core.codecs.base import Consensus, ExportScore, Selection
from annotator.core.solutions import ImportedAnnotation, ProblemImage, ProblemText
from annotator.models import Adjudication, Annotation, Project, Score, Solution
from annotator.queries.beside import ahead
from annotator.queries.export_filters import LabelsFrom, Only, passing
from annotator.queries.label_sources import source_of

CHUNK = 2_000


class _Among(Func):
    """A column's value is one of these keys. They go as one array, written out: to fill in a place for each of a
    thousand keys took a quarter of an export, and the driver looks at each of a list as well.
    """

    template = "%(expressions)s::bigint[])"
    arg_joiner = " = ANY("

    def __init__(self, column: str, keys: Sequence[int]) -> None:
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
    def note(self) -> Consensus:
        return Consensus(self.method, self.posterior)


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


_PROBLEM = tuple(
    f"problem__{name}" for name in ("text", "external_id", "answer", "solution", "domain", "subject")
)
_BESIDE = ("problem__split", "problem__benchmarks", "gold__accept")
_REFERENCE = ("reference__labels", "reference__first_error")
_CONSENSUS = tuple(
    f"consensus__{name}" for name in ("method", "posterior", "labels", "state", "n_annotations")
)
_PLAIN = ("pk", "external_id", "final_answer", "answer_correct")
_JSON = ("steps", "generator", "meta")


def in_order(project_id: int, only: Only, labels: LabelsFrom) -> Iterator[Leaving]:
    """Every solution that passes, by its key, CHUNK at a time.

    A server-side cursor outside a transaction would first write the whole result to the server's disk: at a million
    solutions 12 s before the first byte. Here a chunk is read when the one before has been sent. The keys come first,
    so that what is joined is looked up for these alone.

    Outside a transaction PostgreSQL finds the next chunk while the caller is busy with this one.
    """
    mode = Project.objects.values_list("mode", flat=True).get(pk=project_id)
    found = _chunks(passing(Solution.objects.filter(project_id=project_id), only, labels))
    for chunk in found if connection.in_atomic_block else ahead(found):
        # Each is parsed when its turn comes: thousands of parsed objects at a time make Python look for garbage.
        for row in chunk.rows:
            pk = row[0]
            yield _leaving(
                row, mode, chunk.decisions.get(pk), chunk.annotations.get(pk, ()), chunk.scores.get(pk, ())
            )


class _Chunk(NamedTuple):
    """What was read of some solutions: their rows, and by their keys what else there may be."""

    rows: list[tuple[Any, ...]]
    decisions: Mapping[int, Sequence[int | None]]
    annotations: Mapping[int, Sequence[Labelled]]
    scores: Mapping[int, Sequence[ExportScore]]


def _chunks(solutions: QuerySet[Solution]) -> Iterator[_Chunk]:
    wanted, last = solutions.order_by("pk"), 0
    while keys := list(wanted.filter(pk__gt=last).values_list("pk", flat=True)[:CHUNK]):
        yield _Chunk(_rows(keys), _decisions(keys), _annotations(keys), _scores(keys))
        last = keys[-1]


def _rows(keys: Sequence[int]) -> list[tuple[Any, ...]]:
    texts = {f"{name}_text": Cast(name, TextField()) for name in _JSON}
    images = {"images_text": Cast("problem__images", TextField())}
    columns = (*_PLAIN, *texts, *_PROBLEM, *_BESIDE, *_REFERENCE, *_CONSENSUS, *images)
    solutions = Solution.objects.filter(_Among("pk", keys))
    return list(solutions.annotate(**texts, **images).order_by("pk").values_list(*columns))


def _leaving(
    row: Sequence[Any],
    mode: str,
    decided: Sequence[int | None] | None,
    annotations: Sequence[Labelled],
    scores: Sequence[ExportScore],
) -> Leaving:
    pk, external_id, final_answer, answer_correct, steps, generator, meta = row[:7]
    split, benchmarks, accept, labels, first_error, method = row[13:19]
    return Leaving(
        pk=pk,
        external_id=external_id,
        steps=orjson.loads(steps),
        generator=orjson.loads(generator),
        final_answer=final_answer,
        answer_correct=answer_correct,
        meta=orjson.loads(meta),
        problem=ProblemText(row[7], row[8], row[9], row[10], row[11], row[12], _images(row[23])),
        split=split,
        benchmarks=benchmarks,
        mode=mode,
        accept=accept,
        reference=None if labels is None else Brought(labels, first_error),
        consensus=None if method is None else Agreed(*row[18:23]),
        decided=decided,
        annotations=annotations,
        scores=scores,
    )


def _images(stored: str) -> tuple[ProblemImage, ...]:
    if stored == "[]":
        return ()
    return tuple(ProblemImage(each["sha256"], each["alt"]) for each in orjson.loads(stored))


def _decisions(keys: Sequence[int]) -> dict[int, Sequence[int | None]]:
    """The latest of each solution."""
    rows = Adjudication.objects.filter(_Among("solution_id", keys)).order_by("decided_at", "pk")
    return dict(rows.values_list("solution_id", "labels"))


def _annotations(keys: Sequence[int]) -> dict[int, list[Labelled]]:
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


def _scores(keys: Sequence[int]) -> dict[int, list[ExportScore]]:
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
