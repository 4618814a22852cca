"""What a version says of many solutions, as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from annotator.models import QueueRow, Score, ScorerVersion
from annotator.queries.scored_rows import values_of
from tests import factories as make


def says(row: QueueRow, version: ScorerVersion, values: list[float | None]) -> None:
    Score.objects.create(
        solution=row.solution,
        version=version,
        n_steps=row.solution.n_steps,
        values=values,
        spread=[0.1] * len(values),
        priority=0.1,
        tiebreak=0.1,
        predicted_stop=-1,
    )


@pytest.mark.django_db
def test_values_stand_one_after_the_other_for_those_asked_for_and_nothing_for_what_has_no_score() -> None:
    project = make.project()
    mine, other = (
        ScorerVersion.objects.create(
            scorer=project.scorers.get(), version=name, measures="correctness", threshold=0.5
        )
        for name in ("mine", "other")
    )
    rows = [make.work(project) for _ in range(4)]
    says(rows[0], mine, [0.5, None, 0.25])
    says(rows[1], other, [0.75, 0.75, 0.75])
    says(rows[2], mine, [1.0, 0.0, 0.125])
    says(rows[3], mine, [0.0, 0.0, 0.5])

    lengths, values = values_of(mine.pk, np.array([rows[0].pk, rows[1].pk, rows[3].pk]))

    assert lengths.tolist() == [3, 0, 3]
    assert np.array_equal(values, [0.5, np.nan, 0.25, 0.0, 0.0, 0.5], equal_nan=True)


@pytest.mark.django_db
def test_a_version_that_has_scored_nothing_says_nothing() -> None:
    lengths, values = values_of(1, np.array([4, 7]))

    assert (lengths.tolist(), values.tolist()) == ([0, 0], [])
