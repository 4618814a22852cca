"""Bringing solutions in: streamed, idempotent by content, good rows kept whatever the bad ones do.

A file is read in chunks; each chunk is one transaction that writes problems, solutions, queue rows, labels and the
scoring jobs. Running the same file again finds every solution already there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import connection, transaction
from django.db.models.functions import Now

from annotator.actions import access, scoring
from annotator.actions.access import Actor, Verb
from annotator.actions.import_rows import Known, LabelsAs, Prepared, prepare, write_labels
from annotator.core.codecs import codec_named
from annotator.core.codecs.base import Codec, ImportRow, RowError
from annotator.core.codecs.detect import FormatNotDetected, detect
from annotator.core.codecs.rows import first_error, first_objects, read_rows
from annotator.core.codecs.sources import ByteFile
from annotator.core.sampling import in_holdout
from annotator.core.segmentation import Rule
from annotator.core.solutions import digest
from annotator.models import AuditEvent, ImportBatch, Problem, Project, QueueRow, Scorer, Solution, Split

CHUNK = 500
#: Errors kept with the batch; all are counted.
KEPT_ERRORS = 1_000
_chance = random.SystemRandom()


@dataclass(frozen=True)
class Source:
    """What to import and how to read it."""

    file: ByteFile
    filename: str
    format: str = "auto"
    labels_as: LabelsAs = LabelsAs.REFERENCE
    segment_rule: str = Rule.AUTO


@dataclass
class Report:
    """What became of the rows; imported + duplicates + rejected = read."""

    batch: int
    format: str
    reason: str
    read: int = 0
    imported: int = 0
    duplicates: int = 0
    rejected: int = 0
    errors: list[RowError] = field(default_factory=list)

    def reject(self, error: RowError) -> None:
        self.rejected += 1
        if len(self.errors) < KEPT_ERRORS:
            self.errors.append(replace(error, given=None))  # it may be long, and there may be many


def run(
    *,
    actor: Actor,
    source: Source,
    progress: Callable[[Report], None] = lambda _: None,
    rejected: Callable[[RowError], None] = lambda _: None,
) -> Report:
    """Read the file to its end. Raises UnknownFormat or FormatNotDetected before anything is written.

    ``progress`` is told after each chunk, ``rejected`` of each row that is not imported, with what was given.
    """
    access.require(actor, Verb.IMPORT)
    codec, reason = choose_codec(source)
    batch = _open(actor, source, codec)
    report = Report(batch.pk, codec.name, reason)
    project = Project.objects.get(pk=actor.project_id)
    try:
        for chunk in _chunks(read_rows(source.file, codec, source.segment_rule), CHUNK):
            after = replace(report, errors=list(report.errors))
            refused = _write_chunk(chunk, project, batch, source.labels_as, after)
            report = after  # only now: what a chunk that failed had counted was rolled back with it
            for row in refused:
                rejected(row)
            progress(report)
    except BaseException:
        _close(batch, report, ImportBatch.State.FAILED)
        raise
    _close(batch, report, ImportBatch.State.DONE)
    return report


@transaction.atomic
def _open(actor: Actor, source: Source, codec: Codec) -> ImportBatch:
    batch = ImportBatch.objects.create(
        project_id=actor.project_id,
        member_id=actor.member_id,
        filename=source.filename[-255:],
        format=codec.name,
        labels_as=source.labels_as.value,
    )
    _record("import:started", batch, {"format": batch.format, "labels_as": batch.labels_as})
    return batch


def choose_codec(source: Source) -> tuple[Codec, str]:
    """The codec by its name, or by the file's first rows, with why. Raises UnknownFormat, FormatNotDetected."""
    if source.format != "auto":
        return codec_named(source.format), "as asked"
    first = first_objects(source.file)
    source.file.seek(0)
    if not first and (bad := first_error(source.file)) is not None:
        raise FormatNotDetected(f"no row of the file can be read; the first: {bad.message}")
    detection = detect(first)
    return detection.codec, detection.reason


@transaction.atomic
def _write_chunk(
    rows: Sequence[ImportRow | RowError],
    project: Project,
    batch: ImportBatch,
    labels_as: LabelsAs,
    report: Report,
) -> list[RowError]:
    """Write one chunk; returns the rows that were rejected.

    One import writes to a project at a time, so that "is it there already?" has one answer.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK_CLASS, project.pk])
    report.read += len(rows)
    prepared: list[Prepared] = []
    refused: list[RowError] = []
    for row in rows:
        made = row if isinstance(row, RowError) else prepare(row, project, labels_as)
        if isinstance(made, RowError):
            refused.append(replace(made, part=row.part, given=row.given))
            report.reject(refused[-1])
        else:
            prepared.append(made)
    fresh = _unknown(prepared, project, report)
    if fresh:
        written = _write_solutions(fresh, project, batch)
        write_labels(written, project, labels_as)
        if not labels_as.is_gold:
            _queue(written, project)
        for scorer in Scorer.objects.filter(project=project):
            scoring.enqueue_scoring(scorer=scorer, solution_ids=[known.solution.pk for known in written])
    report.imported += len(fresh)
    return refused


#: Names our advisory locks among others' in the same database.
_LOCK_CLASS = 0x57E9


def _unknown(prepared: Sequence[Prepared], project: Project, report: Report) -> list[Prepared]:
    """Rows whose content is neither in the project nor earlier in the chunk."""
    hashes = [each.content_hash for each in prepared]
    known = {
        bytes(found)
        for found in Solution.objects.filter(project=project, content_hash__in=hashes).values_list(
            "content_hash", flat=True
        )
    }
    fresh = []
    for each in prepared:
        if each.content_hash in known:
            report.duplicates += 1
        else:
            known.add(each.content_hash)
            fresh.append(each)
    return fresh


def _write_solutions(fresh: Sequence[Prepared], project: Project, batch: ImportBatch) -> list[Known]:
    problems = _problems(fresh, project)
    made = Solution.objects.bulk_create(
        [
            Solution(
                project=project,
                problem=problems[digest(each.record.problem.text)],
                batch=batch,
                external_id=each.record.external_id,
                steps=[step.to_json() for step in each.record.steps],
                n_steps=len(each.record.steps),
                content_hash=each.content_hash,
                generator=dict(each.record.generator),
                final_answer=each.record.final_answer,
                answer_correct=each.record.answer_correct,
                meta=dict(each.record.meta),
            )
            for each in fresh
        ]
    )
    return [Known(solution, each) for solution, each in zip(made, fresh, strict=True)]


def _problems(fresh: Sequence[Prepared], project: Project) -> dict[bytes, Problem]:
    """The chunk's problems by the hash of their text, made where they are new, each with its side of the split."""
    records = {digest(each.record.problem.text): each.record.problem for each in fresh}
    rows = Problem.objects.filter(project=project, content_hash__in=list(records))
    found = {bytes(problem.content_hash): problem for problem in rows}
    missing = [
        Problem(
            project=project,
            external_id=problem.external_id,
            text=problem.text,
            content_hash=content_hash,
            answer=problem.answer,
            solution=problem.solution,
            domain=problem.domain,
            subject=problem.subject,
            split=Split.HOLDOUT if in_holdout(project.split_key, problem.text) else Split.TRAIN,
        )
        for content_hash, problem in records.items()
        if content_hash not in found
    ]
    made = Problem.objects.bulk_create(missing)
    return found | {bytes(problem.content_hash): problem for problem in made}


def _queue(written: Sequence[Known], project: Project) -> None:
    rows = []
    for known in written:
        holdout = known.solution.problem.split == Split.HOLDOUT
        rows.append(
            QueueRow(
                solution=known.solution,
                project=project,
                holdout=holdout,
                shuffle=_chance.random(),
                wanted=project.labels_holdout if holdout else project.labels_train,
                audit_owed=0 if holdout else project.labels_audit,
            )
        )
    QueueRow.objects.bulk_create(rows)


@transaction.atomic
def _close(batch: ImportBatch, report: Report, state: ImportBatch.State) -> None:
    ImportBatch.objects.filter(pk=batch.pk).update(
        state=state,
        read=report.read,
        imported=report.imported,
        duplicates=report.duplicates,
        rejected=report.rejected,
        errors=[error.to_json() for error in report.errors],
        finished_at=Now(),
    )
    _record(f"import:{state.value}", batch, {"read": report.read, "imported": report.imported})


def _record(name: str, batch: ImportBatch, data: dict[str, Any]) -> None:
    AuditEvent.objects.record(
        name, f"import {batch.pk}", project_id=batch.project_id, member_id=batch.member_id, data=data
    )


def _chunks(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    chunk: list[Any] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
