"""Labelled solutions as arrays, what it costs to judge them, and the scorer that learns from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from annotator.core.intervals import Floats, Ints, totals
from annotator.core.labels import NO_ERROR
from annotator.core.ragged import Rows
from annotator.core.worth import EDGE, Endings, endings

Bools = npt.NDArray[np.bool_]

#: Parts that the problems are cut into for values out of fold.
FOLDS = 10
#: Share of the problems whose labels can be bought; the others measure what was learnt.
POOL_SHARE = 0.7


class Unreplayable(ValueError):
    """Solutions that nothing can be replayed on, in a sentence for people."""


@dataclass(frozen=True, eq=False)
class Table:
    """n solutions, judged steps alone, one solution's after another's.

    ``rows`` (steps, features), what a scorer sees; ``owner`` (steps,), the solution from 0 up; ``stop`` (n,), the human
    first error among the solution's judged steps, -1 for none; ``problem`` (n,), a code from 0 up. ``step_cost``
    (steps,) and ``base_cost`` (n,): what judging costs, in steps or in seconds. ``answer`` (n,): what an order may know
    of the final answer, 1 right, 0 wrong, -1 nothing; a scorer never sees it.
    """

    rows: Floats
    owner: Ints
    stop: Ints
    problem: Ints
    step_cost: Floats
    base_cost: Floats
    answer: Ints

    def __post_init__(self) -> None:
        if not len(self.stop):
            raise Unreplayable("There is no solution whose first error is known.")
        if bool(np.all(self.stop == NO_ERROR)) or bool(np.all(self.stop != NO_ERROR)):
            raise Unreplayable("It needs solutions with an error and solutions without one.")
        if len(np.unique(self.problem)) < 10:
            raise Unreplayable("Fewer than 10 problems can't be split into a pool and the rest.")

    def __len__(self) -> int:
        return len(self.stop)

    @cached_property
    def length(self) -> Ints:
        """Judged steps of each solution (n,)."""
        return np.bincount(self.owner, minlength=len(self)).astype(np.int64)

    @cached_property
    def start(self) -> Ints:
        """Where each solution's steps begin (n,)."""
        return np.cumsum(self.length) - self.length

    @cached_property
    def place(self) -> Ints:
        """Each step's index within its solution (steps,)."""
        return np.arange(len(self.owner)) - self.start[self.owner]

    @cached_property
    def at_risk(self) -> Bools:
        """Steps up to and including the human first error (steps,): those that a person judges."""
        stop = self.stop[self.owner]
        return np.asarray((stop == NO_ERROR) | (self.place <= stop))

    @cached_property
    def correct(self) -> Bools:
        """Whether people call each step correct (steps,); of those after the first error it says nothing."""
        return np.asarray(self.place != self.stop[self.owner])

    @cached_property
    def cost(self) -> Floats:
        """What a person's judging each solution costs, up to its first error (n,)."""
        return np.asarray(self.base_cost + self.sums(self.step_cost * self.at_risk))

    def sums(self, steps: Floats) -> Floats:
        """Values of steps (steps,) added up by solution (n,)."""
        return totals(self.owner, steps, len(self))

    def ragged(self, steps: Floats) -> Rows:
        """Values of steps (steps,) by solution."""
        return Rows(steps, self.owner, len(self))

    def endings(self, value: Floats) -> Endings:
        """How judging may go by a scorer's values (steps,) alone."""
        return endings(self.ragged(value))

    def known_endings(self, value: Floats) -> Endings:
        """The same with what an order may know of the answers."""
        return endings(self.ragged(value), self.answer)

    def expected_cost(self, found: Endings) -> Floats:
        """What judging each solution is expected to cost (n,)."""
        return np.asarray(self.base_cost + self.sums(found.reached * self.step_cost))

    def first_below(self, value: Floats, threshold: float) -> Ints:
        """The first step below the threshold in each solution (n,), -1 for none."""
        return self._first(value < threshold)

    def likeliest_stop(self, value: Floats) -> Ints:
        """The most probable first error in each solution (n,), -1 for none, from calibrated values (steps,)."""
        said = self.endings(value)
        most = np.maximum.reduceat(said.wrong, self.start)
        return np.where(said.none >= most, NO_ERROR, self._first(said.wrong == most[self.owner]))

    def _first(self, marked: Bools) -> Ints:
        nowhere = len(self.owner)
        at = np.minimum.reduceat(np.where(marked, self.place, nowhere), self.start)
        return np.where(at == nowhere, NO_ERROR, at)


def split(table: Table, seed: int) -> tuple[Ints, Ints]:
    """Solutions of a random 70 % of the problems, the pool, and the others: no problem is on both sides."""
    problems = int(table.problem.max()) + 1
    chosen = np.zeros(problems, dtype=np.bool_)
    chosen[np.random.default_rng(seed).permutation(problems)[: round(POOL_SHARE * problems)]] = True
    inside = chosen[table.problem]
    return np.flatnonzero(inside), np.flatnonzero(~inside)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What an ensemble says of every step: ``members`` (members, steps), probabilities of being correct."""

    members: Floats
    threshold: float

    @property
    def value(self) -> Floats:
        """The ensemble's probability (steps,)."""
        return np.asarray(self.members.mean(axis=0))


class Learner(Protocol):
    """A scorer that can be trained on some of a table's solutions, always from a cold start."""

    def fit(self, chosen: Sequence[int], seed: int) -> Fitted | None:
        """Trained on the human labels of these solutions. None where they hold nothing to learn."""
        ...


def out_of_fold(table: Table, learner: Learner, folds: int = FOLDS) -> Fitted:
    """What ensembles say of each problem that were trained on the others (``folds`` parts, drawn by problem).

    Raises Unreplayable where a fold leaves nothing to learn from.
    """
    part = np.random.default_rng(0).permutation(int(table.problem.max()) + 1) % folds
    fold = part[table.problem]
    members: Floats | None = None
    for number in range(folds):
        found = learner.fit(np.flatnonzero(fold != number).tolist(), seed=number)
        if found is None:
            raise Unreplayable("There are too few labels to train a scorer on.")
        members = np.zeros_like(found.members) if members is None else members
        mine = fold[table.owner] == number
        members[:, mine] = found.members[:, mine]
    assert members is not None
    return Fitted(members, tuned_threshold(table, members.mean(axis=0)))


def tuned_threshold(table: Table, value: Floats) -> float:
    """The threshold of the highest ProcessBench F1 on these values (steps,), on a grid of 0.005, smoothed over five."""
    grid = np.round(np.arange(0.3, 0.991, 0.005), 3)
    wrong = table.stop != NO_ERROR
    before = np.where(table.at_risk & table.correct, value, 1.0)
    least = np.minimum.reduceat(before, table.start)
    at = np.where(wrong, value[table.start + np.maximum(table.stop, 0)], 0.0)
    right = (grid <= least[:, None]) & (at[:, None] < grid)
    found, passed = right[wrong].mean(axis=0), right[~wrong].mean(axis=0)
    scores = 2 * found * passed / np.maximum(found + passed, EDGE)
    smooth = np.convolve(np.pad(scores, 2, mode="edge"), np.ones(5) / 5, mode="valid")
    return float(grid[int(smooth.argmax())])
