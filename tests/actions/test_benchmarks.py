"""Problems of well-known benchmarks are marked, by hashes of files that the user has."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from annotator.actions import access, benchmarks, exports
from annotator.actions.benchmarks import BadName
from annotator.actions.exports import Recipe
from annotator.actions.imports import Source
from annotator.actions.resegmenting import resegment
from annotator.core.segmentation.changes import merged
from annotator.core.solutions import Step
from annotator.models import BenchmarkProblem, ImportBatch, Problem, Project, Role, Solution
from annotator.queries.export_filters import LabelsFrom, Only
from annotator.queries.imports import on_benchmarks
from tests import factories as make
from tests.files import bring, jsonl, native, processbench

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def learn(*rows: dict[str, Any] | bytes, name: str = "B", form: str = "auto") -> benchmarks.Hashed:
    return benchmarks.add(source=Source(jsonl(*rows), "b.jsonl", form), name=name)


def marks() -> list[list[str]]:
    return list(Problem.objects.order_by("pk").values_list("benchmarks", flat=True))


def test_an_import_marks_the_problems_that_a_benchmark_holds(project: Project) -> None:
    learn(processbench(0), processbench(1))

    report = bring(project, native(0), native(7))

    assert marks() == [["B"], []]
    assert on_benchmarks([report.batch]) == {report.batch: 1}


def test_a_solution_that_was_cut_otherwise_counts_once(project: Project) -> None:
    learn(processbench(0))
    batch = bring(project, native(0)).batch
    old = Solution.objects.get()
    manager = make.actor(project, Role.MANAGER)
    resegment(
        actor=manager, solution_id=old.pk, steps=merged([Step.from_json(each) for each in old.steps], 0)
    )
    assert on_benchmarks([batch]) == {batch: 1}


def test_what_is_there_already_is_marked_when_the_benchmark_is_learnt(project: Project) -> None:
    bring(project, native(0), native(7))

    assert learn(processbench(0)).marked == 1
    assert marks() == [["B"], []]


def test_a_problem_of_two_benchmarks_names_both(project: Project) -> None:
    learn(processbench(0), name="B")
    learn(processbench(0), name="A")
    bring(project, native(0))

    assert marks() == [["A", "B"]]


def test_it_is_told_however_it_is_set(project: Project) -> None:
    learn({"problem": "Find  $\\dfrac{1}{2}$ of 4"}, form="problems")
    bring(
        project,
        native(0, problem={"text": "find \\(\\frac{1}{2}\\) of 4."}),
        native(1, problem={"text": "Find 1/3 of 4"}),
    )

    assert marks() == [["B"], []]


def test_only_hashes_are_kept_and_the_same_file_changes_nothing() -> None:
    first, second = learn(processbench(0), processbench(0), b"{"), learn(processbench(0))

    assert (first.read, first.problems, first.new, first.rejected) == (3, 1, 1, 1)
    assert (second.new, BenchmarkProblem.objects.count()) == (0, 1)


@pytest.mark.parametrize("name", ["", " ", "x" * 61, "a\nb"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(BadName):
        learn(processbench(0), name=name)


def exported(project: Project, only: Only) -> list[dict[str, Any]]:
    recipe = Recipe(labels=LabelsFrom.REFERENCE, only=only)
    return [json.loads(line) for line in exports.start(actor=access.operator(project), recipe=recipe)]


def test_an_export_says_which_and_can_leave_them_out(project: Project) -> None:
    learn(processbench(0))
    bring(project, native(0, 1, 1, 1, flags=["mine"]), native(7, 1, 1, 1))

    flags = [row["flags"] for row in exported(project, Only())]
    assert flags == [["mine", "benchmark:B"], []]
    assert [row["id"] for row in exported(project, Only(exclude_benchmarks=True))] == ["n7"]


def test_a_mark_comes_back_once_from_an_export_that_is_imported(project: Project) -> None:
    learn(processbench(0))
    bring(project, native(0, 1, 1, 1))
    other = make.project()
    rows = exported(project, Only())
    bring(other, *rows)

    assert [row["flags"] for row in exported(other, Only())] == [["benchmark:B"]]


def test_the_history_counts_nothing_where_nothing_is_marked(project: Project) -> None:
    report = bring(project, native(0))

    assert on_benchmarks([report.batch]) == {}
    assert ImportBatch.objects.get().imported == 1


def test_a_row_without_a_problem_is_counted() -> None:
    done = benchmarks.add(source=Source(io.BytesIO(b'{"a": 1}\n'), "b", benchmarks.PLAIN), name="B")

    assert (done.read, done.rejected, done.problems) == (1, 1, 0)
