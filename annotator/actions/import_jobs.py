"""Imports that workers run: begun, paused, gone on with, cancelled, and done with exact counts whoever dies meanwhile.

The batch's row says all that a run needs. A job names the batch; what somebody asks of a running worker stands in the
row, and the worker looks with each chunk.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from functools import partial

from django.db import IntegrityError, transaction

from annotator.actions import access, imports, uploads
from annotator.actions.access import Actor, Verb
from annotator.actions.imports import CANCEL, PAUSE
from annotator.actions.uploads import Choices, NoSuchUpload, RejectedRows, Upload
from annotator.jobs import Claimed, drop, enqueue
from annotator.models import ImportBatch, Job

log = logging.getLogger(__name__)

KIND = "imports.run"
State = ImportBatch.State


class NoSuchImport(Exception):
    """No import of that number in this project."""


class CannotChange(ValueError):
    """What was asked makes no sense for an import in this state; the message says why."""


class KeyReused(ValueError):
    """An idempotency key that came before with another file or other choices."""


def start(*, actor: Actor, key: uuid.UUID, choices: Choices) -> ImportBatch:
    """Have a worker import an upload. Raises NotAllowed, NoSuchUpload, FormatNotDetected, UnknownFormat."""
    try:
        return _start(actor, uploads.find(actor=actor, key=key), choices)
    except IntegrityError:  # a second click at the same moment
        raise NoSuchUpload from None


def start_once(*, actor: Actor, upload: Upload, choices: Choices, idempotency_key: str = "") -> ImportBatch:
    """As `start`, for a program: where the same person's request came before under this key, its import is returned
    and the upload deleted. Raises KeyReused, FormatNotDetected, UnknownFormat."""
    access.require(actor, Verb.IMPORT)
    try:
        return _known(actor, upload, choices, idempotency_key) or _start(
            actor, upload, choices, idempotency_key
        )
    except IntegrityError:  # the same request at the same moment
        first = _known(actor, upload, choices, idempotency_key)
        if first is None:
            raise
        return first
    finally:
        if not ImportBatch.objects.filter(upload=upload.key).exists():
            uploads.delete(upload.key)


def _known(actor: Actor, upload: Upload, choices: Choices, key: str) -> ImportBatch | None:
    """The import that this key stands for already."""
    if not key:
        return None
    mine = ImportBatch.objects.filter(project_id=actor.project_id, member_id=actor.member_id)
    first = mine.filter(idempotency_key=key).first()
    if first is None:
        return None
    asked = (upload.sha256, choices.labels_as.value, choices.segment_rule, choices.overwrite)
    before = (first.sha256, first.labels_as, first.segment, first.overwrite)
    if asked != before or choices.format not in {"auto", first.format}:
        raise KeyReused("This Idempotency-Key came before with another file or other choices; use a new one.")
    return first


@transaction.atomic
def _start(actor: Actor, upload: Upload, choices: Choices, idempotency_key: str = "") -> ImportBatch:
    with uploads.opened(upload.key) as file:  # told now, so that the worker can't fail to
        source = uploads.source_of(file, upload, choices)
        codec, reason = imports.choose_codec(source)
    batch = imports.open_batch(
        actor=actor,
        source=source,
        codec=codec,
        reason=reason,
        state=State.QUEUED,
        upload=upload.key,
        sha256=upload.sha256,
        idempotency_key=idempotency_key,
    )
    _enqueue(batch)
    transaction.on_commit(partial(uploads.taken, upload.key))
    return batch


def pause(*, actor: Actor, batch_id: int) -> ImportBatch:
    """Stop before the next chunk; what was written stays. Raises NotAllowed, NoSuchImport, CannotChange."""
    return _halt(actor, batch_id, PAUSE)


def cancel(*, actor: Actor, batch_id: int) -> ImportBatch:
    """Stop for good; what was written stays, the rest of the file is deleted. Raises as `pause`."""
    return _halt(actor, batch_id, CANCEL)


@transaction.atomic
def resume(*, actor: Actor, batch_id: int) -> ImportBatch:
    """Go on behind the last chunk that was written. Raises NotAllowed, NoSuchImport, CannotChange."""
    batch = _locked(actor, batch_id)
    if not batch.is_open:
        raise CannotChange(f"Import {batch.pk} is {batch.state}; there is nothing to go on with.")
    if batch.upload is None:
        raise CannotChange(
            f"Import {batch.pk} came by the shell: go on there with import_solutions --resume {batch.pk}."
        )
    under_way = batch.state in {State.QUEUED, State.RUNNING} and _is_worked_on(batch)
    if under_way and not batch.asked:
        raise CannotChange(f"Import {batch.pk} is with a worker already.")
    _set(batch, asked="", state=batch.state if under_way else State.QUEUED)
    _enqueue(batch)
    imports.record("import:resumed", batch, {"position": batch.position}, actor)
    return batch


@transaction.atomic
def _halt(actor: Actor, batch_id: int, wish: str) -> ImportBatch:
    """Ask the worker that runs it; where none does, it is done here."""
    batch = _locked(actor, batch_id)
    if not batch.is_open:
        raise CannotChange(f"Import {batch.pk} is {batch.state} already.")
    if wish == PAUSE and batch.state == State.PAUSED:
        raise CannotChange(f"Import {batch.pk} is paused already.")
    drop(kind=KIND, subject_prefix=_subject(batch))
    if _is_worked_on(batch) or (batch.upload is None and batch.state == State.RUNNING):
        _set(batch, asked=wish)
    else:
        _set(batch, state=State.PAUSED if wish == PAUSE else State.CANCELLED, asked="")
        if wish == CANCEL and batch.upload is not None:
            transaction.on_commit(partial(uploads.delete, batch.upload))
    name = "import:pause_asked" if wish == PAUSE else "import:cancel_asked"
    imports.record(name, batch, {"position": batch.position}, actor)
    return batch


def run(*, job: Claimed, extend: Callable[[], None]) -> None:
    """Import what the job's batch has left. May run twice: the second time it goes on behind the last chunk."""
    batch = ImportBatch.objects.filter(pk=job.payload["batch"]).first()
    if batch is None or batch.upload is None or not batch.is_open or batch.state == State.PAUSED:
        return
    try:
        file = uploads.opened(batch.upload)
    except NoSuchUpload:
        log.error("Import %s can't go on: its file is gone from the upload folder.", batch.pk)
        imports.close(imports.report_of(batch), State.FAILED)
        return
    with file:
        report = imports.go_on(
            batch=batch, file=file, progress=lambda _: extend(), rejects=RejectedRows(batch.pk)
        )
    if report.state in {State.DONE, State.CANCELLED}:
        uploads.delete(batch.upload)


def _locked(actor: Actor, batch_id: int) -> ImportBatch:
    access.require(actor, Verb.IMPORT)
    rows = ImportBatch.objects.filter(project_id=actor.project_id, pk=batch_id)
    batch = rows.select_for_update(no_key=True).first()
    if batch is None:
        raise NoSuchImport
    return batch


def _set(batch: ImportBatch, **values: object) -> None:
    ImportBatch.objects.filter(pk=batch.pk).update(**values)
    for name, value in values.items():
        setattr(batch, name, value)


def _is_worked_on(batch: ImportBatch) -> bool:
    """Whether a job for it is queued or with a worker (whose death shows when its lease runs out)."""
    waiting = (Job.State.QUEUED, Job.State.CLAIMED)
    return Job.objects.filter(kind=KIND, subject=_subject(batch), state__in=waiting).exists()


def _enqueue(batch: ImportBatch) -> None:
    Job.objects.filter(kind=KIND, subject=_subject(batch), state=Job.State.FAILED).delete()
    enqueue(kind=KIND, subject=_subject(batch), project_id=batch.project_id, payload={"batch": batch.pk})


def _subject(batch: ImportBatch) -> str:
    return f"import {batch.pk};"  # so that no number begins another
