"""The import page: upload, look, have a worker import it, take rejected rows back."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotator import jobs, tasks
from annotator.actions import import_jobs, imports, uploads
from annotator.core.codecs.base import RowError
from annotator.models import ImportBatch, Job, Project, Role, Solution
from tests import factories as make
from tests.files import jsonl, native
from tests.web.conftest import People, signed_in_to

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/imports/"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.STEPMARK_UPLOADS = tmp_path
    return tmp_path


def drop(client: Client, *rows: dict[str, Any] | bytes, name: str = "rows.jsonl") -> Any:
    return client.post(PAGE, {"file": SimpleUploadedFile(name, jsonl(*rows).getvalue())})


def work() -> None:
    """What a worker does."""
    while (job := jobs.claim("default")) is not None:
        tasks.run(job)


def bring(client: Client, *rows: dict[str, Any] | bytes, **choices: str) -> ImportBatch:
    assert client.post(drop(client, *rows)["Location"], choices).status_code == 302
    work()
    return ImportBatch.objects.order_by("-pk")[0]


def test_it_is_for_managers(people: People) -> None:
    asked = [people.manager, people.annotator, people.stranger, people.nobody]
    assert [each.get(PAGE).status_code for each in asked] == [200, 403, 404, 302]
    assert [drop(each, native()).status_code for each in asked] == [302, 403, 404, 302]


def test_an_upload_is_there_for_its_project_alone(people: People, project: Project) -> None:
    path = drop(people.manager, native())["Location"]
    other = signed_in_to(make.project(slug="other"), Role.MANAGER)
    assert people.annotator.get(path).status_code == 403
    assert other.get(path.replace("/maths/", "/other/")).status_code == 404
    assert people.manager.get(f"{PAGE}{uuid.uuid4()}/").status_code == 404


@pytest.mark.parametrize("name", ["..\\evil.py", "../../../etc/passwd", "a.html", "/etc/passwd\x00.jsonl"])
def test_a_file_is_kept_under_a_name_of_our_own(people: People, folder: Path, name: str) -> None:
    drop(people.manager, native(), name=name)
    kept = sorted(folder.rglob("*"))
    assert sorted(path.suffix for path in kept) == [".json", ".upload"]
    assert all(uuid.UUID(path.stem) for path in kept)


def test_the_first_rows_are_shown_as_they_would_be_imported_and_nothing_is_written(people: People) -> None:
    row = {"problem": {"text": "Is $x^2 = 1$?"}, "solution": "One.\nTwo <b>."}
    path = drop(people.manager, row, b"{", *(native(number) for number in range(30)))["Location"]
    page = people.manager.get(f"{path}?segment=line")
    shown = page.context["preview"]
    assert (shown.format, len(shown.rows)) == ("native", 20)
    assert [step.text for step in shown.rows[0].record.steps] == ["One.", "Two <b>."]
    text = page.content.decode()
    assert "data-prose" in text
    assert "Two &lt;b&gt;." in text
    assert "row 2" in text
    assert not Solution.objects.exists()


def test_a_format_that_is_not_told_can_be_named(people: People) -> None:
    path = drop(people.manager, {"problem": {"text": "?"}, "what": 1})["Location"]
    assert people.manager.get(path).status_code == 422
    named = people.manager.get(f"{path}?format=native")
    assert (named.status_code, named.context["preview"].format) == (200, "native")


def test_a_worker_imports_it_and_the_file_is_gone(people: People, project: Project, folder: Path) -> None:
    batch = bring(people.manager, native(0, 1, 1, 1), native(1, 1, -1, None), labels="gold")
    assert (batch.state, batch.imported, batch.labels_as) == ("done", 2, "gold")
    assert batch.member is not None
    assert Solution.objects.filter(project=project).count() == 2
    assert list(folder.iterdir()) == []
    assert people.manager.get(PAGE).context["history"].waiting == 0


def test_the_page_follows_what_waits_and_no_longer_once_it_is_done(people: People) -> None:
    people.manager.post(drop(people.manager, native())["Location"], {})
    assert "every 3s" in people.manager.get(f"{PAGE}live").content.decode()
    work()
    assert "every 3s" not in people.manager.get(f"{PAGE}live").content.decode()


def test_rejected_rows_are_taken_back_mended_and_imported_again(people: People) -> None:
    whole = b'{"problem": {"text": "Why?"}, "steps": ["So."]'
    batch = bring(people.manager, native(0), {**native(1), "steps": []}, whole)
    assert (batch.imported, batch.rejected) == (1, 2)

    taken = people.manager.get(f"{PAGE}{batch.pk}/rejected")
    rows = [json.loads(line) for line in b"".join(taken.streaming_content).splitlines()]  # type: ignore[attr-defined]
    assert [row["_rejected"]["line"] for row in rows] == [2, 3]
    assert rows[0]["_rejected"]["field"] == "steps"

    rows[0]["steps"] = ["Mended."]
    rows[1]["_line"] += "}"
    again = bring(people.manager, *rows)
    assert (again.imported, again.rejected) == (2, 0)


def test_rejected_rows_are_for_managers_of_the_project(people: People, project: Project) -> None:
    batch = bring(people.manager, native(0), b"{")
    path = f"{PAGE}{batch.pk}/rejected"
    other = signed_in_to(make.project(slug="other"), Role.MANAGER)
    assert people.annotator.get(path).status_code == 403
    assert other.get(path.replace("/maths/", "/other/")).status_code == 404
    assert people.manager.get(f"{PAGE}{batch.pk + 1}/rejected").status_code == 404


class Killed(BaseException):
    """What no handler sees: a kill -9 leaves all as the last transaction did."""


def test_a_run_that_died_goes_on_in_the_same_batch_with_exact_counts(
    people: People, project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK", 2)
    monkeypatch.setattr(imports, "close", lambda report, state: report)  # whoever is killed closes nothing
    rows: list[dict[str, Any] | bytes] = [native(0), b"{", native(1), native(0), b"[]", native(2), native(3)]
    people.manager.post(drop(people.manager, *rows)["Location"], {})
    job = jobs.claim("default")
    assert job is not None
    lives = []

    def die() -> None:
        if len(lives) < 3:
            lives.append(1)
            raise Killed

    for _ in range(3):
        with pytest.raises(Killed):
            import_jobs.run(job=job, extend=die)
    monkeypatch.undo()
    import_jobs.run(job=job, extend=die)
    import_jobs.run(job=job, extend=die)

    batch = ImportBatch.objects.get()
    assert (batch.state, batch.read, batch.imported) == ("done", 7, 4)
    assert (batch.duplicates, batch.rejected) == (1, 2)
    assert [error["line"] for error in batch.errors] == [2, 5]
    assert Solution.objects.filter(project=project).count() == 4
    assert [path.name for path in folder.iterdir()] == [f"batch-{batch.pk}.rejected.jsonl"]
    kept = (folder / f"batch-{batch.pk}.rejected.jsonl").read_text().splitlines()
    assert [json.loads(line)["_rejected"]["line"] for line in kept] == [2, 5]


def test_what_a_killed_run_had_written_of_rejected_rows_is_cut_off(folder: Path) -> None:
    kept = uploads.RejectedRows(7)
    at = kept.add([RowError(1, "a", "wrong")], 0)
    kept.add([RowError(2, "b", "of a chunk that was rolled back")], at)
    end = kept.add([RowError(3, "c", "wrong")], at)
    lines = uploads.rejected_path(7).read_bytes()
    assert len(lines) == end
    assert [json.loads(line)["_rejected"]["line"] for line in lines.splitlines()] == [1, 3]


def test_rejected_rows_go_after_a_week_unless_their_import_still_goes_on(
    people: People, folder: Path, project: Project
) -> None:
    done, paused = (bring(people.manager, native(number), b"{") for number in range(2))
    ImportBatch.objects.filter(pk=paused.pk).update(state="paused", upload=uuid.uuid4())
    for batch in (done, paused):
        long_ago = uploads.rejected_path(batch.pk).stat().st_mtime - uploads.FORGOTTEN_AFTER - 60
        os.utime(uploads.rejected_path(batch.pk), (long_ago, long_ago))
    recent = bring(people.manager, native(2), b"[]")

    left = [batch for batch in (done, paused, recent) if uploads.rejected_path(batch.pk).exists()]
    assert left == [paused, recent]
    page = people.manager.get(PAGE).content.decode()
    assert [f"{PAGE}{batch.pk}/rejected" in page for batch in (done, recent)] == [False, True]


def test_an_upload_over_the_cap_is_refused_and_not_kept(people: People, folder: Path, settings: Any) -> None:
    settings.STEPMARK_UPLOAD_BYTES = 10
    reply = drop(people.manager, native())
    assert (reply.status_code, "at most 10 bytes" in reply.content.decode()) == (422, True)
    assert list(folder.iterdir()) == []


def test_an_empty_form_says_what_is_missing(people: People) -> None:
    assert people.manager.post(PAGE, {}).status_code == 422


def test_a_file_that_is_not_wanted_after_all_is_deleted(people: People, folder: Path) -> None:
    path = drop(people.manager, native())["Location"]
    assert people.manager.post(f"{path}forget").status_code == 302
    assert list(folder.iterdir()) == []
    assert not Job.objects.filter(kind="imports.run").exists()
