"""What a file says of solutions that are known already: gaps are filled, the rest only where asked; never steps."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.actions.imports import Report
from annotator.models import Problem, Project, ReferenceLabels, Solution
from tests import factories as make
from tests.files import bring, native

pytestmark = pytest.mark.django_db

SAID: dict[str, Any] = {
    "generator": {"model": "m"},
    "final_answer": "7",
    "answer_correct": False,
    "meta": {"source": "x"},
}
PROBLEM = {"id": "p", "answer": "8", "solution": "s", "domain": "math", "subject": "algebra"}


@pytest.fixture
def project() -> Project:
    return make.project()


def row(problem: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """The one solution, with these data."""
    made = native(0, **fields)
    return made | {"problem": made["problem"] | (problem or {})}


def told(report: Report) -> tuple[int, int, int]:
    return report.imported, report.duplicates, report.updated


def test_what_was_empty_is_filled(project: Project) -> None:
    bring(project, {"problem": native(0)["problem"], "steps": native(0)["steps"]})

    report = bring(project, row(problem=PROBLEM, labels=[1, -1, None], **SAID))

    solution, problem = Solution.objects.get(), Problem.objects.get()
    assert told(report) == (0, 1, 1)
    assert {name: getattr(solution, name) for name in SAID} == SAID
    assert (solution.external_id, problem.external_id, problem.answer) == ("n0", "p", "8")
    assert (problem.solution, problem.domain, problem.subject) == ("s", "math", "algebra")
    assert ReferenceLabels.objects.get().labels == [1, -1, None]


def test_what_was_there_stays_unless_it_is_to_be_replaced(project: Project) -> None:
    bring(project, row(problem=PROBLEM, **SAID))
    other = row(
        final_answer="9", answer_correct=True, problem={"answer": "9"}, meta={"source": "y", "new": 1}
    )

    assert told(bring(project, other)) == (0, 1, 1)
    solution = Solution.objects.get()
    assert (solution.final_answer, solution.answer_correct, solution.problem.answer) == ("7", False, "8")
    assert solution.meta == {"source": "x", "new": 1}

    assert told(bring(project, other, overwrite=True)) == (0, 1, 1)
    solution = Solution.objects.get()
    assert (solution.final_answer, solution.answer_correct, solution.problem.answer) == ("9", True, "9")
    assert solution.meta == {"source": "y", "new": 1}


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_row_that_says_nothing_new_changes_nothing(project: Project, overwrite: bool) -> None:
    rows = [row(problem=PROBLEM, labels=[1, 1, 1], **SAID), native(1)]
    bring(project, *rows)

    assert told(bring(project, *rows, overwrite=overwrite)) == (0, 2, 0)


def test_what_a_row_leaves_out_is_never_emptied(project: Project) -> None:
    bring(project, row(problem=PROBLEM, **SAID))

    assert bring(project, native(0), overwrite=True).updated == 0
    assert Solution.objects.get().final_answer == "7"


def test_reference_labels_are_never_replaced(project: Project) -> None:
    bring(project, native(0, 1, 1, 1))

    assert bring(project, native(0, 1, -1, None), overwrite=True).updated == 0
    assert ReferenceLabels.objects.get().labels == [1, 1, 1]


def test_a_second_row_of_the_same_chunk_fills_the_first(project: Project) -> None:
    assert told(bring(project, native(0), native(0, final_answer="7"))) == (1, 1, 1)
    assert Solution.objects.get().final_answer == "7"


def test_steps_stay_as_they_are(project: Project) -> None:
    bring(project, native(0))
    before = Solution.objects.get().steps

    bring(project, row(**SAID), overwrite=True)

    assert Solution.objects.get().steps == before
