"""Judging by program: next, draft, submit, skip."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotator.actions import queueing
from annotator.models import Annotation, Assignment, Project
from tests import factories as make
from tests.api.conftest import Scripts, script, script_in, send

pytestmark = pytest.mark.django_db
NEXT = "/api/v1/projects/maths/assignments/next"


def claim(client: Client) -> Any:
    return send(client, "POST", NEXT).json()


def body(*labels: int | None, **fields: Any) -> dict[str, Any]:
    reason = "found_error" if -1 in labels else "solution"
    sent = {"labels": list(labels), "finish_reason": reason, "active_seconds": 4.5, "details": {}}
    return {**sent, "client_id": str(uuid.uuid4()), **fields}


def submit(client: Client, assignment: str, sent: dict[str, Any]) -> Any:
    return send(client, "POST", f"/api/v1/assignments/{assignment}/submit", sent)


def draft(client: Client, assignment: str, sent: dict[str, Any]) -> Any:
    return send(client, "PUT", f"/api/v1/assignments/{assignment}/draft", sent)


def test_the_next_solution_comes_with_its_steps_and_an_empty_draft(
    scripts: Scripts, project: Project
) -> None:
    make.work(project, texts=["look", "one"], kinds=["observation", "reasoning"])
    got = claim(scripts.annotator)
    assert [(step["index"], step["kind"], step["judged"]) for step in got["steps"]] == [
        (0, "observation", False),
        (1, "reasoning", True),
    ]
    assert got["draft"]["labels"] == [None, None]
    assert got["problem"]["text"].startswith("Problem")


def test_asking_again_gives_the_same_and_after_it_the_one_ahead(scripts: Scripts, project: Project) -> None:
    make.work(project), make.work(project), make.work(project)
    first = claim(scripts.annotator)["assignment"]
    assert claim(scripts.annotator)["assignment"] == first
    second = send(scripts.annotator, "POST", f"{NEXT}?after={first}").json()["assignment"]
    assert second != first
    assert send(scripts.annotator, "POST", f"{NEXT}?after={first}").json()["assignment"] == second


def test_where_there_is_nothing_a_header_says_why(scripts: Scripts) -> None:
    reply = send(scripts.annotator, "POST", NEXT)
    assert (reply.status_code, reply["Stepmark-Reason"], reply.content) == (204, "all_done", b"")


def test_gold_looks_like_work_in_every_key(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(gold_rate=1.0)
    make.gold(project)
    gold = claim(script_in(project))
    assert Assignment.objects.get(pk=gold["assignment"]).purpose == Assignment.Purpose.GOLD
    Project.objects.filter(pk=project.pk).update(gold_rate=0.0)
    make.work(project)
    work = claim(script_in(project))
    assert set(gold) == set(work) == {"assignment", "expires_at", "mode", "problem", "steps", "draft"}
    assert (set(gold["problem"]), set(gold["draft"])) == (set(work["problem"]), set(work["draft"]))


def test_no_reply_holds_an_id_of_a_solution_or_problem(scripts: Scripts, project: Project) -> None:
    row = make.work(project)
    said = json.dumps(claim(scripts.annotator))
    assert row.solution.external_id not in said
    assert '"id"' not in said


def test_a_draft_is_kept_and_comes_back(scripts: Scripts, project: Project) -> None:
    make.work(project)
    mine = claim(scripts.annotator)["assignment"]
    sent = {"labels": [1, None, None], "details": {"unsure": [0]}, "active_seconds": 3, "version": 0}
    assert draft(scripts.annotator, mine, sent).json() == {"version": 1}
    kept = claim(scripts.annotator)["draft"]
    assert (kept["labels"], kept["details"], kept["version"]) == ([1, None, None], {"unsure": [0]}, 1)


def test_a_stale_draft_gets_the_current_one(scripts: Scripts, project: Project) -> None:
    make.work(project)
    mine = claim(scripts.annotator)["assignment"]
    draft(scripts.annotator, mine, {"labels": [1, None, None], "version": 0})
    stale = draft(scripts.annotator, mine, {"labels": [0, None, None], "version": 0})
    assert stale.status_code == 409
    assert (stale.json()["current"]["labels"], stale.json()["current"]["version"]) == ([1, None, None], 1)


def test_a_submit_stores_the_labels_and_brings_the_next(scripts: Scripts, project: Project) -> None:
    make.work(project), make.work(project)
    mine = claim(scripts.annotator)["assignment"]
    reply = submit(scripts.annotator, mine, body(1, -1, None)).json()
    stored = Annotation.objects.get(assignment_id=mine)
    assert (stored.labels, stored.stop, stored.active_seconds) == ([1, -1, None], 1, 4.5)
    assert (reply["annotation"], reply["counted"], reply["nothing"]) == (stored.pk, True, None)
    assert reply["next"]["assignment"] != mine


def test_after_the_last_submit_next_is_null_with_the_reason(scripts: Scripts, project: Project) -> None:
    make.work(project)
    reply = submit(scripts.annotator, claim(scripts.annotator)["assignment"], body(1, 1, 1)).json()
    assert (reply["next"], reply["nothing"]) == (None, "all_done")


def test_the_same_client_id_again_gets_the_same_reply_and_stores_once(
    scripts: Scripts, project: Project
) -> None:
    make.work(project)
    mine, sent = claim(scripts.annotator)["assignment"], body(1, 1, 1)
    first, again = (submit(scripts.annotator, mine, sent) for _ in range(2))
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert Annotation.objects.count() == 1


def test_another_submit_after_the_first_is_refused(scripts: Scripts, project: Project) -> None:
    make.work(project)
    mine = claim(scripts.annotator)["assignment"]
    submit(scripts.annotator, mine, body(1, 1, 1))
    late = submit(scripts.annotator, mine, body(1, 1, -1))
    assert (late.status_code, late.json()["code"]) == (409, "already_closed")


def test_a_late_submit_is_kept_but_not_counted_where_the_place_is_taken(
    scripts: Scripts, project: Project
) -> None:
    make.work(project)
    late = claim(scripts.annotator)["assignment"]
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(hours=1))
    queueing.reclaim()
    other = script_in(project)
    submit(other, claim(other)["assignment"], body(1, 1, 1))
    reply = submit(scripts.annotator, late, body(1, 1, 1))
    assert (reply.status_code, reply.json()["counted"]) == (200, False)


def test_a_repeat_is_not_told_apart_from_other_work(project: Project) -> None:
    person = make.member(project)
    row = make.work(project)
    repeat = Assignment.objects.create(
        project=project,
        solution=row.solution,
        member=person,
        purpose=Assignment.Purpose.REPEAT,
        round=2,
        lease_expires_at=timezone.now() + timedelta(hours=1),
    )
    reply = submit(script(person.user), str(repeat.pk), body(1, 1, 1))
    assert reply.json()["counted"] is True
    assert Annotation.objects.get(assignment=repeat).uncounted_reason == "repeat"
    listed = send(script(person.user), "GET", "/api/v1/projects/maths/annotations?counted=true").json()
    assert [each["counted"] for each in listed["results"]] == [True]


def test_incomplete_labels_are_refused_with_the_step(scripts: Scripts, project: Project) -> None:
    make.work(project)
    reply = submit(scripts.annotator, claim(scripts.annotator)["assignment"], body(1, None, 1))
    assert (reply.status_code, reply.json()["code"], reply.json()["step"]) == (422, "invalid_labels", 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": "1"},
        {"labels": [2, 1, 1]},
        {"labels": [True, 1, 1]},
        {"labels": [1.0, 1, 1]},
        {"details": []},
        {"finish_reason": "tired"},
        {"client_id": "mine"},
        {"active_seconds": "long"},
    ],
)
def test_what_is_malformed_is_named_by_its_field(
    scripts: Scripts, project: Project, wrong: dict[str, Any]
) -> None:
    make.work(project)
    reply = submit(scripts.annotator, claim(scripts.annotator)["assignment"], body(1, 1, 1, **wrong))
    assert reply.status_code == 400
    assert set(reply.json()["errors"]) == set(wrong)


@pytest.mark.parametrize("raw", [b"{", b"[" * 5_000, b'{"reason": "\\ud800"}', b'{"reason": NaN}', b'"x"'])
def test_a_body_that_is_no_json_is_a_400(scripts: Scripts, project: Project, raw: bytes) -> None:
    make.work(project)
    path = f"/api/v1/assignments/{claim(scripts.annotator)['assignment']}/skip"
    assert scripts.annotator.generic("POST", path, raw, content_type="application/json").status_code == 400


def test_a_body_over_the_cap_is_a_413(scripts: Scripts, project: Project) -> None:
    make.work(project)
    path = f"/api/v1/assignments/{claim(scripts.annotator)['assignment']}/skip"
    raw = b'"' + b"x" * (4 * 1024 * 1024) + b'"'
    assert scripts.annotator.generic("POST", path, raw, content_type="application/json").status_code == 413


def test_a_skipped_solution_goes_to_somebody_else(scripts: Scripts, project: Project) -> None:
    make.work(project)
    mine = claim(scripts.annotator)["assignment"]
    path = f"/api/v1/assignments/{mine}/skip"
    assert send(scripts.annotator, "POST", path, {"reason": "not my field"}).status_code == 204
    assert send(scripts.annotator, "POST", path, {"reason": "not my field"}).status_code == 204
    assert send(scripts.annotator, "POST", NEXT).status_code == 204
    assert send(script_in(project), "POST", NEXT).status_code == 200


def test_a_removed_member_finds_nothing(project: Project) -> None:
    person = make.member(project)
    client = script(person.user)
    make.work(project)
    mine = claim(client)["assignment"]
    person.state = "removed"
    person.save(update_fields=["state"])
    assert submit(client, mine, body(1, 1, 1)).status_code == 404
