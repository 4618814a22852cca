"""Who gets in: owner, member, stranger, nobody, on every address; tokens, scopes and sessions."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client, override_settings
from django.utils import timezone

from annotator.actions import tokens
from annotator.actions.tokens import CannotMakeToken, Scope
from annotator.models import ApiToken, AuditEvent, Project
from tests import factories as make
from tests.api.conftest import Scripts, script, script_in, send

pytestmark = pytest.mark.django_db
P = "/api/v1/projects/maths"

#: Address, method, and what manager and annotator get for a request with an empty body.
OF_A_PROJECT = [
    ("POST", f"{P}/assignments/next", 204, 204),
    ("GET", f"{P}/annotations", 200, 200),
    ("GET", f"{P}/quality", 200, 403),
    ("GET", f"{P}/export", 200, 403),
    ("POST", f"{P}/exports", 202, 403),
    ("GET", f"{P}/exports/1", 404, 403),
    ("GET", f"{P}/exports/1/file", 404, 403),
    ("POST", f"{P}/imports", 400, 403),
    ("GET", f"{P}/imports/1", 404, 403),
    ("POST", f"{P}/imports/1/pause", 404, 403),
    ("POST", f"{P}/imports/1/resume", 404, 403),
    ("POST", f"{P}/imports/1/cancel", 404, 403),
    ("GET", f"{P}/imports/1/rejected", 404, 403),
]


@pytest.mark.parametrize(("method", "path", "manager", "annotator"), OF_A_PROJECT)
def test_each_address_of_a_project_lets_in_whom_it_is_for(
    scripts: Scripts, method: str, path: str, manager: int, annotator: int
) -> None:
    asked = [scripts.manager, scripts.annotator, scripts.stranger, scripts.nobody]
    assert [send(each, method, path).status_code for each in asked] == [manager, annotator, 404, 401]


@pytest.mark.parametrize(("method", "name"), [("PUT", "draft"), ("POST", "submit"), ("POST", "skip")])
def test_an_assignment_is_there_for_its_own_person_alone(
    scripts: Scripts, project: Project, method: str, name: str
) -> None:
    make.work(project)
    claimed = send(scripts.annotator, "POST", f"{P}/assignments/next").json()["assignment"]
    path = f"/api/v1/assignments/{claimed}/{name}"
    asked = [scripts.annotator, scripts.manager, scripts.stranger, scripts.nobody]
    assert [send(each, method, path, {}).status_code for each in asked] == [400, 404, 404, 401]


def test_an_assignment_that_never_was_looks_like_somebody_elses(scripts: Scripts) -> None:
    reply = send(scripts.annotator, "POST", f"/api/v1/assignments/{uuid.uuid4()}/skip", {"reason": "x"})
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")


def test_a_token_without_the_scope_is_told_which_one_it_lacks(project: Project) -> None:
    user = make.member(project).user
    reply = send(script(user, Scope.READ), "POST", f"{P}/assignments/next")
    assert reply.status_code == 403
    assert "'label'" in reply.json()["detail"]


@pytest.mark.parametrize(
    "change", [{"expires_at": timezone.now() - timedelta(1)}, {"revoked_at": timezone.now()}]
)
def test_a_token_that_is_over_is_worth_as_much_as_none(project: Project, change: dict[str, Any]) -> None:
    client = script_in(project)
    assert send(client, "GET", f"{P}/annotations").status_code == 200
    ApiToken.objects.update(**change)
    reply = send(client, "GET", f"{P}/annotations")
    assert (reply.status_code, reply["WWW-Authenticate"]) == (401, "Bearer")


def test_who_may_no_longer_sign_in_has_no_good_token(project: Project) -> None:
    member = make.member(project)
    client = script(member.user)
    member.user.is_active = False
    member.user.save()
    assert send(client, "GET", f"{P}/annotations").status_code == 401


def test_only_a_hash_of_a_token_is_kept_and_its_use_is_noted(project: Project) -> None:
    made = tokens.make(user_id=make.member(project).user_id, name="nightly", scopes=["read"])
    assert made.secret.encode() not in bytes(made.token.token_hash)
    send(Client(headers={"Authorization": f"Bearer {made.secret}"}), "GET", f"{P}/annotations")
    made.token.refresh_from_db()
    assert made.token.last_used_at is not None


def test_making_and_revoking_tokens_is_in_the_log_without_who_or_what_for(project: Project) -> None:
    user_id = make.member(project).user_id
    assert user_id is not None
    made = tokens.make(user_id=user_id, name="for Ada", scopes=["read"])
    tokens.revoke(user_id=user_id, token_id=made.token.pk)
    tokens.revoke(user_id=user_id, token_id=made.token.pk)
    events = AuditEvent.objects.filter(name__startswith="token:").order_by("pk")
    assert [event.name for event in events] == ["token:made", "token:revoked"]
    assert "Ada" not in str([event.data for event in events])


@pytest.mark.parametrize(
    "wrong", [{"name": " "}, {"scopes": []}, {"scopes": ["root"]}, {"days": 0}, {"days": 9999}]
)
def test_a_token_needs_a_name_known_scopes_and_an_end(wrong: dict[str, Any]) -> None:
    asked = {"name": "nightly", "scopes": ["read"], "days": 30, **wrong}
    with pytest.raises(CannotMakeToken):
        tokens.make(user_id=make.user().pk, **asked)


def test_somebody_elses_token_cannot_be_revoked() -> None:
    made = tokens.make(user_id=make.user().pk, name="nightly", scopes=["read"])
    tokens.revoke(user_id=make.user().pk, token_id=made.token.pk)
    assert tokens.authenticate(made.secret) == made.token


def test_a_session_needs_the_csrf_token_to_write(project: Project) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(make.member(project).user, backend="django.contrib.auth.backends.ModelBackend")
    assert send(browser, "GET", f"{P}/annotations").status_code == 200
    refused = send(browser, "POST", f"{P}/assignments/next")
    assert (refused.status_code, refused["Content-Type"]) == (403, "application/problem+json")
    page = browser.get("/p/maths/label/")
    allowed = browser.post(
        f"{P}/assignments/next",
        content_type="application/json",
        headers={"X-CSRFToken": page.cookies["csrftoken"].value},
    )
    assert allowed.status_code == 204


@override_settings(STEPMARK_API_RATE="2/min")
def test_whoever_asks_too_often_is_told_when_to_come_back(scripts: Scripts) -> None:
    replies = [send(scripts.annotator, "GET", f"{P}/annotations") for _ in range(3)]
    assert [reply.status_code for reply in replies] == [200, 200, 429]
    assert int(replies[-1]["Retry-After"]) > 0
    assert send(scripts.manager, "GET", f"{P}/annotations").status_code == 200


def test_errors_are_problem_json_with_a_code_and_a_sentence(scripts: Scripts) -> None:
    for reply, status in (
        (send(scripts.nobody, "GET", f"{P}/annotations"), 401),
        (send(scripts.annotator, "DELETE", f"{P}/annotations"), 405),
        (send(scripts.annotator, "GET", "/api/v1/nothing"), 404),
        (send(scripts.annotator, "GET", f"{P}/annotations?color=red"), 400),
    ):
        assert (reply.status_code, reply["Content-Type"]) == (status, "application/problem+json")
        assert {"type", "title", "status", "code", "detail"} <= set(reply.json())


def test_a_stranger_cannot_import_into_a_project(scripts: Scripts) -> None:
    file = SimpleUploadedFile("a.jsonl", b"{}")
    assert scripts.stranger.post(f"{P}/imports", {"file": file}).status_code == 404


def test_create_user_prints_a_token_once_that_works(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("create_user", "robot", "--project", "maths", "--token", "--json")
    secret = json.loads(capsys.readouterr().out)["token"]
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    assert send(client, "GET", f"{P}/annotations").status_code == 200
