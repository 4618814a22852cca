"""What peers' users complain of when data come in."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.actions import access, exports, imports
from annotator.actions.exports import Recipe
from annotator.actions.imports import Source
from annotator.core.codecs import CODECS
from annotator.models import ImportBatch, Problem, Project
from annotator.queries.export_filters import LabelsFrom
from tests import factories as make
from tests.files import bring, jsonl, native

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.mark.parametrize("format_name", CODECS)
def test_label_studio_731_an_own_export_is_recognised_and_imported_again(
    project: Project, format_name: str
) -> None:
    bring(project, *[native(number, 1, -1, None) for number in range(3)])
    recipe = Recipe(format=format_name, labels=LabelsFrom.REFERENCE, holdout=True)
    lines = list(exports.start(actor=access.operator(project), recipe=recipe, keep=False))

    report = bring(make.project(), *lines)

    assert (report.read, report.imported, report.rejected) == (3, 3, 0)


def test_label_studio_4549_an_import_into_a_large_project_asks_no_more_of_the_database(
    project: Project,
) -> None:
    asked = []
    for first in (0, 60):
        with CaptureQueriesContext(connection) as seen:
            bring(project, *[native(first + number) for number in range(10)])
        asked.append(len(seen))
        bring(project, *[native(number) for number in range(10, 60)])

    assert asked[0] == asked[1]


def test_potato_112_no_script_and_no_name_of_a_file_is_too_foreign(project: Project) -> None:
    text = "कितने सेब हैं? 几个苹果？ ￼ 𝔸 ﷽"
    row = native(0, problem={"text": text}, steps=["٣ + ٤ = ٧", "答えは7。"])
    source = Source(jsonl(row), "данные-数据.jsonl", "native")

    report = imports.run(actor=access.operator(project), source=source)

    assert (report.imported, Problem.objects.get().text) == (1, text)
    assert ImportBatch.objects.get().filename == "данные-数据.jsonl"
