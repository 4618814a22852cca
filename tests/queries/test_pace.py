"""How fast a project's people judge, read off what they handed in."""

from __future__ import annotations

import pytest

from annotator.core.replay.pace import TooFewTimes
from annotator.core.uncertainty import entropy
from annotator.models import Annotation, Project, Score, ScorerVersion
from annotator.queries.pace import pace
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def handed_in(project: Project, n: int, **fields: object) -> None:
    """n annotations of 1 to 4 steps: 10 s each, 5 s a step, and 20 s for each nat of what the scorer doubts."""
    version = ScorerVersion.objects.create(
        scorer=project.scorers.get(), version="v1", measures="correctness", threshold=0.5
    )
    member = make.member(project)
    for number in range(n):
        steps, value = number % 4 + 1, 0.5 + 0.1 * (number % 5)
        row = make.solution(project, ["a step"] * 5)
        values = [value] * 5
        Score.objects.create(
            solution=row,
            version=version,
            n_steps=5,
            values=values,
            spread=values,
            priority=0.1,
            tiebreak=0.0,
            predicted_stop=-1,
        )
        Annotation.objects.create(
            solution=row,
            member=member,
            n_steps=5,
            labels=[1] * (steps - 1) + [-1] + [None] * (5 - steps),
            stop=steps - 1,
            finish_reason="found_error",
            active_seconds=10 + steps * (5 + 20 * entropy(value)),
            **fields,
        )


def test_uncertain_steps_are_measured_to_take_longer(project: Project) -> None:
    handed_in(project, 40)
    found = pace(project)
    assert (found.per_solution, found.per_step, found.per_nat) == pytest.approx((10, 5, 20))


def test_imported_labels_took_nobody_here_any_time(project: Project) -> None:
    handed_in(project, 31, source=Annotation.Source.IMPORTED)
    with pytest.raises(TooFewTimes):
        pace(project)
