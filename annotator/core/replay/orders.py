"""In which order labels are bought. Each order is a number for every solution, the highest first, or a greedy design.

What an order may see: the scorer's values and spread, what judging costs by the scorer's own expectation, and which
solutions are bought already. Only the oracle sees human labels of others.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotator.core.intervals import Floats, Ints
from annotator.core.ragged import at_risk, entropies, mean_entropies
from annotator.core.replay.design import design
from annotator.core.replay.table import Bools, Fitted, Table
from annotator.core.worth import EDGE, expected_mistakes, information, wrong_stop


class Order(StrEnum):
    """RANDOM: by lot. UNCERTAINTY: mean entropy up to the predicted stop. MAX_ENTROPY: the largest one. MISTAKES: how
    many steps the scorer is expected to misjudge, by expected cost. GAIN: probability that its most probable stop is
    wrong, by expected cost. LEARNING: what labels tell of the scorer's own numbers, by expected cost. DESIGN: what
    teaches most about the pool while nothing is known (`design`), then LEARNING. ORACLE: what is truly misjudged, by
    true cost. All but MAX_ENTROPY, DESIGN and ORACLE are strategies of a project's queue too."""

    RANDOM = "random"
    UNCERTAINTY = "uncertainty"
    MAX_ENTROPY = "max_entropy"
    MISTAKES = "mistakes"
    GAIN = "gain"
    LEARNING = "learning"
    DESIGN = "design"
    ORACLE = "oracle"


#: Share of the pool's cost up to which DESIGN goes by design; a trained scorer knows better then.
DESIGNED = 0.05
#: A scorer that has learnt nothing yet takes most steps for correct.
UNTAUGHT = 0.85


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Where a purchase stands. ``fitted``: what the scorer says now, None before it has learnt anything; ``bought``
    (n,); ``pool``: the solutions that can be bought; ``wrong`` (n,): how much the oracle knows to be wrong."""

    table: Table
    fitted: Fitted | None
    bought: Bools
    pool: Ints
    wrong: Floats

    @property
    def left(self) -> Ints:
        return self.pool[~self.bought[self.pool]]

    @property
    def spent(self) -> float:
        return float(self.table.cost[self.pool[self.bought[self.pool]]].sum())


def choose(order: Order, now: Standing, budget: float, random: np.random.Generator) -> Ints:
    """The solutions to buy next, in order, whose true cost fits the budget."""
    spent_share = now.spent / float(now.table.cost[now.pool].sum())
    if order is Order.DESIGN and (now.fitted is None or spent_share < DESIGNED):
        value = np.full(len(now.table.owner), UNTAUGHT) if now.fitted is None else now.fitted.value
        return design(now.table, value, now.bought, now.pool, budget)
    left = now.left
    lot = random.random(len(left))
    ranks = lot if order is Order.RANDOM else preference(order, now)[left]
    return within(now.table, left[np.lexsort((lot, -ranks))], budget)


def within(table: Table, ordered: Ints, budget: float) -> Ints:
    """The beginning of an order that the budget pays for."""
    return ordered[: int(np.searchsorted(np.cumsum(table.cost[ordered]), budget + EDGE, side="right"))]


def preference(order: Order, now: Standing) -> Floats:
    """A number for every solution of the table (n,), the highest first. 0 for all where nothing is known yet."""
    table = now.table
    if order is Order.ORACLE:
        return now.wrong / table.cost
    if now.fitted is None or order is Order.RANDOM:
        return np.zeros(len(table))
    value = now.fitted.value
    rows, limits = table.ragged(value), np.full(len(table), now.fitted.threshold)
    said = table.endings(value)
    match order:
        case Order.UNCERTAINTY:
            return mean_entropies(rows, at_risk(rows, limits))
        case Order.MAX_ENTROPY:
            doubt = np.where(at_risk(rows, limits), entropies(value), 0.0)
            return np.asarray(np.maximum.reduceat(doubt, table.start))
        case Order.MISTAKES:
            # Only here: labels that are picked by the answer teach a scorer, which never sees it, wrongly.
            said = table.known_endings(value)
            worth = expected_mistakes(rows, said, limits)
        case Order.GAIN:
            worth = wrong_stop(said)
        case _:
            worth = information(said, table.ragged(now.fitted.members.std(axis=0)))
    return worth / table.expected_cost(said)
