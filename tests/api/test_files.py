"""Whole files by program: import and export."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotator.models import ImportBatch, Project, Solution
from tests import factories as make
from tests.api.conftest import Scripts, send

pytestmark = pytest.mark.django_db
IMPORTS = "/api/v1/projects/maths/imports"
EXPORT = "/api/v1/projects/maths/export"


def line(number: int, **fields: Any) -> bytes:
    value = {"problem": {"text": f"What is {number}?"}, "steps": [{"text": "It is."}], **fields}
    return json.dumps(value).encode() + b"\n"


def upload(client: Client, content: bytes, **fields: str) -> Any:
    return client.post(IMPORTS, {"file": SimpleUploadedFile("a.jsonl", content), **fields})


def test_an_import_reports_what_became_of_each_row(scripts: Scripts, project: Project) -> None:
    reply = upload(scripts.manager, line(1) + b"{\n" + line(2) + line(1))
    report = reply.json()
    assert reply.status_code == 200
    assert {key: report[key] for key in ("read", "imported", "duplicates", "rejected", "format")} == {
        "read": 4,
        "imported": 2,
        "duplicates": 1,
        "rejected": 1,
        "format": "native",
    }
    assert [(each["line"], each["field"]) for each in report["errors"]] == [(2, "")]
    assert Solution.objects.filter(project=project).count() == 2
    batch = ImportBatch.objects.get(pk=report["batch"])
    assert (batch.filename, batch.member is not None) == ("a.jsonl", True)


def test_the_same_file_again_adds_nothing(scripts: Scripts) -> None:
    assert upload(scripts.manager, line(1)).json()["imported"] == 1
    assert upload(scripts.manager, line(1)).json()["duplicates"] == 1


def test_a_file_larger_than_memory_allows_comes_from_disk(scripts: Scripts, project: Project) -> None:
    rows = b"".join(line(number, meta={"pad": "x" * 20_000}) for number in range(150))
    assert len(rows) > 2_621_440  # above this Django writes an upload to disk
    assert upload(scripts.manager, rows).json()["imported"] == 150


def test_a_file_of_no_known_format_changes_nothing(scripts: Scripts) -> None:
    reply = upload(scripts.manager, b'{"a": 1}\n')
    assert (reply.status_code, reply.json()["code"]) == (422, "format")
    assert not ImportBatch.objects.exists()


@pytest.mark.parametrize("wrong", [{"format": "word"}, {"labels": "mine"}, {"segment": "by hand"}])
def test_a_choice_that_is_not_offered_is_named(scripts: Scripts, wrong: dict[str, str]) -> None:
    reply = upload(scripts.manager, line(1), **wrong)
    assert (reply.status_code, set(reply.json()["errors"])) == (400, set(wrong))


def test_an_export_streams_the_labels(scripts: Scripts, project: Project) -> None:
    upload(scripts.manager, line(1, labels=[1]))
    reply = scripts.manager.get(f"{EXPORT}?format=native&labels=reference")
    assert (reply.status_code, reply["Content-Type"]) == (200, "application/jsonl")
    rows = [json.loads(row) for row in b"".join(reply.streaming_content).splitlines()]
    assert [row["labels"] for row in rows] == [[1]]


def test_an_export_that_needs_a_policy_says_so_before_the_first_byte(
    scripts: Scripts, project: Project
) -> None:
    upload(scripts.manager, line(1, labels=[0]))
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
