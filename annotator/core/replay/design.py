"""Which labels teach a logistic model most about a pool, before it has learnt enough to doubt well.

Sequential Bayesian design (Chaloner and Verdinelli 1995): a label at x adds p (1 - p) x x' to the information A. What
counts is how much less the probabilities of the pool's steps vary, sum_pool (p (1 - p))^2 x' A^-1 x (V-optimality),
for each unit of cost: cheap solutions that are unlike those bought, and like much of the pool, come first.
"""

from __future__ import annotations

import numpy as np

from annotator.core.intervals import Floats, Ints
from annotator.core.replay.table import Bools, Table

#: Ridge penalty that the model is fitted with, and how far standardised features reach.
RIDGE, CLIP = 30.0, 4.0
#: Solutions taken between two updates of the information.
AT_ONCE = 6
#: p (1 - p) counts as at least this: a model that has learnt little is too sure.
LEAST_VARIANCE = 0.02


def design(table: Table, value: Floats, bought: Bools, pool: Ints, budget: float) -> Ints:
    """Solutions of the pool to buy next, in order, whose true cost fits the budget; values (steps,) in [0, 1]."""
    rows = standardised(table.rows)
    weight = np.clip(value * (1.0 - value), LEAST_VARIANCE, 0.25)
    said = table.endings(value)
    reached, expected = said.reached, table.expected_cost(said)
    inside = np.isin(table.owner, pool)
    taught = bought[table.owner] & table.at_risk
    information = np.diag(np.r_[np.full(rows.shape[1] - 1, RIDGE), 1e-2]) + gram(rows[taught], weight[taught])
    wanted = gram(rows[inside], (weight**2 * reached)[inside])
    left = np.zeros(len(table), dtype=np.bool_)
    left[pool[~bought[pool]]] = True
    chosen: list[int] = []
    while left.any():
        inverse = np.linalg.inv(information)
        told = np.einsum("ij,ij->i", rows @ (inverse @ wanted @ inverse), rows)
        worth = np.where(left, table.sums(weight * reached * told) / expected, -np.inf)
        for item in np.argsort(-worth, kind="stable")[: min(AT_ONCE, int(left.sum()))].tolist():
            if table.cost[item] > budget:
                return np.array(chosen, dtype=np.int64)
            budget -= float(table.cost[item])
            left[item] = False
            chosen.append(item)
            steps = slice(table.start[item], table.start[item] + table.length[item])
            information = information + gram(rows[steps], (weight * reached)[steps])
    return np.array(chosen, dtype=np.int64)


def gram(rows: Floats, weight: Floats) -> Floats:
    """sum_i weight_i x_i x_i' of rows (steps, features)."""
    return np.asarray((rows * weight[:, None]).T @ rows)


def standardised(rows: Floats) -> Floats:
    """Rows to mean 0 and spread 1 over all steps (no label is needed for that), clipped, with a column of ones."""
    scale = rows.std(axis=0)
    scale[scale < 1e-6] = 1.0
    return np.column_stack([np.clip((rows - rows.mean(axis=0)) / scale, -CLIP, CLIP), np.ones(len(rows))])
