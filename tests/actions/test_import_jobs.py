"""Imports that are gone on with: paused, cancelled, overtaken, broken off; by a worker or by the shell."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from annotator import jobs, tasks
from annotator.actions import access, import_jobs, imports, uploads
from annotator.actions.import_jobs import CannotChange, NoSuchImport
from annotator.actions.imports import CannotGoOn, Overtaken, Report, Source
from annotator.actions.uploads import Choices, NoSuchUpload
from annotator.models import AuditEvent, ImportBatch, Job, Project, Solution
from tests import factories as make
from tests.files import jsonl, native

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where uploads lie; and chunks of two rows."""
    settings.STEPMARK_UPLOADS = tmp_path
    monkeypatch.setattr(imports, "CHUNK", 2)
    return tmp_path


@pytest.fixture
def project() -> Project:
    return make.project()


ROWS: list[dict[str, Any] | bytes] = [native(0), native(1), b"{", native(2), native(0), native(3)]


def begun(project: Project, *rows: dict[str, Any] | bytes) -> ImportBatch:
    """An upload that waits for its worker."""
    actor = access.operator(project)
    kept = uploads.keep(actor=actor, blocks=[jsonl(*(rows or ROWS)).getvalue()], filename="a.jsonl")
    return import_jobs.start(actor=actor, key=kept.key, choices=Choices())


def claimed() -> jobs.Claimed:
    job = jobs.claim("default")
    assert job is not None
    return job


def work() -> None:
    """What a worker does."""
    while (job := jobs.claim("default")) is not None:
        tasks.run(job)


def told(batch: ImportBatch) -> tuple[str, int, int, int, int]:
    batch.refresh_from_db()
    return batch.state, batch.read, batch.imported, batch.duplicates, batch.rejected


def test_a_pause_stops_before_the_next_chunk_and_resume_goes_on_behind_it(project: Project) -> None:
    batch, actor = begun(project), access.operator(project)

    import_jobs.run(
        job=claimed(), extend=lambda: _once(lambda: import_jobs.pause(actor=actor, batch_id=batch.pk))
    )
    assert told(batch) == ("paused", 2, 2, 0, 0)

    import_jobs.resume(actor=actor, batch_id=batch.pk)
    work()
    assert told(batch) == ("done", 6, 4, 1, 1)
    assert [error["line"] for error in batch.errors] == [3]


def _once(ask: Any) -> None:
    """Ask; a second time there is nothing to ask."""
    with suppress(CannotChange):
        ask()


def test_a_cancelled_import_keeps_what_was_written_and_forgets_the_file(
    project: Project, folder: Path
) -> None:
    batch, actor = begun(project), access.operator(project)

    import_jobs.run(
        job=claimed(), extend=lambda: _once(lambda: import_jobs.cancel(actor=actor, batch_id=batch.pk))
    )

    assert told(batch) == ("cancelled", 2, 2, 0, 0)
    assert Solution.objects.count() == 2
    assert not list(folder.glob("*.upload"))
    with pytest.raises(CannotChange):
        import_jobs.resume(actor=actor, batch_id=batch.pk)


def test_a_pause_that_is_taken_back_before_the_worker_looks_changes_nothing(project: Project) -> None:
    batch, actor = begun(project), access.operator(project)

    def pause_and_resume() -> None:
        import_jobs.pause(actor=actor, batch_id=batch.pk)
        import_jobs.resume(actor=actor, batch_id=batch.pk)

    import_jobs.run(job=claimed(), extend=lambda: _once(pause_and_resume))
    work()

    assert told(batch) == ("done", 6, 4, 1, 1)


def test_an_import_that_waits_is_paused_at_once(project: Project) -> None:
    batch, actor = begun(project), access.operator(project)

    import_jobs.pause(actor=actor, batch_id=batch.pk)
    work()

    assert told(batch) == ("paused", 0, 0, 0, 0)
    assert not Job.objects.exists()


def test_two_workers_on_one_import_write_each_row_once(project: Project) -> None:
    """A worker whose lease ran out is slow, not dead: it finds that the other has gone on, and writes nothing."""
    batch = begun(project)
    slow = claimed()
    others: list[int] = []

    def meanwhile() -> None:
        if not others:
            others.append(1)
            import_jobs.run(job=slow, extend=lambda: None)

    with pytest.raises(Overtaken):
        import_jobs.run(job=slow, extend=meanwhile)

    assert told(batch) == ("done", 6, 4, 1, 1)
    assert Solution.objects.count() == 4


def test_an_import_that_broke_off_is_tried_again_from_where_it_was(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = begun(project)
    write, calls = imports.import_chunks.write, []

    def fail_at_the_second(*args: Any, **named: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            raise RuntimeError("the disk is full")
        return write(*args, **named)

    monkeypatch.setattr(imports.import_chunks, "write", fail_at_the_second)
    tasks.run(claimed())
    assert told(batch) == ("failed", 2, 2, 0, 0)

    Job.objects.update(due_at="2020-01-01T00:00Z")
    work()
    assert told(batch) == ("done", 6, 4, 1, 1)


def test_a_row_that_somebody_else_writes_meanwhile_is_a_duplicate(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known is asked before it is written: what comes between makes the chunk fail once, not the import."""
    known, calls = imports.import_chunks._known, []

    def too_early(*args: Any) -> Any:
        calls.append(args)
        return {} if len(calls) == 2 else known(*args)

    imports.run(actor=access.operator(project), source=Source(jsonl(native(0)), "a", "native"))
    calls.append(())
    monkeypatch.setattr(imports.import_chunks, "_known", too_early)
    report = imports.run(
        actor=access.operator(project), source=Source(jsonl(native(0), native(1)), "b", "native")
    )

    assert (report.imported, report.duplicates, len(calls)) == (1, 1, 3)


def test_a_file_that_is_gone_ends_the_import_as_broken_off(project: Project, folder: Path) -> None:
    batch = begun(project)
    for path in folder.glob("*.upload"):
        path.unlink()

    work()

    assert told(batch)[0] == "failed"
    assert not Job.objects.exists()


def test_an_import_of_another_project_is_not_there(project: Project) -> None:
    batch, other = begun(project), access.operator(make.project())

    for step in (import_jobs.pause, import_jobs.resume, import_jobs.cancel):
        with pytest.raises(NoSuchImport):
            step(actor=other, batch_id=batch.pk)


def test_an_upload_is_imported_once_and_can_no_longer_be_taken_away(
    project: Project, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        batch = begun(project)
    assert batch.upload is not None

    with pytest.raises(uploads.NoSuchUpload):
        uploads.forget(actor=access.operator(project), key=batch.upload)
    with pytest.raises(uploads.NoSuchUpload):
        import_jobs.start(actor=access.operator(project), key=batch.upload, choices=Choices())


def test_a_second_click_at_the_same_moment_starts_no_second_import(project: Project) -> None:
    """Both have found the upload before either has taken it."""
    batch = begun(project)
    assert batch.upload is not None
    with pytest.raises(NoSuchUpload):
        import_jobs.start(actor=access.operator(project), key=batch.upload, choices=Choices())
    assert ImportBatch.objects.count() == 1


def test_a_paused_imports_file_outlasts_the_sweep(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    batch, actor = begun(project), access.operator(project)
    import_jobs.pause(actor=actor, batch_id=batch.pk)
    monkeypatch.setattr(uploads, "FORGOTTEN_AFTER", -60.0)

    uploads.keep(actor=actor, blocks=[b"{}"], filename="b.jsonl")
    import_jobs.resume(actor=actor, batch_id=batch.pk)
    work()

    assert told(batch)[0] == "done"


def broken_off(project: Project, data: bytes) -> int:
    """An import by the shell that was interrupted after its first chunk."""

    def interrupt(_: Report) -> None:
        raise KeyboardInterrupt

    source = Source(io.BytesIO(data), "a.jsonl", "native", size=len(data))
    with pytest.raises(KeyboardInterrupt):
        imports.run(actor=access.operator(project), source=source, progress=interrupt)
    return ImportBatch.objects.latest("pk").pk


def test_the_shell_goes_on_with_a_file_where_it_was_broken_off(project: Project) -> None:
    data = jsonl(*ROWS).getvalue()
    batch_id = broken_off(project, data)

    report = imports.resume(
        actor=access.operator(project),
        batch_id=batch_id,
        source=Source(io.BytesIO(data), "a.jsonl", size=len(data)),
    )

    assert (report.state, report.read, report.imported, report.rejected) == ("done", 6, 4, 1)
    names = (
        AuditEvent.objects.filter(subject=f"import {batch_id}").order_by("pk").values_list("name", flat=True)
    )
    assert list(names) == ["import:started", "import:failed", "import:resumed", "import:done"]


@pytest.mark.parametrize("wrong", ["another file", "no such import", "it is over"])
def test_the_shell_says_why_it_cannot_go_on(project: Project, wrong: str) -> None:
    data = jsonl(*ROWS).getvalue()
    batch_id = broken_off(project, data)
    if wrong == "another file":
        data += b"{}\n"
    elif wrong == "no such import":
        batch_id += 1
    else:
        ImportBatch.objects.filter(pk=batch_id).update(state="done")

    with pytest.raises(CannotGoOn):
        imports.resume(
            actor=access.operator(project),
            batch_id=batch_id,
            source=Source(io.BytesIO(data), "a.jsonl", size=len(data)),
        )
