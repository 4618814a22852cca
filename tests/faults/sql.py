"""Plain SQL past every action, for the tests of what the database itself refuses."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction

from annotator.models import Membership, Project, Scorer, ScorerVersion, Solution
from tests import factories as make


@contextmanager
def refused(rule: str) -> Iterator[None]:
    """The database refuses what is inside, and names this rule."""
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        yield


def run(sql: str, *values: Any) -> int:
    """Execute one statement; returns how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.rowcount


def insert(table: str, values: dict[str, Any], /, **changes: Any) -> None:
    """Insert a row; columns that are not named take their model's default."""
    row = _defaults(table) | values | changes
    columns, marks = ", ".join(f'"{name}"' for name in row), ", ".join(["%s"] * len(row))
    run(f"INSERT INTO annotator_{table} ({columns}) VALUES ({marks})", *row.values())


def _defaults(table: str) -> dict[str, Any]:
    fields = apps.get_model("annotator", table)._meta.concrete_fields
    return {
        field.column: field.get_db_prep_save(field.get_default(), connection)
        for field in fields
        if not field.generated
        and (field.has_default() or (field.blank and field.empty_strings_allowed and not field.null))
    }


@dataclass(frozen=True)
class World:
    """A project with one person, one solution of three steps and one scorer version."""

    project: Project
    member: Membership
    solution: Solution
    version: ScorerVersion

    def annotation(self, **changes: Any) -> dict[str, Any]:
        row = {
            "solution_id": self.solution.pk,
            "member_id": self.member.pk,
            "n_steps": 3,
            "version": 1,
            "current": True,
            "labels": [1, 1, 1],
            "finish_reason": "solution",
            "details": "{}",
            "counted": True,
            "uncounted_reason": "",
            "source": "human",
        }
        return row | changes

    def per_step(self, table: str) -> dict[str, Any]:
        """A valid row of a table whose arrays have one entry a step."""
        common = {"solution_id": self.solution.pk, "n_steps": 3}
        rest: dict[str, dict[str, Any]] = {
            "annotation": self.annotation(),
            "referencelabels": {"labels": [1, -1, None]},
            "consensus": {
                "labels": [1, -1, None],
                "method": "plurality",
                "state": "agreed",
                "n_annotations": 1,
            },
            "adjudication": {"labels": [1, -1, None], "member_id": self.member.pk, "reason": ""},
            "gold": {"accept": [6, 1, 0], "project_id": self.project.pk, "source": "import"},
            "score": {
                "values": [0.5, 0.5, None],
                "spread": [0.0, 0.1, None],
                "version_id": self.version.pk,
                "priority": 0.1,
                "tiebreak": 0.1,
                "predicted_stop": -1,
            },
        }
        return common | rest[table]

    def assignment(self, **changes: Any) -> dict[str, Any]:
        row = {
            "id": uuid.uuid4(),
            "project_id": self.project.pk,
            "solution_id": self.solution.pk,
            "member_id": self.member.pk,
            "round": 1,
            "purpose": "work",
            "state": "live",
            "slot": 0,
            "lease_expires_at": "2030-01-01",
            "draft": "{}",
            "draft_version": 0,
            "selection": "{}",
            "skip_reason": "",
        }
        return row | changes

    def someone_else(self) -> int:
        return make.member(self.project).pk


def new_world() -> World:
    project = make.project()
    version = ScorerVersion.objects.create(
        scorer=Scorer.objects.get(project=project), version="v1", measures="correctness", threshold=0.5
    )
    return World(project, make.member(project), make.solution(project), version)
