"""What an order pays: three curves against random and the oracle, over several seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from annotator.core.intervals import Floats
from annotator.core.replay.curves import LEVELS, Band, Level, band, level, share_of_oracle
from annotator.core.replay.orders import Order
from annotator.core.replay.run import Found, found_by_budget, replay
from annotator.core.replay.table import POOL_SHARE, Fitted, Learner, Table

#: Where the share of the oracle's lead is told.
LOOKED_AT = 0.2


@dataclass(frozen=True, slots=True)
class Gain:
    """(found - random) / (oracle - random) at ``budget``, with a paired 95 % interval over seeds; None where the
    oracle finds no more than random."""

    budget: float
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Curve:
    """One quality over the budgets by order, and how much of random's budget the order needs for several levels."""

    name: str
    bands: dict[Order, Band]
    levels: Sequence[Level]


@dataclass(frozen=True, slots=True)
class Simulated:
    """``unit``: what budgets are shares of, steps or seconds. ``total``: the pool's whole cost, on average."""

    order: Order
    unit: str
    total: float
    budgets: Sequence[float]
    seeds: int
    threshold: float
    found: dict[Order, Band]
    gain: Gain
    whole_set: Sequence[Curve]
    retrained: Sequence[Curve]


def simulate(
    table: Table,
    learner: Learner,
    given: Fitted,
    order: Order,
    *,
    budgets: Sequence[float],
    seeds: int,
    unit: str = "steps",
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Simulated:
    """Replay an order and random with the same splits; the oracle bounds the first curve, for which ``given`` holds
    out-of-fold values.

    ``progress`` is told how many replays are done, of how many. Raises Unreplayable.
    """
    orders = list(dict.fromkeys((order, Order.RANDOM)))
    first = {
        each: np.array([found_by_budget(table, given, each, budgets, seed) for seed in range(seeds)])
        for each in (*orders, Order.ORACLE)
    }
    runs: dict[Order, list[Found]] = {each: [] for each in orders}
    for done, (seed, each) in enumerate(product(range(seeds), orders)):
        progress(done, len(orders) * seeds)
        runs[each].append(replay(table, learner, each, budgets, seed))
    return Simulated(
        order=order,
        unit=unit,
        total=float(table.cost.sum() * POOL_SHARE),
        budgets=budgets,
        seeds=seeds,
        threshold=given.threshold,
        found={each: band(curves) for each, curves in first.items()},
        gain=_gain(first, order, budgets),
        whole_set=[_curve(name, runs, order, budgets) for name in ("accuracy", "error_f1")],
        retrained=[_curve(name, runs, order, budgets) for name in ("auc", "f1")],
    )


def _gain(first: dict[Order, Floats], order: Order, budgets: Sequence[float]) -> Gain:
    at = min(range(len(budgets)), key=lambda place: abs(budgets[place] - LOOKED_AT))
    random, other, oracle = (first[each][:, at] for each in (Order.RANDOM, order, Order.ORACLE))
    value, low, high = share_of_oracle(random, other, oracle)
    return Gain(budgets[at], value if np.isfinite(value) else None, low, high)


def _curve(name: str, runs: dict[Order, list[Found]], order: Order, budgets: Sequence[float]) -> Curve:
    curves = {each: np.array([getattr(one, name) for one in found]) for each, found in runs.items()}
    wanted = [share for share in LEVELS if budgets[0] < share <= budgets[-1]]
    levels = [level(budgets, curves[Order.RANDOM], curves[order], share) for share in wanted]
    # Where random stands still, two of its budgets have one quality.
    apart = {round(each.random_budget, 6): each for each in levels}
    return Curve(name, {each: band(values) for each, values in curves.items()}, list(apart.values()))
