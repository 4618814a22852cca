"""Scoring people on gold."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.actions import screening
from annotator.models import Annotation, Gold, GoldResult, Solution
from tests import factories as make

pytestmark = pytest.mark.django_db


def said(solution: Solution, *labels: int | None, **fields: Any) -> Annotation:
    implied = "found_error" if -1 in labels else "solution"
    return Annotation.objects.create(
        solution=solution,
        member=make.member(solution.project),
        n_steps=len(labels),
        labels=list(labels),
        **{"finish_reason": implied, **fields},
    )


@pytest.fixture
def gold() -> Gold:
    """The second of three steps is wrong."""
    return make.gold(make.project(), (1, -1, None))


def result(annotation: Annotation) -> tuple[bool | None, int, int, int, int]:
    assert screening.score_gold(annotation_id=annotation.pk)
    row = GoldResult.objects.get(annotation=annotation)
    return row.item_right, row.errors_reached, row.errors_caught, row.sound_reached, row.false_alarms


def test_who_stops_where_the_error_is_is_right(gold: Gold) -> None:
    assert result(said(gold.solution, 0, -1, None)) == (True, 1, 1, 1, 0)


def test_who_passes_the_error_missed_it(gold: Gold) -> None:
    assert result(said(gold.solution, 1, 1, 1)) == (False, 1, 0, 1, 0)


def test_who_stops_before_the_error_raised_a_false_alarm(gold: Gold) -> None:
    assert result(said(gold.solution, -1, None, None)) == (False, 0, 0, 1, 1)


def test_who_gave_up_is_not_judged_but_the_steps_before_are(gold: Gold) -> None:
    annotation = said(gold.solution, 1, None, None, finish_reason="give_up")

    assert result(annotation) == (None, 0, 0, 1, 0)


def test_the_result_belongs_to_the_person(gold: Gold) -> None:
    annotation = said(gold.solution, 1, -1, None)
    screening.score_gold(annotation_id=annotation.pk)

    assert GoldResult.objects.get().member == annotation.member


def test_a_second_run_changes_nothing(gold: Gold) -> None:
    annotation = said(gold.solution, 1, -1, None)

    assert result(annotation) == result(annotation)
    assert GoldResult.objects.count() == 1


def test_what_is_not_gold_is_not_scored() -> None:
    annotation = said(make.solution(make.project()), 1, 1, 1)

    assert not screening.score_gold(annotation_id=annotation.pk)
    assert not GoldResult.objects.exists()
