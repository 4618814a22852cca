"""The description: what it says, and that the API keeps to it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client, override_settings
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from annotator.actions import pictures, queueing, tokens
from annotator.actions.tokens import Scope
from annotator.models import ExportRun, Project, Role
from tests import factories as make
from tests.core.test_pictures import drawn

pytestmark = pytest.mark.django_db
OPERATIONS = [
    "next_assignment",
    "save_draft",
    "submit",
    "skip",
    "annotations",
    "quality",
    "import_solutions",
    "import_state",
    "pause_import",
    "resume_import",
    "cancel_import",
    "rejected_rows",
    "keep_picture",
    "picture",
    "export_labels",
    "ask_for_export",
    "export_state",
    "export_file",
]


def described() -> Any:
    return json.loads(Client().get("/api/schema/").content)


def test_it_is_openapi_3_1_with_an_operation_for_every_verb() -> None:
    schema = described()
    assert schema["openapi"].startswith("3.1")
    operations = {each["operationId"] for path in schema["paths"].values() for each in path.values()}
    assert operations == set(OPERATIONS)


def test_it_has_examples_and_both_ways_to_sign_in() -> None:
    schema = described()
    submit = schema["paths"]["/api/v1/assignments/{assignment_id}/submit"]["post"]
    assert submit["requestBody"]["content"]["application/json"]["examples"]
    assert set(schema["components"]["securitySchemes"]) == {"token", "cookieAuth"}


def test_the_page_loads_scripts_and_sheets_of_this_server_alone() -> None:
    reply = Client().get("/api/docs/")
    page, policy = reply.content.decode(), reply["Content-Security-Policy"]
    assert reply.status_code == 200
    assert "swagger-ui-bundle" in page
    assert "<style" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "script-src 'self';" in policy + ";"
    script = Client().get("/api/docs/?script=")
    assert script["Content-Type"].startswith("application/javascript")


@pytest.fixture
def _one_connection() -> Iterator[None]:
    """Requests past Django's test client would close the connection that holds the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


#: Who gets in is test_access's; and a schema can't say all that a 4xx may be for, such as labels that are incomplete.
NOT_ASKED = [ignored_auth, positive_data_acceptance]
#: Of each operation in each mode.
CASES = int(os.environ.get("STEPMARK_API_CASES", "12"))
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]


@pytest.mark.usefixtures("_one_connection")
@pytest.mark.parametrize("mode", MODES, ids=["as described", "against it"])
@pytest.mark.parametrize("operation_id", OPERATIONS)
@override_settings(STEPMARK_API_RATE="100000/min", STEPMARK_API_FILE_RATE="100000/min")
def test_whatever_is_asked_the_reply_is_one_of_those_described(
    project: Project, operation_id: str, mode: GenerationMode
) -> None:
    manager = make.member(project, Role.MANAGER)
    for _ in range(3):
        make.work(project)
    secret = tokens.make(user_id=manager.user_id, name="fuzz", scopes=list(Scope)).secret
    mine = str(queueing.next_assignment(actor=make.as_actor(manager)).pk)
    schema = schemathesis.openapi.from_wsgi("/api/schema/", get_wsgi_application())
    operation = schema.find_operation_by_id(operation_id)
    run = ExportRun.objects.create(project=project, format="native", state="done")
    known = {
        "slug": project.slug,
        "assignment_id": mine,
        "batch_id": make.batch(project).pk,
        "run_id": run.pk,
        "sha256": pictures.keep(actor=make.as_actor(manager), data=drawn()).sha256,
    }

    @settings(max_examples=CASES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        if mode is GenerationMode.POSITIVE:  # else every reply would be that there is no such project
            case.path_parameters = {name: known[name] for name in case.path_parameters}
        headers = {"Authorization": f"Bearer {secret}"}
        case.call_and_validate(headers=headers, excluded_checks=NOT_ASKED)

    ask()
