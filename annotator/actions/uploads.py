"""Files that people bring to the import page: kept under names of our own, looked at, imported by a worker, deleted.

Web processes and workers share the folder (STEPMARK_UPLOADS). Beside each file lies what it is; whoever knows an
upload's key still has to be a manager of its project.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from django.conf import settings

from annotator.actions import access, import_chunks, imports
from annotator.actions.access import Actor, Verb
from annotator.actions.import_rows import LabelsAs
from annotator.actions.imports import Source
from annotator.core.codecs.base import ImportRow, RowError
from annotator.core.codecs.rejected import as_line
from annotator.core.codecs.rows import read_rows
from annotator.core.segmentation import Rule
from annotator.models import ImportBatch

PREVIEWED = 20
#: An upload that nobody imported and rejected rows are deleted when somebody uploads after this many seconds.
FORGOTTEN_AFTER = 7 * 24 * 3600.0
SWEPT = ("*.upload", "*.json", "batch-*.rejected.jsonl")


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
    size: int
    sha256: str

    @property
    def path(self) -> Path:
        return _path(self.key)


@dataclass(frozen=True)
class Choices:
    """How a file is to be read, and as what."""

    format: str = "auto"
    labels_as: LabelsAs = LabelsAs.REFERENCE
    segment_rule: str = Rule.AUTO.value
    overwrite: bool = False


@dataclass(frozen=True)
class Preview:
    """The first rows as they would be imported. ``format`` is the one told or asked for, with why.

    ``on_benchmarks``: which known benchmarks hold a problem of these rows, and of how many rows.
    """

    format: str
    reason: str
    rows: list[ImportRow | RowError]
    on_benchmarks: list[tuple[str, int]]


def keep(*, actor: Actor, blocks: Iterable[bytes], filename: str) -> Upload:
    """Write an upload to its folder. Raises NotAllowed, TooLarge."""
    access.require(actor, Verb.IMPORT)
    key, size, digest = uuid.uuid4(), 0, hashlib.sha256()
    _folder().mkdir(parents=True, exist_ok=True)
    _sweep()
    cap = settings.STEPMARK_UPLOAD_BYTES
    try:
        with _path(key).open("xb") as file:
            for block in blocks:
                size += len(block)
                if size > cap:
                    raise TooLarge(f"A file has at most {cap:,} bytes; split it, or use import_solutions.")
                file.write(block)
                digest.update(block)
    except BaseException:
        _path(key).unlink(missing_ok=True)
        raise
    upload = Upload(key, actor.project_id, actor.member_id, filename[-255:], size, digest.hexdigest())
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
    with opened(upload.key) as file:
        codec, reason = imports.choose_codec(source_of(file, upload, choices))
        rows = list(islice(read_rows(file, codec, choices.segment_rule), PREVIEWED))
    texts = [row.record.problem.text for row in rows if isinstance(row, ImportRow)]
    named = import_chunks.benchmarks_of(texts)
    counts = Counter(name for text in texts for name in named.get(text, ()))
    return Preview(codec.name, reason, rows, sorted(counts.items()))


def forget(*, actor: Actor, key: uuid.UUID) -> None:
    """Delete an upload that is not wanted after all. Raises NotAllowed, NoSuchUpload."""
    delete(find(actor=actor, key=key).key)


def source_of(file: BinaryIO, upload: Upload, choices: Choices) -> Source:
    """What is to be read, and how."""
    return Source(
        file,
        upload.filename,
        choices.format,
        choices.labels_as,
        choices.segment_rule,
        choices.overwrite,
        upload.size,
    )


def opened(key: uuid.UUID) -> BinaryIO:
    """An upload's bytes. Raises NoSuchUpload."""
    try:
        return _path(key).open("rb")
    except FileNotFoundError:
        raise NoSuchUpload from None


def taken(key: uuid.UUID) -> None:
    """It belongs to an import now: nobody starts another with it or takes it away."""
    _note_of(key).unlink(missing_ok=True)


def delete(key: uuid.UUID) -> None:
    """It is imported, or not wanted any more."""
    _path(key).unlink(missing_ok=True)
    _note_of(key).unlink(missing_ok=True)


def rejected_path(batch_id: int) -> Path:
    """Where the rejected rows of a batch are, if it had any, a worker imported it, and that was not long ago."""
    return _folder() / f"batch-{batch_id}.rejected.jsonl"


@dataclass(frozen=True)
class RejectedRows:
    """The rejected rows of a batch, to be taken back, mended and imported again."""

    batch_id: int

    def add(self, rows: Sequence[RowError], at: int) -> int:
        """Keep them behind the first ``at`` bytes, and nothing else; returns where they end.

        What a killed run had written behind them belongs to a chunk that was never committed.
        """
        path = rejected_path(self.batch_id)
        path.touch()
        with path.open("rb+") as file:
            file.truncate(at)
            file.seek(at)
            file.write(b"".join(map(as_line, rows)))
            file.flush()
            os.fsync(file.fileno())
            return file.tell()


def _folder() -> Path:
    return Path(settings.STEPMARK_UPLOADS)


def _sweep() -> None:
    """Delete what was uploaded, looked at and left, and old rejected rows; not what waits for its import to go on."""
    before = time.time() - FORGOTTEN_AFTER
    over = (ImportBatch.State.DONE, ImportBatch.State.CANCELLED)
    waiting = ImportBatch.objects.exclude(upload=None).exclude(state__in=over)
    kept: set[str] = set()
    for key, batch_id in waiting.values_list("upload", "pk"):
        kept |= {str(key), rejected_path(batch_id).stem}
    for path in [path for kind in SWEPT for path in _folder().glob(kind)]:
        with suppress(FileNotFoundError):  # another process sweeps, too
            if path.stem not in kept and path.stat().st_mtime < before:
                path.unlink()


def _path(key: uuid.UUID) -> Path:
    return _folder() / f"{key}.upload"


def _note_of(key: uuid.UUID) -> Path:
    return _folder() / f"{key}.json"


def _note(upload: Upload) -> None:
    """Written at once or not at all: a page reads it."""
    new = _note_of(upload.key).with_suffix(".new")
    new.write_bytes(orjson.dumps({**asdict(upload), "key": str(upload.key)}))
    new.replace(_note_of(upload.key))


def _read(key: uuid.UUID) -> Upload:
    try:
        note: dict[str, Any] = orjson.loads(_note_of(key).read_bytes())
    except FileNotFoundError:
        raise NoSuchUpload from None
    return Upload(**{**note, "key": key})
