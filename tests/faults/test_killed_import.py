"""An import whose worker is killed again and again ends with exact counts, and writes each row once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotator import jobs, tasks
from annotator.actions import access, import_jobs, uploads
from annotator.actions.uploads import Choices
from annotator.models import ImportBatch, Project, QueueRow, ReferenceLabels, Solution
from tests import factories as make
from tests.files import jsonl, native
from tests.tasks.workers import ROOT, beat, database_url, half_a_minute_passes, until

pytestmark = pytest.mark.django_db(transaction=True)

NEW, KILLS = 350, 3
WORK = """
import django; django.setup()
from annotator import jobs, tasks
from annotator.actions import imports
imports.CHUNK = 2
while (job := jobs.claim("default")) is not None:
    tasks.run(job)
"""


def rows() -> list[dict[str, Any] | bytes]:
    """New ones, every seventh twice, every tenth followed by a broken one."""
    made: list[dict[str, Any] | bytes] = []
    for number in range(NEW):
        made.append(native(number, 1, -1, None))
        if number % 7 == 0:
            made.append(native(number, 1, -1, None))
        if number % 10 == 0:
            made.append(b'{"cut off')
    return made


def begun(project: Project) -> ImportBatch:
    actor = access.operator(project)
    kept = uploads.keep(actor=actor, blocks=[jsonl(*rows()).getvalue()], filename="a.jsonl")
    return import_jobs.start(actor=actor, key=kept.key, choices=Choices())


def worker(folder: Path) -> subprocess.Popen[bytes]:
    """A process that does what a worker does, two rows at a time."""
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "STEPMARK_ENV": "test",
        "STEPMARK_UPLOADS": str(folder),
        "DJANGO_SETTINGS_MODULE": "annotator.config.settings",
    }
    return subprocess.Popen([sys.executable, "-c", WORK], cwd=ROOT, env=environment)


def test_an_import_killed_three_times_and_gone_on_with_has_exact_counts(
    tmp_path: Path, settings: Any
) -> None:
    settings.STEPMARK_UPLOADS = tmp_path
    project = make.project()
    batch = begun(project)
    _killed_again_and_again(batch, tmp_path)
    while (job := jobs.claim("default")) is not None:
        tasks.run(job)

    duplicates, rejected = len(range(0, NEW, 7)), len(range(0, NEW, 10))
    batch.refresh_from_db()
    assert (batch.state, batch.imported, batch.duplicates, batch.rejected) == (
        "done",
        NEW,
        duplicates,
        rejected,
    )
    assert batch.read == NEW + duplicates + rejected == len(rows())
    for table in (Solution.objects.filter(project=project), QueueRow.objects, ReferenceLabels.objects):
        assert table.count() == NEW
    kept = uploads.rejected_path(batch.pk).read_text().splitlines()
    lines = [json.loads(line)["_rejected"]["line"] for line in kept]
    assert len(lines) == len(set(lines)) == rejected
    assert [error["line"] for error in batch.errors] == lines


def _killed_again_and_again(batch: ImportBatch, folder: Path) -> None:
    """Workers that die in the middle, each a little further than the one before."""
    reached = [0]

    def position() -> int:
        return int(ImportBatch.objects.values_list("position", flat=True).get(pk=batch.pk))

    for _ in range(KILLS):
        running = worker(folder)
        try:
            until(lambda: position() > reached[-1] + 10, "it goes on")
        finally:
            running.send_signal(signal.SIGKILL)
            running.wait()
        reached.append(position())
        assert reached[-1] < len(rows()), "too quick to be killed in the middle"
        half_a_minute_passes()
        beat()
