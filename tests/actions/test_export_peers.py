"""What peers' users complain of when labels leave."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.actions import exports
from annotator.actions.access import operator
from annotator.actions.export_choices import Recipe
from annotator.core.codecs import CODECS
from annotator.core.codecs.policies import NeutralPolicy
from annotator.models import Membership, Project
from annotator.queries.export_filters import LabelsFrom
from tests import factories as make
from tests.actions.leaving import brought, rows, said
from tests.files import bring

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def test_doccano_1476_an_own_export_comes_back_with_its_labels(project: Project) -> None:
    said(make.solution(project), 1, -1, None), said(make.solution(project), 1, 0, 1)
    exported, there = rows(project), make.project()
    report = bring(there, *exported)
    assert (report.imported, report.rejected) == (2, 0)
    again = rows(there, labels=LabelsFrom.REFERENCE)
    assert (
        [row["labels"] for row in again] == [row["labels"] for row in exported] == [[1, -1, None], [1, 0, 1]]
    )


@pytest.mark.parametrize("name", [name for name in CODECS if name != "agent_messages"])
def test_label_studio_731_an_own_export_of_every_format_is_read_again(project: Project, name: str) -> None:
    solution = make.solution(project, ["Step 1: one", "Step 2: two", "Step 3: three"])
    said(solution, 1, -1, None)
    exported = rows(project, format=name, neutral=NeutralPolicy.CORRECT)
    report = bring(make.project(), *exported, format=name)
    assert (report.imported, report.rejected) == (1, 0)


def test_doccano_1428_comments_leave_with_the_labels(project: Project) -> None:
    details = {"comments": {"1": "The sign is lost."}, "unsure": [0], "error_types": {"1": "calculation"}}
    said(make.solution(project), 1, -1, None, details=details)
    (row,) = rows(project)
    assert row["annotations"][0]["details"] == details


def test_label_studio_5811_the_first_byte_does_not_wait_for_the_last_task(project: Project) -> None:
    """An export can't time out before it begins: what is read first doesn't grow with the project."""

    def reads(number: int) -> int:
        for _ in range(number):
            brought(make.solution(project), 1, 1, 1)
        recipe = Recipe(labels=LabelsFrom.REFERENCE)
        with CaptureQueriesContext(connection) as seen:
            lines: Any = iter(exports.start(actor=operator(project), recipe=recipe))
            next(lines)
        lines.close()
        return len(seen)

    assert reads(2) == reads(30)


@pytest.mark.parametrize("state", [Membership.State.PAUSED, Membership.State.REMOVED])
def test_doccano_2116_labels_leave_whoever_made_them_and_is_still_here(project: Project, state: str) -> None:
    said(make.solution(project), 1, -1, None)
    Membership.objects.filter(project=project).update(state=state, user=None)
    for labels in (LabelsFrom.CONSENSUS, LabelsFrom.ALL):
        assert [row["labels"] for row in rows(project, labels=labels)] == [[1, -1, None]]
