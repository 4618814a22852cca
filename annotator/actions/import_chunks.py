"""One chunk of an import, in one transaction: problems, solutions, labels, queue rows and scoring jobs.

What is new is written by COPY; what is known may get metadata that it lacked. Steps never change.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from django.db import connection

from annotator.actions import import_copy as cells
from annotator.actions import scoring
from annotator.actions.import_rows import Known, LabelsAs, Prepared, prepare, write_labels
from annotator.actions.import_updates import fill
from annotator.actions.pictures import RowPictures
from annotator.core.benchmarks import fingerprint
from annotator.core.codecs.base import ImportRow, RowError
from annotator.core.sampling import in_holdout
from annotator.core.solutions import ProblemText
from annotator.models import BenchmarkProblem, Project, Scorer, Split

_chance = random.SystemRandom()
#: Names our advisory locks among others' in the same database.
_LOCK_CLASS = 0x57E9


@dataclass(frozen=True)
class Into:
    """Where rows go, and as what."""

    project: Project
    batch_id: int
    labels_as: LabelsAs
    overwrite: bool = False
    pictures: RowPictures | None = None


#: What a chunk holds: rows that are ready, rows that wait for their pictures, and those that are not imported.
Row = Prepared | ImportRow | RowError


@dataclass
class Outcome:
    """What became of a chunk's rows; read = imported + duplicates + len(refused)."""

    read: int = 0
    imported: int = 0
    duplicates: int = 0
    updated: int = 0
    refused: list[RowError] = field(default_factory=list)


def ready(row: ImportRow | RowError, into: Into) -> Row:
    """A row as far as it can be brought without the database, so that this is done while the chunk before is written.

    What names pictures stays as it is.
    """
    if isinstance(row, RowError) or row.record.problem.images:
        return row
    return _ready(row, into)


def _ready(row: ImportRow, into: Into) -> Prepared | RowError:
    made = prepare(row, into.project, into.labels_as)
    if isinstance(made, RowError):
        return replace(made, part=row.part, given=row.given)
    return made


def write(rows: Sequence[Row], into: Into, all_new: bool = False, wake_ups: int | None = None) -> Outcome:
    """Write one chunk in the caller's transaction. Raises IntegrityError where somebody else wrote the same solution
    meanwhile: roll back and do it again.

    One import writes to a project at a time, so that "is it there already?" has one answer. ``all_new`` doesn't ask it:
    where a solution is there already, IntegrityError is raised as well. ``wake_ups`` workers are told that there is
    something to score, or as many as usual.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK_CLASS, into.project.pk])
    prepared, refused = _prepare(rows, into)
    solutions = {} if all_new else _known([each.content_hash for each in prepared], into.project)
    fresh = _first_of_each(prepared, solutions)
    problems = _problems(fresh, into)
    written = _solutions(fresh, problems, into)
    write_labels(written, into.project, into.labels_as)
    if not into.labels_as.is_gold:
        _queue(written, into.project)
    for scorer in Scorer.objects.filter(project=into.project):
        ids = [known.solution_id for known in written]
        scoring.enqueue_scoring(scorer=scorer, solution_ids=ids, wake_ups=wake_ups)
    solutions |= {known.row.content_hash: known.solution_id for known in written}
    first = {id(known.row) for known in written}
    again = [Known(solutions[each.content_hash], each) for each in prepared if id(each) not in first]
    updated = fill(again, overwrite=into.overwrite)
    return Outcome(len(rows), len(written), len(again), updated, refused)


def _prepare(rows: Sequence[Row], into: Into) -> tuple[list[Prepared], list[RowError]]:
    prepared: list[Prepared] = []
    refused: list[RowError] = []
    for row in rows:
        made = _with_pictures(row, into) if isinstance(row, ImportRow) else row
        if isinstance(made, RowError):
            refused.append(made)
        else:
            prepared.append(made)
    return prepared, refused


def _with_pictures(row: ImportRow, into: Into) -> Prepared | RowError:
    found = into.pictures.resolved(row) if into.pictures is not None and row.record.problem.images else row
    if isinstance(found, RowError):
        return replace(found, part=row.part, given=row.given)
    return _ready(found, into)


def _known(hashes: Iterable[bytes], project: Project) -> dict[bytes, int]:
    """Solutions that are in the project already: content hash → key."""
    rows = cells.found("annotator_solution", "id", project.pk, hashes)
    return {bytes(key): pk for key, pk in rows}


def _first_of_each(prepared: Sequence[Prepared], known: dict[bytes, int]) -> list[Prepared]:
    """Rows whose content is neither in the project nor earlier in the chunk."""
    seen = set(known)
    fresh = []
    for each in prepared:
        if each.content_hash not in seen:
            seen.add(each.content_hash)
            fresh.append(each)
    return fresh


def _problems(fresh: Sequence[Prepared], into: Into) -> dict[bytes, tuple[int, bool]]:
    """The chunk's problems by the hash of their text: key, and whether it is on the holdout side. New ones are made."""
    texts = {each.problem_hash: each.record.problem for each in fresh}
    rows = cells.found("annotator_problem", "id, split", into.project.pk, texts)
    found = {bytes(key): (pk, split == Split.HOLDOUT) for key, pk, split in rows}
    missing = {key: problem for key, problem in texts.items() if key not in found}
    if missing:
        benchmarks = benchmarks_of(problem.text for problem in missing.values())
        lines = []
        for pk, (key, problem) in zip(
            cells.new_ids("annotator_problem", len(missing)), missing.items(), strict=True
        ):
            holdout = in_holdout(into.project.split_key, problem.text)
            found[key] = (pk, holdout)
            lines.append(_problem_line(pk, key, problem, into, holdout, benchmarks.get(problem.text, ())))
        cells.copy_in("annotator_problem", cells.PROBLEM, lines)
    return found


def benchmarks_of(texts: Iterable[str]) -> dict[str, list[str]]:
    """The benchmarks that hold each of these problems; those that none holds are left out."""
    if not BenchmarkProblem.objects.exists():
        return {}
    prints = {text: fingerprint(text) for text in texts}
    held: dict[bytes, list[str]] = {}
    rows = BenchmarkProblem.objects.filter(content_hash__in=set(prints.values())).order_by("benchmark")
    for key, name in rows.values_list("content_hash", "benchmark"):
        held.setdefault(bytes(key), []).append(name)
    return {text: held[key] for text, key in prints.items() if key in held}


def _problem_line(
    pk: int, key: bytes, problem: ProblemText, into: Into, holdout: bool, benchmarks: Sequence[str]
) -> bytes:
    return cells.line(
        cells.number(pk),
        cells.number(into.project.pk),
        cells.text(problem.external_id),
        cells.text(problem.text),
        cells.raw(key),
        cells.text(problem.answer),
        cells.text(problem.solution),
        cells.text(problem.domain),
        cells.text(problem.subject),
        cells.json([{"sha256": image.src, "alt": image.alt} for image in problem.images]),
        (Split.HOLDOUT if holdout else Split.TRAIN).value.encode(),
        cells.names(benchmarks),
    )


def _solutions(fresh: Sequence[Prepared], problems: dict[bytes, tuple[int, bool]], into: Into) -> list[Known]:
    if not fresh:
        return []
    made, lines = [], []
    project, batch = into.project.pk, into.batch_id
    for pk, each in zip(cells.new_ids("annotator_solution", len(fresh)), fresh, strict=True):
        problem_id, holdout = problems[each.problem_hash]
        made.append(Known(pk, each, holdout))
        lines.append(b"%d\t%d\t%d\t%d\t%b" % (pk, project, problem_id, batch, each.cells))
    cells.copy_in("annotator_solution", cells.SOLUTION, lines)
    return made


def _queue(written: Sequence[Known], project: Project) -> None:
    rest = {
        side: cells.line(
            cells.number(project.labels_holdout if side else project.labels_train),
            b"0",
            cells.number(0 if side else project.labels_audit),
            b"",
            b"",
        )
        for side in (False, True)
    }
    cells.copy_in(
        "annotator_queuerow",
        cells.QUEUE,
        (
            b"%d\t%d\t%b\t0\t0\t%b\t%b"
            % (
                known.solution_id,
                project.pk,
                cells.flag(known.holdout),
                cells.number(_chance.random()),
                rest[known.holdout],
            )
            for known in written
        ),
    )
