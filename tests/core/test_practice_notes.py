"""What a person is told after a practice solution of the demo."""

from __future__ import annotations

import pytest

from annotator.core.demo import PRACTICE, demo_set, practice_note
from annotator.core.demo.writer import ErrorKind


@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if kind is not ErrorKind.REDUNDANT])
def test_every_planted_error_has_its_words(kind: ErrorKind) -> None:
    note = practice_note([1, -1, None], kind.value)
    assert note.startswith("The first error is in step 2: ")
    assert kind.value not in note or kind is ErrorKind.CIRCULAR


def test_a_retraction_is_explained() -> None:
    assert "stays incorrect" in practice_note([-1, None], "calculation", taken_back=True)


def test_a_sound_solution_is_called_sound() -> None:
    assert practice_note([1, 1], None) == "No step is incorrect."


def test_practice_is_gold_of_a_single_problem() -> None:
    items = [item for item in demo_set() if item.record.external_id in PRACTICE]
    assert len(items) == len(PRACTICE)
    assert all(item.gold for item in items)
    assert len({item.record.problem.external_id for item in items}) == 1
