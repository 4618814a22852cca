"""The built-in scorer as one that a replay trains again and again: every solution's features are read once.

The named features alone: hashed words would make each of the hundreds of fits ten times as slow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from annotator.core.labels import NO_ERROR
from annotator.core.replay.table import Fitted, Table, Unreplayable
from annotator.core.solutions import SolutionRecord
from annotator.scorers.builtin.features import FEATURES
from annotator.scorers.builtin.fit import Example, NothingToLearn, features, fit
from annotator.scorers.builtin.training_data import normalised

#: Members of an ensemble in a replay: fewer than a scorer that stays has, since many are fitted.
MEMBERS = 8


class BuiltinLearner:
    """Trains the built-in scorer from a cold start; never from shipped numbers."""

    def __init__(
        self, records: Sequence[SolutionRecord], progress: Callable[[int], None] = lambda _n: None
    ) -> None:
        self._examples: list[Example] = []
        for number, record in enumerate(records):
            self._examples.append(_example(record))
            progress(number + 1)
        self.rows = np.vstack([example.rows for example in self._examples if example.rows is not None])

    def fit(self, chosen: Sequence[int], seed: int) -> Fitted | None:
        """Trained on these solutions; None where they hold only correct steps, or none."""
        try:
            weights = fit([self._examples[number] for number in chosen], seed=seed, members=MEMBERS)
        except NothingToLearn:
            return None
        return Fitted(weights.predict(self.rows), weights.threshold)


def tabled(records: Sequence[SolutionRecord], learner: BuiltinLearner, *, answers: bool = False) -> Table:
    """The same solutions as a table whose costs are judged steps. Raises Unreplayable.

    ``answers``: orders may know whether the final answer is right, where the file says so.
    """
    if not records:
        raise Unreplayable("There is no solution whose first error is known.")
    judged = [[step.judged for step in record.steps] for record in records]
    counts = [sum(each) for each in judged]
    names = {
        name: code for code, name in enumerate(dict.fromkeys(normalised(r.problem.text) for r in records))
    }
    stops = [_among_judged(record, each) for record, each in zip(records, judged, strict=True)]
    return Table(
        rows=learner.rows,
        owner=np.repeat(np.arange(len(records)), counts),
        stop=np.array(stops, dtype=np.int64),
        problem=np.array([names[normalised(record.problem.text)] for record in records], dtype=np.int64),
        step_cost=np.ones(sum(counts)),
        base_cost=np.zeros(len(records)),
        answer=np.array([_answer(record) if answers else -1 for record in records], dtype=np.int64),
    )


def replayable(record: SolutionRecord) -> bool:
    """Whether its first error is known, among steps that take labels."""
    stop = record.first_error
    return (
        stop is not None
        and any(s.judged for s in record.steps)
        and (stop == NO_ERROR or record.steps[stop].judged)
    )


def _answer(record: SolutionRecord) -> int:
    return -1 if record.answer_correct is None else int(record.answer_correct)


def _among_judged(record: SolutionRecord, judged: Sequence[bool]) -> int:
    stop = record.first_error
    return NO_ERROR if stop is None or stop == NO_ERROR else sum(judged[:stop])


def _example(record: SolutionRecord) -> Example:
    """Correct before the first error, wrong at it, undefined after it."""
    stop = len(record.steps) if record.first_error in (None, NO_ERROR) else record.first_error
    targets = tuple(
        None if not step.judged or place > stop else float(place != stop)
        for place, step in enumerate(record.steps)
    )
    problem = record.problem.text
    rows = features(problem, record.steps)[:, : len(FEATURES)]
    return Example(problem, tuple(record.steps), targets, group=normalised(problem), rows=rows)
