"""Keeping a solution's consensus up to date."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.actions import consensus
from annotator.core.labels import Mode
from annotator.models import Adjudication, Annotation, Consensus, Project, Solution
from tests import factories as make

pytestmark = pytest.mark.django_db


def said(solution: Solution, *labels: int | None, **fields: Any) -> Annotation:
    """Somebody's annotation, written as a submit would."""
    implied = "found_error" if -1 in labels else "solution"
    return Annotation.objects.create(
        solution=solution,
        member=make.member(solution.project),
        n_steps=len(labels),
        labels=list(labels),
        **{"finish_reason": implied, **fields},
    )


def agreed(solution: Solution) -> tuple[str, list[int | None], int | None, int]:
    consensus.update(solution_id=solution.pk)
    row = Consensus.objects.get(solution=solution)
    return row.state, row.labels, row.stop, row.n_annotations


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def solution(project: Project) -> Solution:
    return make.solution(project)


def test_one_annotation_is_its_own_consensus(solution: Solution) -> None:
    said(solution, 1, 0, 1)

    assert agreed(solution) == ("agreed", [1, 0, 1], -1, 1)


def test_the_stop_of_most_people_wins(solution: Solution) -> None:
    said(solution, 1, -1, None)
    said(solution, 0, -1, None)
    said(solution, 1, 1, 1)

    assert agreed(solution) == ("agreed", [1, -1, None], 1, 3)


def test_two_who_differ_are_tied_until_somebody_decides(solution: Solution) -> None:
    said(solution, 1, -1, None)
    said(solution, 1, 1, 1)

    assert agreed(solution) == ("tied", [None, None, None], None, 2)


def test_in_all_steps_each_step_has_its_own_plurality() -> None:
    solution = make.solution(make.project(mode=Mode.ALL_STEPS))
    for labels in [(1, -1, 1), (1, -1, -1), (-1, -1, 1)]:
        said(solution, *labels, finish_reason="solution")

    assert agreed(solution) == ("agreed", [1, -1, 1], 1, 3)


@pytest.mark.parametrize("reason", ["give_up", "bad_problem"])
def test_who_gave_up_has_no_vote(solution: Solution, reason: str) -> None:
    said(solution, 1, 1, 1)
    said(solution, 1, -1, None, finish_reason=reason)

    assert agreed(solution) == ("agreed", [1, 1, 1], -1, 1)


def test_what_does_not_count_has_no_vote(solution: Solution) -> None:
    said(solution, 1, 1, 1)
    said(solution, 1, -1, None, counted=False, uncounted_reason="late")

    assert agreed(solution) == ("agreed", [1, 1, 1], -1, 1)


def test_only_a_persons_current_version_has_a_vote(solution: Solution) -> None:
    old = said(solution, 1, -1, None, current=False)
    said(solution, 1, 1, 1)
    Annotation.objects.create(
        solution=solution, member=old.member, n_steps=3, version=2, labels=[1, 1, 1], finish_reason="solution"
    )

    assert agreed(solution) == ("agreed", [1, 1, 1], -1, 2)


def test_a_second_run_changes_nothing(solution: Solution) -> None:
    said(solution, 1, -1, None)

    assert agreed(solution) == agreed(solution)
    assert Consensus.objects.count() == 1


def test_the_consensus_goes_when_nothing_counts_any_more(solution: Solution) -> None:
    annotation = said(solution, 1, -1, None)
    consensus.update(solution_id=solution.pk)
    annotation.counted, annotation.uncounted_reason = False, "removed"
    annotation.save(update_fields=["counted", "uncounted_reason"])

    consensus.update(solution_id=solution.pk)

    assert not Consensus.objects.exists()


def test_no_recomputation_touches_an_adjudication(solution: Solution) -> None:
    annotation = said(solution, 1, -1, None)
    decided = Adjudication.objects.create(
        solution=solution, member=annotation.member, n_steps=3, labels=[1, 1, 1], stop=-1
    )

    consensus.update(solution_id=solution.pk)

    assert list(Adjudication.objects.values_list("pk", "labels")) == [(decided.pk, [1, 1, 1])]
