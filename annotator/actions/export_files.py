"""Exports that a worker makes: a file in a folder that web processes and workers share, until it expires."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotator.actions import access, exports
from annotator.actions.access import Actor, Verb
from annotator.actions.export_choices import Recipe
from annotator.core.codecs.policies import PolicyError
from annotator.jobs import Claimed, enqueue
from annotator.models import ExportRun

JOB = "exports.run"
#: How long a made file can be downloaded; its row, its hash and its labels' snapshot stay.
KEPT = timedelta(days=7)
#: Seconds between two renewals of the job's lease.
RENEWED = 5.0


class NoSuchFile(LookupError):
    """There is no such export here, it is not made yet, or its file has expired; the message says which."""


@dataclass(frozen=True)
class MadeFile:
    """A finished export's file, and what to call it."""

    path: Path
    name: str
    media_type: str


@transaction.atomic
def ask(*, actor: Actor, recipe: Recipe, recipe_id: int | None = None) -> ExportRun:
    """Have a worker make an export. Raises as `exports.start`, before anything is queued."""
    run = exports.ask(actor=actor, recipe=recipe, recipe_id=recipe_id)
    enqueue(kind=JOB, subject=f"export {run.pk}", project_id=actor.project_id, payload={"run": run.pk})
    return run


def run(*, job: Claimed, extend: Callable[[], None]) -> None:
    """Make the file. May run twice: a file stands under its name only when it is whole."""
    _sweep()
    row = ExportRun.objects.filter(pk=int(job.payload["run"])).first()
    if row is None or row.state == ExportRun.State.DONE:
        return
    ExportRun.objects.filter(pk=row.pk).update(state=ExportRun.State.RUNNING, error="")
    _folder().mkdir(parents=True, exist_ok=True)
    made, target = _folder() / f"{row.pk}-{job.token}.new", path_of(row)
    try:
        with made.open("wb", buffering=1024 * 1024) as file:
            export = exports.resume(run=row)
            export.at_end = lambda: _put_in_place(file, made, target)
            renewed = time.monotonic()
            for line in export:
                file.write(line)
                if time.monotonic() - renewed > RENEWED:
                    extend()
                    renewed = time.monotonic()
    except PolicyError:
        return  # the row says why; to try again would fail again
    finally:
        made.unlink(missing_ok=True)


def file_of(*, actor: Actor, run_id: int) -> MadeFile:
    """The file of a finished export. Raises NotAllowed, NoSuchFile."""
    access.require(actor, Verb.EXPORT)
    row = ExportRun.objects.defer("snapshot").filter(pk=run_id, project_id=actor.project_id).first()
    if row is None or row.state != ExportRun.State.DONE:
        raise NoSuchFile("There is no such export, or it is not made yet.")
    path = path_of(row)
    if not is_there(row):
        raise NoSuchFile(
            f"The file has expired: files are kept for {KEPT.days} days. Its choices are in the history; make it again."
        )
    table = row.format == "csv"
    name = f"{actor.slug}-{row.format}-{row.pk}{path.suffix}"
    return MadeFile(path, name, "text/csv; charset=utf-8" if table else "application/jsonl")


def path_of(row: ExportRun) -> Path:
    """Where the file of an export is, once a worker has made it."""
    return _folder() / f"export-{row.pk}{'.csv' if row.format == 'csv' else '.jsonl'}"


def is_there(row: ExportRun) -> bool:
    """Whether the file can still be downloaded."""
    fresh = row.finished_at is not None and row.finished_at > timezone.now() - KEPT
    return fresh and path_of(row).is_file()


def _put_in_place(file: IO[bytes], made: Path, target: Path) -> None:
    """Before the row says that it is done, so that nobody is offered a file that isn't there."""
    file.flush()
    made.replace(target)


def _folder() -> Path:
    return Path(settings.STEPMARK_UPLOADS) / "exports"


def _sweep() -> None:
    """Delete files that have expired."""
    before = time.time() - KEPT.total_seconds()
    for path in _folder().glob("*"):
        with suppress(FileNotFoundError):  # another worker sweeps, too
            if path.stat().st_mtime < before:
                path.unlink()
