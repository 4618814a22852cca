"""Train, validation and test by problem; and the table of steps."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from annotator.core.parts import Parts
from annotator.core.solutions import Step, digest, full_text
from annotator.models import Problem, Project, Solution
from annotator.queries.export_filters import LabelsFrom
from tests import factories as make
from tests.actions.leaving import brought, export, rows, said

pytestmark = pytest.mark.django_db
THIRDS = Parts((40, 30, 30), seed=3)


@pytest.fixture
def project() -> Project:
    return make.project()


def table(project: Project, **recipe: Any) -> list[dict[str, str]]:
    content = b"".join(export(project, format="csv", **recipe)).decode()
    return list(csv.DictReader(io.StringIO(content, newline="")))


def many(project: Project, number: int = 16) -> None:
    """Solutions of different problems, two of each."""
    for each in range(number):
        # Words, since numbers alone make near-duplicates.
        text = f"What is {chr(97 + each) * 5}?"
        problem = Problem.objects.create(
            project=project, text=text, content_hash=digest(text), split="train", external_id=f"p{each}"
        )
        for _ in range(2):
            brought(make.solution(project, problem=problem), 1, 1, 1)


def test_every_object_says_its_part_and_a_problem_has_one_alone(project: Project) -> None:
    many(project)
    for name in ("trl", "native"):
        by_problem: dict[str, set[str]] = {}
        for row in rows(project, format=name, parts=THIRDS, labels=LabelsFrom.REFERENCE):
            problem = row["prompt"] if name == "trl" else row["problem"]["text"]
            by_problem.setdefault(problem, set()).add(row["split"])
        assert {len(parts) for parts in by_problem.values()} == {1}
        assert set.union(*by_problem.values()) == {"train", "validation", "test"}


def test_the_parts_are_the_whole_and_share_nothing(project: Project) -> None:
    many(project)
    whole = {row["id"]: row["split"] for row in rows(project, parts=THIRDS, labels=LabelsFrom.REFERENCE)}
    for part in THIRDS.names:
        parts = Parts(THIRDS.shares, THIRDS.seed, part)
        alone = rows(project, parts=parts, labels=LabelsFrom.REFERENCE)
        assert {row["id"] for row in alone} == {name for name, its in whole.items() if its == part}


def test_one_part_alone_has_no_field_for_it(project: Project) -> None:
    many(project, 4)
    parts = Parts((98, 2), only="train")
    assert "split" not in rows(project, format="trl", parts=parts, labels=LabelsFrom.REFERENCE)[0]


def test_the_holdout_is_never_in_train(project: Project) -> None:
    for _ in range(8):
        brought(make.solution(project, holdout=True), 1, 1, 1)
    found = rows(project, parts=Parts((98, 2)), labels=LabelsFrom.REFERENCE)
    assert [row["split"] for row in found] == ["test"] * 8


def test_another_seed_cuts_elsewhere(project: Project) -> None:
    many(project)
    cuts = [
        [row["split"] for row in rows(project, parts=Parts((50, 50), seed), labels=LabelsFrom.REFERENCE)]
        for seed in (1, 2)
    ]
    assert cuts[0] != cuts[1]


def test_the_table_has_one_row_a_step_with_its_label(project: Project) -> None:
    solution = make.solution(project)
    said(solution, 1, -1, None), said(solution, 1, -1, None)
    found = table(project)
    assert [(row["step"], row["label"], row["said_right"], row["said_wrong"]) for row in found] == [
        ("0", "1", "2", "0"),
        ("1", "-1", "0", "2"),
        ("2", "", "0", "0"),
    ]
    assert {(row["solution"], row["people"], row["label_source"]) for row in found} == {
        (solution.external_id, "2", "consensus")
    }


def test_offsets_point_into_the_text_as_it_was_before_it_was_cut(project: Project) -> None:
    solution = make.solution(project, ["Äh: 1", "two\n\nlines", "three"])
    said(solution, 1, 1, 1)
    whole = full_text(rows_to_steps(project))
    cut = [whole[int(row["start"]) : int(row["end"])] for row in table(project)]
    assert cut == [step["text"] for step in Solution.objects.get(pk=solution.pk).steps]


def rows_to_steps(project: Project) -> Any:
    """The steps of the only native row: texts and separators."""
    (row,) = rows(project)
    return [Step.from_json(step) for step in row["steps"]]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_of_the_table_runs_as_a_formula(project: Project, text: str) -> None:
    solution = make.solution(project, [text, "two", "three"])
    Solution.objects.filter(pk=solution.pk).update(external_id=text)
    said(solution, 1, 1, 1)
    row = table(project)[0]
    assert (row["text"], row["solution"]) == (f"'{text}", f"'{text}")


def test_of_every_annotation_the_table_says_whose_it_is(project: Project) -> None:
    solution = make.solution(project)
    first, second = said(solution, 1, -1, None), said(solution, 1, 1, 1)
    found = {
        (row["annotator"], row["label"])
        for row in table(project, labels=LabelsFrom.ALL)
        if row["step"] == "1"
    }
    assert found == {(first.member.pseudonym, "-1"), (second.member.pseudonym, "1")}


def test_an_empty_table_still_has_its_head(project: Project) -> None:
    assert b"".join(export(project, format="csv")).startswith(b"solution,problem,domain,")
