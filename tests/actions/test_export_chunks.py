"""An export reads a chunk at a time, so that the first byte doesn't wait for the last solution."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.models import Project, Solution
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


def test_long_solutions_come_in_smaller_chunks_so_that_memory_does_not_grow_with_them(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [make.solution(project) for _ in range(7)]
    monkeypatch.setattr(leaving, "CHUNK_CHARS", 2 * Solution.objects.values_list("n_chars", flat=True)[0])

    chunks = list(leaving._chunks(Solution.objects.filter(project=project)))
    assert [len(chunk.rows) for chunk in chunks] == [2, 2, 2, 1]
    monkeypatch.setattr(leaving, "CHUNK_CHARS", 1)  # each is longer than that
    alone = [[row[0] for row in chunk.rows] for chunk in leaving._chunks(Solution.objects.all())]
    assert alone == [[each.pk] for each in made]


def _reads(seen: Any) -> list[str]:
    return [each["sql"] for each in seen if 'FROM "annotator_solution"' in each["sql"]]
