"""An export reads a chunk at a time, so that the first byte doesn't wait for the last solution."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.models import Project
from annotator.queries import exports, leaving
from annotator.queries.exports import Choice, LabelsFrom, Only
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(leaving, "CHUNK", 3)
    return make.project()


@pytest.mark.parametrize("number", [0, 1, 3, 4, 7])
def test_each_solution_comes_once_and_in_order_wherever_the_chunks_end(project: Project, number: int) -> None:
    made = [make.solution(project) for _ in range(number)]
    make.solution(make.project())

    assert [each.pk for each in leaving.in_order(project.pk, Only(), LabelsFrom.CONSENSUS)] == [
        each.pk for each in made
    ]


def test_the_first_rows_cost_no_look_at_the_rest(project: Project) -> None:
    for _ in range(9):
        make.solution(project)

    rows = exports.rows(project_id=project.pk, choice=Choice())
    with CaptureQueriesContext(connection) as seen:
        for _ in range(3):
            next(rows)

    keys, values = _reads(seen)
    assert "LIMIT 3" in keys
    assert values.count(" = ANY(") == 1


def _reads(seen: Any) -> list[str]:
    return [each["sql"] for each in seen if 'FROM "annotator_solution"' in each["sql"]]
