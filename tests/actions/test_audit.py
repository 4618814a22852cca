"""What a manager or the operator does leaves a named event, written in the same transaction."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.db import DatabaseError

from annotator.actions import imports, projects, scoring
from annotator.actions.access import operator
from annotator.models import AuditEvent, Project
from tests import factories as make

pytestmark = pytest.mark.django_db
LINE = b'{"problem": {"text": "1 + 1"}, "steps": [{"text": "It is 2."}]}\n'


@pytest.fixture
def project() -> Project:
    return make.project()


def events(project: Project | None) -> list[tuple[str, Any]]:
    """Those written after the project was made."""
    rows = AuditEvent.objects.filter(project=project).exclude(name="project:created").order_by("pk")
    return list(rows.values_list("name", "data"))


def bring_in(project: Project) -> None:
    source = imports.Source(io.BytesIO(LINE), "one.jsonl", format="native")
    imports.run(actor=operator(project), source=source)


def test_an_import_is_told_when_it_starts_and_when_it_ends(project: Project) -> None:
    bring_in(project)

    assert events(project) == [
        ("import:started", {"format": "native", "labels_as": "reference"}),
        ("import:done", {"read": 1, "imported": 1}),
    ]


def test_an_import_that_breaks_off_says_so(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise DatabaseError

    monkeypatch.setattr(imports, "_write_chunk", broken)
    with pytest.raises(DatabaseError):
        bring_in(project)

    assert events(project)[-1] == ("import:failed", {"read": 0, "imported": 0})


def test_asking_for_scores_is_told(project: Project) -> None:
    make.solution(project)
    (asked,) = scoring.request(actor=operator(project))

    assert events(project) == [("scoring:requested", {"version": asked.version, "solutions": 1})]


def test_a_new_person_is_told_without_their_name() -> None:
    user = projects.create_user(username="ada.lovelace", password="a long password, of words")
    event = AuditEvent.objects.get(name="user:created")

    assert event.subject == f"user {user.pk}"
    assert "lovelace" not in str(event.data)
