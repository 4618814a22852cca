"""The built-in scorer in a replay: read once, trained from nothing, on judged steps alone."""

from __future__ import annotations

import numpy as np
import pytest

from annotator.core.demo.generator import generate
from annotator.core.solutions import ProblemText, SolutionRecord, Step
from annotator.scorers.builtin import learner as module
from annotator.scorers.builtin.learner import BuiltinLearner, replayable, tabled


def record(number: int, stop: int | None, kinds: str = "jjj") -> SolutionRecord:
    steps = tuple(
        Step(f"step {at} of {number}: {at} + 1 = {at + 1}", judged=kind == "j")
        for at, kind in enumerate(kinds)
    )
    return SolutionRecord(ProblemText(f"Problem {number}, or so?"), steps, first_error=stop)


def test_features_are_read_once_however_often_it_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    records = list(generate(12, seed=1))
    learner = BuiltinLearner(records)
    monkeypatch.setattr(module, "features", None)
    table = tabled(records, learner)
    first, second = (learner.fit(range(n), seed=0) for n in (20, len(records)))
    assert first is not None
    assert second is not None
    assert first.value.shape == second.value.shape == (len(table.owner),)
    assert not np.allclose(first.value, second.value)


def test_no_labels_teach_nothing_since_no_numbers_are_shipped_along() -> None:
    learner = BuiltinLearner([record(0, -1), record(1, -1), record(2, 0)])
    assert learner.fit([], seed=0) is None
    assert learner.fit([0, 1], seed=0) is None


def test_context_steps_are_no_part_of_the_table() -> None:
    records = [record(n, 3 if n % 2 else -1, kinds="cjcj") for n in range(12)]
    table = tabled(records, BuiltinLearner(records))
    assert table.length.tolist() == [2] * 12
    assert table.stop[:2].tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("stop", "kinds", "usable"),
    [(None, "jjj", False), (1, "jcj", False), (-1, "ccc", False), (2, "jcj", True)],
)
def test_only_solutions_with_a_known_first_error_among_judged_steps_are_replayed(
    stop: int | None, kinds: str, usable: bool
) -> None:
    assert replayable(record(0, stop, kinds)) is usable
