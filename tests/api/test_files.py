"""Whole files by program: import and export."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotator import jobs, tasks
from annotator.models import ImportBatch, Project, Role, Solution
from tests import factories as make
from tests.api.conftest import Scripts, script_in, send

pytestmark = pytest.mark.django_db
IMPORTS = "/api/v1/projects/maths/imports"
EXPORT = "/api/v1/projects/maths/export"


def line(number: int, **fields: Any) -> bytes:
    value = {"problem": {"text": f"What is {number}?"}, "steps": [{"text": "It is."}], **fields}
    return json.dumps(value).encode() + b"\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.STEPMARK_UPLOADS = tmp_path
    return tmp_path


def upload(client: Client, content: bytes, key: str = "", **fields: str) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(IMPORTS, {"file": SimpleUploadedFile("a.jsonl", content), **fields}, headers=headers)


def work() -> None:
    """What a worker does."""
    while (job := jobs.claim("default")) is not None:
        tasks.run(job)


def bring(client: Client, content: bytes, **fields: str) -> Any:
    """Upload, have it imported, ask what came of it."""
    where = upload(client, content, **fields)["Location"]
    work()
    return client.get(where).json()


def test_an_import_is_handed_to_the_workers_and_its_state_told(scripts: Scripts, project: Project) -> None:
    reply = upload(scripts.manager, line(1) + b"{\n" + line(2) + line(1))
    assert (reply.status_code, reply.json()["state"], reply.json()["format"]) == (202, "queued", "native")
    assert not Solution.objects.exists()
    work()
    told = scripts.manager.get(reply["Location"]).json()
    assert (told["state"], told["percent"], told["finished_at"] is not None) == ("done", 100, True)
    assert [told[key] for key in ("read", "imported", "duplicates", "rejected")] == [4, 2, 1, 1]
    assert [(each["line"], each["field"]) for each in told["errors"]] == [(2, "")]
    assert Solution.objects.filter(project=project).count() == 2
    batch = ImportBatch.objects.get(pk=told["batch"])
    assert (batch.filename, batch.member is not None) == ("a.jsonl", True)


def test_the_same_file_again_adds_nothing(scripts: Scripts) -> None:
    assert bring(scripts.manager, line(1))["imported"] == 1
    assert bring(scripts.manager, line(1))["duplicates"] == 1


def test_the_same_key_again_gets_the_same_import(scripts: Scripts, folder: Path) -> None:
    first, second = (upload(scripts.manager, line(1), key="night-1") for _ in range(2))
    assert (second.status_code, second["Location"]) == (202, first["Location"])
    assert ImportBatch.objects.count() == 1
    assert len(list(folder.glob("*.upload"))) == 1
    assert upload(scripts.manager, line(1))["Location"] != first["Location"]


@pytest.mark.parametrize(("content", "fields"), [(line(2), {}), (line(1), {"labels": "gold"})])
def test_a_key_that_came_with_something_else_is_refused(
    scripts: Scripts, content: bytes, fields: dict[str, str]
) -> None:
    upload(scripts.manager, line(1), key="night-1")
    reply = upload(scripts.manager, content, key="night-1", **fields)
    assert (reply.status_code, reply.json()["code"]) == (422, "key_reused")
    assert ImportBatch.objects.count() == 1


def test_a_key_is_each_persons_own(scripts: Scripts, project: Project) -> None:
    other = script_in(project, Role.MANAGER)
    assert (
        upload(scripts.manager, line(1), key="k")["Location"] != upload(other, line(1), key="k")["Location"]
    )


def test_an_import_is_paused_gone_on_with_and_cancelled(
    scripts: Scripts, folder: Path, django_capture_on_commit_callbacks: Any
) -> None:
    states = []
    with django_capture_on_commit_callbacks(execute=True):
        where = upload(scripts.manager, line(1))["Location"]
        for step in ("pause", "pause", "resume", "cancel", "resume"):
            reply = send(scripts.manager, "POST", f"{where}/{step}")
            states.append(reply.json().get("state", reply.json().get("code")))
    assert states == ["paused", "wrong_state", "queued", "cancelled", "wrong_state"]
    work()
    assert not Solution.objects.exists()
    assert list(folder.iterdir()) == []


def test_rejected_rows_are_taken_back_by_program(scripts: Scripts) -> None:
    told = bring(scripts.manager, line(1) + line(2, steps=[]))
    taken = scripts.manager.get(f"{IMPORTS}/{told['batch']}/rejected")
    (row,) = [json.loads(each) for each in b"".join(taken.streaming_content).splitlines()]
    assert row["_rejected"]["field"] == "steps"


def test_a_file_larger_than_memory_allows_comes_from_disk(scripts: Scripts, project: Project) -> None:
    rows = b"".join(line(number, meta={"pad": "x" * 20_000}) for number in range(150))
    assert len(rows) > 2_621_440  # above this Django writes an upload to disk
    assert bring(scripts.manager, rows)["imported"] == 150


def test_a_file_of_no_known_format_changes_nothing(scripts: Scripts, folder: Path) -> None:
    reply = upload(scripts.manager, b'{"a": 1}\n')
    assert (reply.status_code, reply.json()["code"]) == (422, "format")
    assert not ImportBatch.objects.exists()
    assert list(folder.iterdir()) == []


def test_a_file_over_the_cap_is_refused_and_not_kept(scripts: Scripts, folder: Path, settings: Any) -> None:
    settings.STEPMARK_UPLOAD_BYTES = 10
    reply = upload(scripts.manager, line(1))
    assert (reply.status_code, reply.json()["code"]) == (413, "too_large")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("wrong", [{"format": "word"}, {"labels": "mine"}, {"segment": "by hand"}])
def test_a_choice_that_is_not_offered_is_named(scripts: Scripts, wrong: dict[str, str]) -> None:
    reply = upload(scripts.manager, line(1), **wrong)
    assert (reply.status_code, set(reply.json()["errors"])) == (400, set(wrong))


def test_an_export_streams_the_labels(scripts: Scripts, project: Project) -> None:
    bring(scripts.manager, line(1, labels=[1]))
    reply = scripts.manager.get(f"{EXPORT}?format=native&labels=reference")
    assert (reply.status_code, reply["Content-Type"]) == (200, "application/jsonl")
    rows = [json.loads(row) for row in b"".join(reply.streaming_content).splitlines()]
    assert [row["labels"] for row in rows] == [[1]]


def test_an_export_that_needs_a_policy_says_so_before_the_first_byte(
    scripts: Scripts, project: Project
) -> None:
    bring(scripts.manager, line(1, labels=[0]))
    Solution.objects.get().problem.__class__.objects.update(split="train")
    refused = scripts.manager.get(f"{EXPORT}?format=trl&labels=reference")
    assert (refused.status_code, refused.json()["code"]) == (422, "format")
    assert scripts.manager.get(f"{EXPORT}?format=trl&labels=reference&neutral=correct").status_code == 200


def test_gold_stays_out_of_an_export_unless_asked_for(scripts: Scripts, project: Project) -> None:
    make.gold(project)
    count = {
        query: len(b"".join(scripts.manager.get(EXPORT + query).streaming_content).splitlines())
        for query in ("", "?include_gold=true")
    }
    assert count == {"": 0, "?include_gold=true": 1}


def test_an_unknown_choice_of_an_export_is_a_400(scripts: Scripts) -> None:
    assert send(scripts.manager, "GET", f"{EXPORT}?format=word").status_code == 400
    assert send(scripts.manager, "GET", f"{EXPORT}?shape=round").status_code == 400


def test_a_worker_makes_an_export_that_is_asked_for(scripts: Scripts, project: Project, folder: Path) -> None:
    bring(scripts.manager, line(1, labels=[1]))
    asked = send(scripts.manager, "POST", f"{EXPORT}s", {"format": "native", "labels": "reference"})
    assert (asked.status_code, asked.json()["state"], asked.json()["file"]) == (202, "running", None)
    work()

    told = scripts.manager.get(asked["Location"]).json()
    assert (told["state"], told["written"]) == ("done", 1)
    content = b"".join(scripts.manager.get(told["file"]).streaming_content)
    assert hashlib.sha256(content).hexdigest() == told["sha256"]
    streamed = scripts.manager.get(f"{EXPORT}?format=native&labels=reference")
    assert content == b"".join(streamed.streaming_content)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"min_agreement": 2}, 400),
        ({"sources": "rumour"}, 400),
        ({"split_by_problem": "80/30"}, 400),
        ({"part": "train"}, 400),
        ({"people": "nobody-9"}, 422),
        ({"values": "soft", "format": "trl"}, 422),
    ],
)
def test_a_choice_of_an_export_that_can_not_be_is_told(
    scripts: Scripts, method: str, wrong: dict[str, Any], code: int
) -> None:
    if method == "GET":
        reply = scripts.manager.get(EXPORT, wrong)
    else:
        reply = send(scripts.manager, "POST", f"{EXPORT}s", wrong)
    assert (reply.status_code, reply["Content-Type"]) == (code, "application/problem+json")


def test_a_table_is_streamed_as_csv(scripts: Scripts) -> None:
    reply = scripts.manager.get(f"{EXPORT}?format=csv")
    assert reply["Content-Type"] == "text/csv; charset=utf-8"
    assert b"".join(reply.streaming_content).startswith(b"solution,problem,")
