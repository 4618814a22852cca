"""One replay: labels are bought in an order, a scorer is trained on them, and three things are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.core.evaluation import auc, error_class_f1, f1_of_sums, f1_rows
from annotator.core.intervals import Floats, Ints
from annotator.core.labels import NO_ERROR
from annotator.core.replay.orders import Order, Standing, choose
from annotator.core.replay.table import Bools, Fitted, Learner, Table, split
from annotator.core.worth import EDGE

_GRID = np.round(np.arange(0.3, 0.99, 0.01), 2)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Curves of one replay, each (budgets,). ``accuracy`` and ``error_f1``: of the whole pool's stops, when people
    label what is bought and the scorer the rest. ``auc`` and ``f1``: of the scorer on problems outside the pool."""

    accuracy: Floats
    error_f1: Floats
    auc: Floats
    f1: Floats


def misjudged(table: Table, given: Fitted) -> Floats:
    """How many of the steps that a person judges the given scorer misjudges (n,)."""
    wrong = (given.value < given.threshold) == table.correct
    return table.sums((wrong & table.at_risk).astype(np.float64))


def found_by_budget(table: Table, given: Fitted, order: Order, budgets: Sequence[float], seed: int) -> Floats:
    """Share of the pool's misjudged steps found by each share of the pool's cost (budgets,).

    The scorer stays as given; nothing is learnt meanwhile. 0 where nothing is misjudged.
    """
    pool, _ = split(table, seed)
    random = np.random.default_rng(seed)
    wrong, total = misjudged(table, given), float(table.cost[pool].sum())
    bought = np.zeros(len(table), dtype=np.bool_)
    shares = []
    for share in budgets:
        now = Standing(table, given, bought, pool, wrong)
        bought[choose(order, now, share * total - now.spent, random)] = True
        shares.append(wrong[bought].sum() / max(wrong[pool].sum(), 1.0))
    return np.array(shares, dtype=np.float64)


def replay(table: Table, learner: Learner, order: Order, budgets: Sequence[float], seed: int) -> Found:
    """Buy, train from scratch, measure, for each share of the pool's cost. The first purchase sees no scorer."""
    pool, rest = split(table, seed)
    random = np.random.default_rng(seed)
    total = float(table.cost[pool].sum())
    bought = np.zeros(len(table), dtype=np.bool_)
    fitted: Fitted | None = None
    rows = []
    for share in budgets:
        calls = called(table, fitted)
        wrong = (calls != table.stop).astype(np.float64)
        now = Standing(table, fitted, bought, pool, wrong)
        bought[choose(order, now, share * total - now.spent, random)] = True
        fitted = learner.fit(np.flatnonzero(bought).tolist(), seed) or fitted
        rows.append((*whole_set(table, fitted, bought, pool), *quality(table, fitted, pool, rest)))
    return Found(*(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)))


def called(table: Table, fitted: Fitted | None) -> Ints:
    """The stop that the scorer takes for most probable (n,); no error anywhere while it has learnt nothing."""
    if fitted is None:
        return np.full(len(table), NO_ERROR)
    return table.likeliest_stop(fitted.value)


def whole_set(table: Table, fitted: Fitted | None, bought: Bools, pool: Ints) -> tuple[float, float]:
    """First-error accuracy and F1 of the error class over the pool: people's stops where bought, else the scorer's."""
    stops = np.where(bought, table.stop, called(table, fitted))[pool]
    known = table.stop[pool]
    return float((stops == known).mean()), error_class_f1(stops.tolist(), known.tolist()).value or 0.0


def quality(table: Table, fitted: Fitted | None, pool: Ints, rest: Ints) -> tuple[float, float]:
    """Step AUC and ProcessBench F1 outside the pool, (0.5, 0) untaught. The F1's threshold is `expected_threshold`
    on the pool's texts: one tuned on labels that were bought in some order would fit only what was bought."""
    if fitted is None:
        return 0.5, 0.0
    seen = np.isin(table.owner, rest) & table.at_risk
    found = auc(fitted.value[seen], table.correct[seen]).value
    threshold = expected_threshold(table, fitted.value, pool)
    stops = table.first_below(fitted.value, threshold)[rest]
    f1 = float(f1_of_sums(f1_rows(stops.tolist(), table.stop[rest].tolist()).sum(axis=0)))
    return 0.5 if found is None else found, f1 if np.isfinite(f1) else 0.0


def expected_threshold(table: Table, value: Floats, pool: Ints) -> float:
    """The threshold of the highest ProcessBench F1 on the pool if the values (steps,) are right: it needs no label.

    Among the pool's solutions, erroneous hits = sum of P(stop = predicted), correct ones = sum of P(none).
    """
    said = table.endings(value)
    chance, sound = said.wrong, said.none
    scores = []
    for threshold in _GRID:
        stop = table.first_below(value, threshold)
        hit = np.where(stop == NO_ERROR, 0.0, chance[table.start + np.maximum(stop, 0)])[pool]
        passed = np.where(stop == NO_ERROR, sound, 0.0)[pool]
        a, b = hit.sum() / (1.0 - sound[pool]).sum(), passed.sum() / max(sound[pool].sum(), EDGE)
        scores.append(2 * a * b / max(a + b, EDGE))
    return float(_GRID[int(np.argmax(scores))])
