"""Bringing solutions in: streamed, idempotent by content, good rows kept whatever the bad ones do.

A file is read in chunks; each chunk is one transaction that writes problems, solutions, queue rows, labels and the
scoring jobs, and with them how far the import is. So an import that was killed goes on behind its last written chunk
with exact counts, and one that another process has taken over writes nothing. Running a file anew finds every
solution already there.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from annotator.actions import access, import_chunks
from annotator.actions.access import Actor, Verb
from annotator.actions.import_chunks import Into, Outcome, Row, ready
from annotator.actions.import_rows import LabelsAs
from annotator.actions.pictures import RowPictures, zip_at
from annotator.core.codecs import codec_named
from annotator.core.codecs.base import Codec, RowError
from annotator.core.codecs.detect import FormatNotDetected, detect
from annotator.core.codecs.rows import Item, first_error, first_objects, read_items
from annotator.core.codecs.sources import ByteFile
from annotator.core.segmentation import Rule
from annotator.jobs import LeaseLost
from annotator.models import AuditEvent, ImportBatch, Project
from annotator.queries.beside import ahead

State = ImportBatch.State
#: What can be asked of a running import.
PAUSE, CANCEL = "pause", "cancel"
#: A chunk ends with the line that brings it to so many rows, or to so many bytes.
CHUNK, CHUNK_BYTES = 2_000, 8 * 1024 * 1024
#: Chunks between two looks for garbage (see `_young_garbage_only`).
COLLECT_EVERY = 10
#: Errors kept with the batch; all are counted.
KEPT_ERRORS = 1_000
#: So many new solutions that PostgreSQL's picture of the tables is out of date.
MANY = 5_000
#: How often a chunk is tried where others write the same solutions beside the import.
TRIES = 3


class Overtaken(LeaseLost):
    """Another process has gone on with this import: stop, and write nothing more."""


class CannotGoOn(ValueError):
    """An import that is over, or a file that is not the one it began with; the message says which."""


class _Asked(Exception):
    """Somebody asked to pause or cancel."""


@dataclass(frozen=True)
class Source:
    """What to import and how to read it. ``size`` in bytes, 0 where it isn't known."""

    file: ByteFile
    filename: str
    format: str = "auto"
    labels_as: LabelsAs = LabelsAs.REFERENCE
    segment_rule: str = Rule.AUTO
    overwrite: bool = False
    size: int = 0


class _Chunk(NamedTuple):
    """What is written at a time: rows, the lines they came from, and the file's bytes up to there."""

    rows: list[Row]
    lines: int
    passed: int


class Rejects(Protocol):
    """Where rows go that are not imported."""

    def add(self, rows: Sequence[RowError], at: int) -> int:
        """Keep them behind the first ``at`` bytes, and nothing else; returns where they end."""


@dataclass
class Report:
    """What became of the rows; imported + duplicates + rejected = read, and ``updated`` are among the duplicates."""

    batch: int
    format: str
    reason: str
    read: int = 0
    imported: int = 0
    duplicates: int = 0
    updated: int = 0
    rejected: int = 0
    position: int = 0
    state: str = State.RUNNING
    errors: list[RowError] = field(default_factory=list)

    def with_(self, done: Outcome, lines: int) -> Report:
        """With a chunk's outcome added."""
        room = KEPT_ERRORS - len(self.errors)
        kept = [replace(error, given=None) for error in done.refused[:room]]  # it may be long
        return replace(
            self,
            read=self.read + done.read,
            imported=self.imported + done.imported,
            duplicates=self.duplicates + done.duplicates,
            updated=self.updated + done.updated,
            rejected=self.rejected + len(done.refused),
            position=self.position + lines,
            errors=self.errors + kept,
        )


def run(*, actor: Actor, source: Source, progress: Callable[[Report], None] = lambda _: None) -> Report:
    """Read a file to its end. Raises UnknownFormat or FormatNotDetected before anything is written.

    ``progress`` is told after each chunk.
    """
    access.require(actor, Verb.IMPORT)
    codec, reason = choose_codec(source)
    batch = open_batch(actor=actor, source=source, codec=codec, reason=reason)
    return go_on(batch=batch, file=source.file, progress=progress)


def resume(
    *, actor: Actor, batch_id: int, source: Source, progress: Callable[[Report], None] = lambda _: None
) -> Report:
    """Go on with an import from a file at hand, which must be the one it began with. Raises CannotGoOn.

    How the file is read is the batch's to say, not the source's.
    """
    access.require(actor, Verb.IMPORT)
    batch = ImportBatch.objects.filter(project_id=actor.project_id, pk=batch_id).first()
    if batch is None:
        raise CannotGoOn(f"There is no import {batch_id} in this project.")
    if not batch.is_open:
        raise CannotGoOn(f"Import {batch_id} is {batch.state}; there is nothing to go on with.")
    if batch.upload is not None:
        raise CannotGoOn(f"Import {batch_id} is a worker's; go on with it on the page Import.")
    if batch.size != source.size:
        raise CannotGoOn(
            f"Import {batch_id} began with a file of {batch.size:,} bytes; this one has {source.size:,}."
        )
    record("import:resumed", batch, {"position": batch.position}, actor)
    return go_on(batch=batch, file=source.file, progress=progress)


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
def open_batch(*, actor: Actor, source: Source, codec: Codec, reason: str, **more: Any) -> ImportBatch:
    """The row of an import that begins; ``more`` are further fields of it."""
    batch = ImportBatch.objects.create(
        project_id=actor.project_id,
        member_id=actor.member_id,
        filename=source.filename[-255:],
        format=codec.name,
        reason=reason,
        labels_as=source.labels_as.value,
        segment=source.segment_rule,
        overwrite=source.overwrite,
        size=source.size,
        **more,
    )
    record("import:started", batch, {"format": batch.format, "labels_as": batch.labels_as}, actor)
    return batch


def go_on(
    *,
    batch: ImportBatch,
    file: ByteFile,
    progress: Callable[[Report], None] = lambda _: None,
    rejects: Rejects | None = None,
) -> Report:
    """Read the file from where the batch stands to its end, or until somebody asks for a halt.

    Raises Overtaken where another process goes on with it; whatever else it raises leaves the batch FAILED, to be gone
    on with.
    """
    report = report_of(batch)
    into = Into(
        Project.objects.get(pk=batch.project_id),
        batch.pk,
        LabelsAs(batch.labels_as),
        batch.overwrite,
        RowPictures(batch.project_id, batch.member_id, zip_at(getattr(file, "name", None))),
    )
    if not ImportBatch.objects.filter(pk=batch.pk, state=batch.state).update(state=State.RUNNING):
        raise Overtaken(f"import {batch.pk}")
    items = read_items(file, codec_named(batch.format), batch.segment, skip=batch.position)
    try:
        with _young_garbage_only():
            # The next chunk is read while PostgreSQL writes the one before.
            for number, chunk in enumerate(ahead(_chunks(items, file, into))):
                report = _step(chunk, into, report, rejects)
                if number % COLLECT_EVERY == 0:
                    gc.collect(1)
                progress(report)
    except _Asked:
        return _halt(report)
    except LeaseLost:
        raise  # whoever holds it now says what becomes of it
    except BaseException:
        close(report, State.FAILED)
        raise
    if report.imported >= MANY:
        _tell_the_planner()
    return close(report, State.DONE)


def _tell_the_planner() -> None:
    """Let PostgreSQL count the tables anew: until it would by itself, it plans as if they were as small as before, and
    reads them whole for every few rows. The long columns are left out."""
    with connection.cursor() as cursor:
        cursor.execute(
            "ANALYZE annotator_problem (id, project_id, content_hash, split, domain, subject), "
            "annotator_solution (id, project_id, problem_id, batch_id, content_hash), "
            "annotator_referencelabels (solution_id), annotator_queuerow"
        )


@contextmanager
def _young_garbage_only() -> Iterator[None]:
    """Look for circles among new objects between chunks alone: a chunk's rows hold none, and to look through them and
    all that the process has loaded, time and again, took a third of an import."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def report_of(batch: ImportBatch) -> Report:
    """What was counted before."""
    errors = [
        RowError(each["line"], each["field"], each["message"], each.get("file", "")) for each in batch.errors
    ]
    return Report(
        batch=batch.pk,
        format=batch.format,
        reason=batch.reason,
        read=batch.read,
        imported=batch.imported,
        duplicates=batch.duplicates,
        updated=batch.updated,
        rejected=batch.rejected,
        position=batch.position,
        errors=errors,
    )


def _step(chunk: _Chunk, into: Into, report: Report, rejects: Rejects | None) -> Report:
    """Write a chunk; once more where somebody else wrote one of its solutions at that moment.

    Where chunks went before and none of their solutions was known, it is first tried as if none of this one's were: to
    look for each takes longer than to be refused once.
    """
    if report.position and not report.duplicates:
        with suppress(IntegrityError), transaction.atomic():
            return _write_chunk(chunk, into, report, rejects, all_new=True)
    for attempt in range(1, TRIES + 1):
        try:
            with transaction.atomic():
                return _write_chunk(chunk, into, report, rejects)
        except IntegrityError:
            if attempt == TRIES:
                raise
    raise AssertionError("unreachable")


def _write_chunk(
    chunk: _Chunk, into: Into, report: Report, rejects: Rejects | None, all_new: bool = False
) -> Report:
    """The chunk's rows and, in the same transaction, how far the import is."""
    # The first chunk wakes several workers to score it, which then do what follows: each later one calls one more.
    done = import_chunks.write(chunk.rows, into, all_new, wake_ups=1 if report.position else None)
    after = report.with_(done, chunk.lines)
    held = ImportBatch.objects.select_for_update(no_key=True).only(
        "asked", "position", "state", "rejected_bytes"
    )
    batch = held.get(pk=into.batch_id)
    if batch.position != report.position or batch.state != State.RUNNING:
        raise Overtaken(f"import {batch.pk}")
    if batch.asked:
        raise _Asked
    values = _counts(after) | {"position": after.position, "passed": chunk.passed}
    if len(after.errors) > len(report.errors):
        values["errors"] = [error.to_json() for error in after.errors]
    if rejects is not None and done.refused:
        values["rejected_bytes"] = rejects.add(done.refused, batch.rejected_bytes)
    ImportBatch.objects.filter(pk=into.batch_id).update(**values)
    return after


def _counts(report: Report) -> dict[str, Any]:
    names = ("read", "imported", "duplicates", "updated", "rejected")
    return {name: getattr(report, name) for name in names}


@transaction.atomic
def _halt(report: Report) -> Report:
    """Do what is asked by now; where that was taken back meanwhile, whoever did has a worker go on."""
    batch = ImportBatch.objects.select_for_update(no_key=True).get(pk=report.batch)
    if not batch.asked:
        return report
    return close(report, State.CANCELLED if batch.asked == CANCEL else State.PAUSED)


@transaction.atomic
def close(report: Report, state: ImportBatch.State) -> Report:
    """The end of a run: of the import, too, unless it can be gone on with."""
    batch = ImportBatch.objects.get(pk=report.batch)
    over = state in {State.DONE, State.CANCELLED}
    ImportBatch.objects.filter(pk=batch.pk).update(state=state, asked="", finished_at=Now() if over else None)
    record(f"import:{state.value}", batch, {"read": report.read, "imported": report.imported})
    return replace(report, state=state.value)


def record(name: str, batch: ImportBatch, data: dict[str, Any], actor: Actor | None = None) -> None:
    """An event of an import: somebody's, or (no actor) of whoever began it."""
    AuditEvent.objects.record(
        name,
        f"import {batch.pk}",
        project_id=batch.project_id,
        member_id=actor.member_id if actor else batch.member_id,
        data=data,
    )


def _chunks(items: Iterable[Item], file: ByteFile, into: Into) -> Iterator[_Chunk]:
    """Whole lines, as many as make a chunk."""
    tell: Callable[[], int] = getattr(file, "tell", lambda: 0)
    rows: list[Row] = []
    lines = size = 0
    for item in items:
        rows.extend(ready(row, into) for row in item.rows)
        lines, size = lines + 1, size + item.size
        if len(rows) >= CHUNK or size >= CHUNK_BYTES:
            yield _Chunk(rows, lines, tell())
            rows, lines, size = [], 0, 0
    if lines:
        yield _Chunk(rows, lines, tell())
