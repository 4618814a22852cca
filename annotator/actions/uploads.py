"""Files that people bring to the import page: kept under names of our own, looked at, imported by a worker, deleted.

Web processes and workers share the folder (STEPMARK_UPLOADS). Beside each file lies what it is; whoever knows an
upload's key still has to be a manager of its project.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import orjson
from django.conf import settings
from django.db import transaction

from annotator.actions import access, imports
from annotator.actions.access import Actor, Verb
from annotator.actions.import_rows import LabelsAs
from annotator.actions.imports import Report, Source
from annotator.core.codecs.base import ImportRow, RowError
from annotator.core.codecs.rejected import as_line
from annotator.core.codecs.rows import read_rows
from annotator.jobs import Claimed, enqueue
from annotator.models import ImportBatch, Role

PREVIEWED = 20
#: An upload that nobody imported is deleted when somebody uploads after this many seconds.
FORGOTTEN_AFTER = 7 * 24 * 3600.0


class NoSuchUpload(Exception):
    """No upload of that key in this project: never there, imported already, or taken away."""


class TooLarge(ValueError):
    """An upload over the cap; the message says how large it may be."""


@dataclass(frozen=True)
class Upload:
    """A kept file: whose it is, and what it was called."""

    key: uuid.UUID
    project_id: int
    member_id: int | None
    filename: str
    batch: int | None = None

    @property
    def path(self) -> Path:
        return _folder() / f"{self.key}.upload"

    @property
    def note(self) -> Path:
        return _folder() / f"{self.key}.json"


@dataclass(frozen=True)
class Choices:
    """How a file is to be read, and as what."""

    format: str
    labels_as: LabelsAs
    segment_rule: str


@dataclass(frozen=True)
class Preview:
    """The first rows as they would be imported. ``format`` is the one told or asked for, with why."""

    format: str
    reason: str
    rows: list[ImportRow | RowError]


def keep(*, actor: Actor, blocks: Iterable[bytes], filename: str) -> Upload:
    """Write an upload to its folder. Raises NotAllowed, TooLarge."""
    access.require(actor, Verb.IMPORT)
    upload = Upload(uuid.uuid4(), actor.project_id, actor.member_id, filename[-255:])
    _folder().mkdir(parents=True, exist_ok=True)
    _sweep()
    cap, size = settings.STEPMARK_UPLOAD_BYTES, 0
    try:
        with upload.path.open("xb") as file:
            for block in blocks:
                size += len(block)
                if size > cap:
                    raise TooLarge(f"A file has at most {cap:,} bytes; split it, or use import_solutions.")
                file.write(block)
    except BaseException:
        upload.path.unlink(missing_ok=True)
        raise
    _note(upload)
    return upload


def find(*, actor: Actor, key: uuid.UUID) -> Upload:
    """An upload of the actor's project. Raises NotAllowed, NoSuchUpload."""
    access.require(actor, Verb.IMPORT)
    upload = _read(key)
    if upload.project_id != actor.project_id or not upload.path.exists():
        raise NoSuchUpload
    return upload


def preview(*, upload: Upload, choices: Choices) -> Preview:
    """Read the first rows; nothing is written. Raises FormatNotDetected, UnknownFormat."""
    with upload.path.open("rb") as file:
        codec, reason = imports.choose_codec(_source(file, upload, choices))
        rows = list(islice(read_rows(file, codec, choices.segment_rule), PREVIEWED))
    return Preview(codec.name, reason, rows)


@transaction.atomic
def start(*, actor: Actor, key: uuid.UUID, choices: Choices) -> None:
    """Have a worker import it. Raises NotAllowed, NoSuchUpload, FormatNotDetected, UnknownFormat."""
    upload = find(actor=actor, key=key)
    with upload.path.open("rb") as file:  # told now, so that the worker can't fail to
        codec, _ = imports.choose_codec(_source(file, upload, choices))
    payload = {"key": str(key), **asdict(choices), "format": codec.name}
    enqueue(kind="imports.run", subject=f"upload {key}", project_id=actor.project_id, payload=payload)


def forget(*, actor: Actor, key: uuid.UUID) -> None:
    """Delete an upload that is not wanted after all. Raises NotAllowed, NoSuchUpload."""
    _delete(find(actor=actor, key=key))


def run(*, job: Claimed, extend: Callable[[], None]) -> None:
    """Import an upload and delete it. May run twice: what was written before is found again as duplicates."""
    try:
        upload = _read(uuid.UUID(job.payload["key"]))
    except NoSuchUpload:
        return  # an earlier run came to its end
    choices = Choices(job.payload["format"], LabelsAs(job.payload["labels_as"]), job.payload["segment_rule"])
    if upload.batch is not None:  # its worker died
        running = ImportBatch.objects.filter(pk=upload.batch, state=ImportBatch.State.RUNNING)
        running.update(state=ImportBatch.State.FAILED)
    actor = Actor(upload.member_id, upload.project_id, Role.MANAGER.value)
    refused = _folder() / f"{upload.key}.rejected"
    with ExitStack() as stack:
        file = stack.enter_context(upload.path.open("rb"))
        sink = stack.enter_context(refused.open("wb"))

        def progressed(report: Report) -> None:
            _show(upload, report)
            extend()

        report = imports.run(
            actor=actor,
            source=_source(file, upload, choices),
            progress=progressed,
            rejected=lambda error: _write(sink, error),
        )
    if report.rejected:
        refused.replace(rejected_path(report.batch))
    refused.unlink(missing_ok=True)
    _delete(upload)


def rejected_path(batch_id: int) -> Path:
    """Where the rejected rows of a batch are, if it had any and came by the page."""
    return _folder() / f"batch-{batch_id}.rejected.jsonl"


def _show(upload: Upload, report: Report) -> None:
    """Tell the page how far it is, and a next run, should this one be killed, which batch was this one's."""
    ImportBatch.objects.filter(pk=report.batch).update(
        read=report.read,
        imported=report.imported,
        duplicates=report.duplicates,
        rejected=report.rejected,
    )
    if _read(upload.key).batch != report.batch:
        _note(Upload(upload.key, upload.project_id, upload.member_id, upload.filename, report.batch))


def _write(sink: IO[bytes], error: RowError) -> None:
    sink.write(as_line(error))


def _source(file: IO[bytes], upload: Upload, choices: Choices) -> Source:
    return Source(file, upload.filename, choices.format, choices.labels_as, choices.segment_rule)


def _folder() -> Path:
    return Path(settings.STEPMARK_UPLOADS)


def _sweep() -> None:
    """Delete what was uploaded, looked at and left."""
    before = time.time() - FORGOTTEN_AFTER
    for path in [*_folder().glob("*.upload"), *_folder().glob("*.json"), *_folder().glob("*.rejected")]:
        with suppress(FileNotFoundError):  # another process sweeps, too
            if path.stat().st_mtime < before:
                path.unlink()


def _note(upload: Upload) -> None:
    new = upload.note.with_suffix(".new")
    new.write_bytes(orjson.dumps({**asdict(upload), "key": str(upload.key)}))
    new.replace(upload.note)


def _read(key: uuid.UUID) -> Upload:
    try:
        note: dict[str, Any] = orjson.loads((_folder() / f"{key}.json").read_bytes())
    except FileNotFoundError:
        raise NoSuchUpload from None
    return Upload(**{**note, "key": key})


def _delete(upload: Upload) -> None:
    upload.path.unlink(missing_ok=True)
    upload.note.unlink(missing_ok=True)
