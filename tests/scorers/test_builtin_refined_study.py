"""What the refined pass adds on unseen problems: what was read is kept and counts only where it is whole."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest

from annotator.core.evaluation import auc
from annotator.core.labels import NO_ERROR
from annotator.core.solutions import Step
from annotator.scorers.builtin import study_refined
from annotator.scorers.builtin.fit import Settings
from annotator.scorers.builtin.language_model import LanguageModel, Words
from annotator.scorers.builtin.study import Study, difference
from annotator.scorers.builtin.study_refined import (
    NothingRead,
    at_risk,
    known_lines,
    line,
    passes_out_of_fold,
    read_on,
    with_language,
)
from annotator.scorers.builtin.surprise import SURPRISES
from annotator.scorers.builtin.training_data import Labelled, tabulate

QUICK = Settings(members=3, folds=3, words=True, l2_words=30.0)
SOLUTIONS = 60


def study() -> Study:
    """Two files; every second solution has an error that its text does not give away."""
    solutions = tuple(
        Labelled(f"Problem number {n}.", (Step("Add."), Step("Go on.")), 1 if n % 2 else NO_ERROR)
        for n in range(SOLUTIONS)
    )
    paths = (Path("a.jsonl"), Path("b.jsonl"))
    part = np.arange(SOLUTIONS) * 2 // SOLUTIONS
    return Study(paths, solutions, tabulate(solutions, words=True), part)


def noise(seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(2 * SOLUTIONS, len(SURPRISES)))


def told(found: Study) -> np.ndarray:
    """Surprises of which the first knows where the errors are."""
    rows = noise()
    rows[:, 0] += 4 * (found.table.correct == 0)
    return rows


def test_what_surprises_is_learned_and_what_is_noise_is_not() -> None:
    found, every = study(), np.ones(SOLUTIONS, dtype=np.bool_)
    correct = found.table.correct.astype(bool)
    area = {}
    for name, rows in (("told", told(found)), ("noise", noise())):
        both = passes_out_of_fold(found, rows, every, QUICK, QUICK)
        area[name] = [auc(both[one][0], correct).value or 0.0 for one in ("fast", "refined")]
    assert area["told"][1] > area["told"][0] + 0.1
    assert area["noise"][1] < area["noise"][0] + 0.05


def test_a_gain_is_told_with_its_interval() -> None:
    found, every = study(), np.ones(SOLUTIONS, dtype=np.bool_)
    perfect = list(found.table.stops)
    blind = [1 if n % 4 else NO_ERROR for n in range(SOLUTIONS)]
    gain = difference(found, blind, perfect, every)
    assert gain.value is not None
    assert gain.low is not None
    assert gain.high is not None
    assert 0 < gain.low < gain.value < gain.high
    assert difference(found, perfect, perfect, every).value == 0


def test_what_was_read_is_kept_up_to_the_first_error(tmp_path: Path) -> None:
    found, kept = study(), tmp_path / "kept.jsonl"
    one = found.solutions[1]
    assert at_risk(one) == 2
    kept.write_bytes(line(one, np.full((2, len(SURPRISES)), 0.123456)) + b'{"key": "cut sho')
    rows, read = with_language(found, kept)
    assert read.tolist() == [number == 1 for number in range(SOLUTIONS)]
    assert rows[2:4] == pytest.approx(0.12346)
    assert not rows[:2].any()


def test_a_solution_read_too_short_counts_as_unread(tmp_path: Path) -> None:
    found, kept = study(), tmp_path / "kept.jsonl"
    kept.write_bytes(line(found.solutions[1], np.zeros((1, len(SURPRISES)))))
    with pytest.raises(NothingRead, match="--read"):
        with_language(found, kept)


def test_reading_goes_on_where_it_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, kept, asked = study(), tmp_path / "kept.jsonl", []

    def surprises(_model: object, _words: object, problem: str, steps: tuple[Step, ...]) -> np.ndarray:
        asked.append(problem)
        return np.zeros((len(steps), len(SURPRISES)))

    monkeypatch.setattr(study_refined, "surprises", surprises)
    kept.write_bytes(line(found.solutions[5], np.zeros((2, len(SURPRISES)))))
    told_so_far: list[tuple[int, int]] = []
    read_on(
        kept,
        found.solutions,
        cast(LanguageModel, None),
        cast(Words, None),
        lambda done, of: told_so_far.append((done, of)),
    )
    assert len(known_lines(kept)) == SOLUTIONS
    assert len(asked) == SOLUTIONS - 1
    assert "Problem number 5." not in asked
    assert told_so_far[-1] == (SOLUTIONS - 1, SOLUTIONS - 1)
