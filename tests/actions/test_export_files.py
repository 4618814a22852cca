"""Files of exports that workers make: whole or not there, whatever breaks, and gone when they expire."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator import jobs, tasks
from annotator.actions import export_files
from annotator.actions.access import NotAllowed, operator
from annotator.actions.export_choices import Recipe
from annotator.actions.export_files import KEPT, NoSuchFile
from annotator.models import ExportRun, Job, Project
from annotator.queries import exports as queries
from annotator.queries.export_filters import LabelsFrom
from tests import factories as make
from tests.actions.leaving import brought

pytestmark = pytest.mark.django_db
REFERENCE = Recipe(labels=LabelsFrom.REFERENCE)


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.STEPMARK_UPLOADS = tmp_path
    return tmp_path / "exports"


@pytest.fixture
def project() -> Project:
    made = make.project()
    for _ in range(3):
        brought(make.solution(made), 1, 1, 1)
    return made


def ask(project: Project, recipe: Recipe = REFERENCE) -> ExportRun:
    return export_files.ask(actor=operator(project), recipe=recipe)


def work() -> None:
    """Run the one job there is, once."""
    job = jobs.claim("default")
    assert job is not None
    tasks.run(job)


def test_a_worker_that_breaks_off_leaves_no_half_file_and_the_next_one_makes_it_whole(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, rows = ask(project), queries.rows

    def break_off(**choice: Any) -> Iterator[Any]:
        yield next(rows(**choice))
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(queries, "rows", break_off)
        work()
    run.refresh_from_db()
    assert (run.state, "the disk is full" in run.error, list(folder.iterdir())) == ("failed", True, [])

    Job.objects.update(due_at="2020-01-01T00:00Z")
    work()
    run.refresh_from_db()
    content = export_files.path_of(run).read_bytes()
    assert (run.state, run.error, run.written, content.count(b"\n")) == ("done", "", 3, 3)
    assert hashlib.sha256(content).hexdigest() == run.sha256


def test_a_worker_whose_lease_is_lost_leaves_nothing(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_files, "RENEWED", -1.0)
    ask(project)
    job = jobs.claim("default")
    assert job is not None

    def lost() -> None:
        raise jobs.LeaseLost

    with pytest.raises(jobs.LeaseLost):
        export_files.run(job=job, extend=lost)
    assert list(folder.iterdir()) == []


def test_a_slow_worker_that_ends_behind_another_leaves_what_that_one_made(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_files, "RENEWED", -1.0)
    run = ask(project)
    job = jobs.claim("default")
    assert job is not None

    def taken_over() -> None:
        export_files.run(job=replace(job, token=uuid.uuid4()), extend=lambda: None)
        raise jobs.LeaseLost

    with pytest.raises(jobs.LeaseLost):
        export_files.run(job=job, extend=taken_over)
    run.refresh_from_db()
    assert (run.state, run.error, run.written) == ("done", "", 3)


def test_a_neutral_label_that_came_meanwhile_is_told_and_not_tried_again(project: Project) -> None:
    run = ask(project, Recipe(format="trl", labels=LabelsFrom.REFERENCE))
    brought(make.solution(project), 1, 0, 1)
    work()
    run.refresh_from_db()
    assert (run.state, "has no neutral label" in run.error) == ("failed", True)
    assert not Job.objects.exists()


def test_a_job_that_is_done_twice_makes_one_file(project: Project) -> None:
    run = ask(project)
    job = jobs.claim("default")
    assert job is not None
    for _ in range(2):
        export_files.run(job=job, extend=lambda: None)
    run.refresh_from_db()
    assert (run.state, ExportRun.objects.count()) == ("done", 1)


def test_expired_files_are_deleted_when_the_next_one_is_made(project: Project) -> None:
    first = ask(project)
    work()
    path, past = export_files.path_of(first), time.time() - KEPT.total_seconds() - 60
    os.utime(path, (past, past))
    ask(project)
    work()
    assert not path.exists()
    with pytest.raises(NoSuchFile, match="has expired"):
        export_files.file_of(actor=operator(project), run_id=first.pk)


def test_only_those_who_may_export_have_files_made(project: Project) -> None:
    with pytest.raises(NotAllowed):
        export_files.ask(actor=make.actor(project), recipe=REFERENCE)
