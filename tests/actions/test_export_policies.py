"""Neutral labels in formats without them, and the way of an export into another project."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.actions.import_rows import LabelsAs
from annotator.core.codecs.policies import NeutralPolicy, NeutralPolicyNeeded
from annotator.core.labels import Mode
from annotator.models import Gold, Problem, Project, Solution
from annotator.queries.exports import LabelsFrom
from tests import factories as make
from tests.actions.leaving import brought, decided, export, left_out, rows, said
from tests.files import bring, native

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def neutral_in(project: Project, labels: LabelsFrom) -> None:
    solution = make.solution(project)
    if labels is LabelsFrom.ADJUDICATED:
        decided(solution, 1, 0, 1)
    elif labels is LabelsFrom.REFERENCE:
        brought(solution, 1, 0, 1)
    else:
        said(solution, 1, 0, 1)


#: What a judge and Monte-Carlo agree on says where the first error is, and never that a step adds nothing.
MAY_BE_NEUTRAL = [each for each in LabelsFrom if each is not LabelsFrom.AUTOMATIC]


@pytest.mark.parametrize("labels", MAY_BE_NEUTRAL)
def test_a_neutral_needs_a_policy_before_the_first_byte(project: Project, labels: LabelsFrom) -> None:
    neutral_in(project, labels)

    with pytest.raises(NeutralPolicyNeeded):
        export(project, format="trl", labels=labels)


@pytest.mark.parametrize("labels", list(LabelsFrom))
def test_a_neutral_in_gold_needs_a_policy_only_where_gold_is_asked_for(
    project: Project, labels: LabelsFrom
) -> None:
    brought(make.gold(project, (1, 0, 1)).solution, 1, 0, 1)

    assert left_out(project, format="trl", labels=labels) == {"gold": 1}
    with pytest.raises(NeutralPolicyNeeded):
        export(project, format="trl", labels=labels, include_gold=True)


def test_a_gold_mask_that_allows_only_neutral_needs_a_policy(project: Project) -> None:
    gold = make.gold(project, (1, 1, 1))
    Gold.objects.filter(pk=gold.pk).update(accept=[6, 2, 6])

    with pytest.raises(NeutralPolicyNeeded):
        export(project, format="trl", include_gold=True)


def test_a_neutral_that_stays_in_the_holdout_needs_no_policy(project: Project) -> None:
    said(make.solution(project, holdout=True), 1, 0, 1)

    assert left_out(project, format="trl") == {"holdout": 1}


@pytest.mark.parametrize(
    ("policy", "labels"),
    [
        (NeutralPolicy.CORRECT, [True, True, True]),
        (NeutralPolicy.INCORRECT, [True, False, True]),
        (NeutralPolicy.DROP, [True]),
    ],
)
def test_the_policy_decides_what_becomes_of_a_neutral(
    project: Project, policy: NeutralPolicy, labels: list[bool]
) -> None:
    said(make.solution(project), 1, 0, 1)

    assert [row["labels"] for row in rows(project, format="trl", neutral=policy)] == [labels]


def test_native_has_neutral_and_needs_no_policy(project: Project) -> None:
    said(make.solution(project), 1, 0, 1)

    assert rows(project)[0]["labels"] == [1, 0, 1]


#: What a reader of the file can know of a solution without knowing the project.
CONTENT = (
    "id",
    "generator",
    "steps",
    "final_answer",
    "answer_correct",
    "labels",
    "first_error",
    "mode",
    "meta",
)


def content(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in CONTENT} | {"problem": row["problem"]}


@pytest.mark.parametrize("mode", list(Mode))
def test_a_native_export_imported_elsewhere_says_the_same(mode: Mode) -> None:
    here, there = make.project(mode=mode), make.project(mode=mode)
    tool = {"text": "4", "kind": "tool", "sep": "\n"}
    bring(
        here,
        native(0, generator={"model": "m"}, final_answer="4", answer_correct=True, meta={"a": [1]}),
        native(1, steps=["One.", tool, {"text": "Two.", "kind": "code", "alternatives": [{"text": "2."}]}]),
    )
    after_the_error = 1 if mode is Mode.ALL_STEPS else None
    first, second = Solution.objects.order_by("pk")
    said(first, 1, -1, after_the_error), said(second, 0, None, 1)
    exported = rows(here)

    bring(there, *exported)

    again = rows(there, labels=LabelsFrom.REFERENCE)
    assert len(exported) == 2
    assert list(map(content, again)) == list(map(content, exported))


def test_annotations_survive_the_trip_under_an_imported_name(project: Project) -> None:
    said(make.solution(project), 1, -1, None, details={"comments": {"1": "no"}}, active_seconds=3.5)
    (exported,) = rows(project)
    there = make.project()
    bring(there, exported, labels=LabelsAs.ANNOTATIONS)

    (before,), (after,) = exported["annotations"], rows(there, labels=LabelsFrom.ALL)[0]["annotations"]
    assert after["annotator"] == f"imported:{before['annotator']}"
    for key in ("labels", "details", "finish_reason", "active_seconds", "submitted_at"):
        assert after[key] == before[key]


def test_gold_survives_the_trip(project: Project) -> None:
    make.gold(project, (1, -1, None))
    exported = rows(project, include_gold=True)
    there = make.project()
    bring(there, *exported, labels=LabelsAs.GOLD)

    assert Gold.objects.get(project=there).accept == [6, 1, 0]
    assert Problem.objects.filter(project=there).count() == 1
