"""Agreement of two raters, from the table of how often one said row while the other said column.

A table has shape (categories, categories) of the label schema, or (..., categories, categories) for many at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from annotator.core.agreement.measures import summarise
from annotator.core.agreement.ratings import Ratings, pairs, shared
from annotator.core.intervals import DRAWS, Z95, Figure, Floats, Ints, Reason, divide

Weights = Literal["none", "linear"]


def agreement_weights(n_categories: int, weights: Weights) -> Floats:
    """1 on the diagonal; off it 0, or 1 - |i - j| / (q - 1) for linear weights over the schema's order."""
    if weights == "none":
        return np.eye(n_categories)
    places = np.arange(n_categories)
    return np.asarray(1.0 - np.abs(places[:, None] - places[None, :]) / max(n_categories - 1, 1))


def percent_values(tables: Floats) -> Floats:
    """Share on the diagonal of each table, NaN for an empty one."""
    return divide(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def cohen_values(tables: Floats, weights: Weights = "none") -> Floats:
    """Cohen's kappa of each table, NaN where undefined.

    (p_o - p_e) / (1 - p_e), p_o = Σ w_ij p_ij, p_e = Σ w_ij p_i. p_.j. Cohen 1960; weighted, Cohen 1968. One rater who
    always says the same gives exactly 0; two who always say the same thing leave it undefined.
    """
    shares, observed, chance = _shares(tables, weights)
    value = divide(observed - chance, 1.0 - chance)
    constant = ((shares.sum(axis=-1) > 0).sum(axis=-1) == 1) | ((shares.sum(axis=-2) > 0).sum(axis=-1) == 1)
    return np.where(constant & np.isfinite(value), 0.0, value)


def scott_values(tables: Floats) -> Floats:
    """Scott's pi of each table, NaN where undefined: p_e = Σ ((p_i. + p_.i) / 2)². Scott 1955."""
    shares, observed, _ = _shares(tables, "none")
    both = (shares.sum(axis=-1) + shares.sum(axis=-2)) / 2.0
    chance = (both**2).sum(axis=-1)
    return divide(observed - chance, 1.0 - chance)


def cohen_standard_error(table: npt.ArrayLike, weights: Weights = "none") -> float:
    """Large-sample standard error of (weighted) kappa. Fleiss, Cohen and Everitt 1969, Psychol. Bull. 72:323.

    v = (Σ p_ij [w_ij - (w_i. + w_.j)(1 - κ)]² - [κ - p_e(1 - κ)]²) / n(1 - p_e)², w_i. = Σ_j p_.j w_ij.

    >>> round(cohen_standard_error([[20, 5], [10, 15]]), 4)
    0.127
    """
    counts = np.asarray(table, dtype=np.float64)
    shares, _, chance = _shares(counts, weights)
    kappa = float(cohen_values(counts, weights))
    weight = agreement_weights(len(counts), weights)
    row = weight @ shares.sum(axis=0)
    column = weight.T @ shares.sum(axis=1)
    spread = (shares * (weight - (row[:, None] + column[None, :]) * (1 - kappa)) ** 2).sum()
    variance = (spread - (kappa - float(chance) * (1 - kappa)) ** 2) / (
        counts.sum() * (1 - float(chance)) ** 2
    )
    return sqrt(max(float(variance), 0.0))


def cohen_of_table(table: npt.ArrayLike, weights: Weights = "none") -> Figure:
    """Kappa of one table, with its large-sample interval; n counts units.

    >>> round(cohen_of_table([[20, 5], [10, 15]]).value, 6)
    0.4
    >>> cohen_of_table([[5, 0], [0, 0]]).reason.value
    'single_category'
    """
    counts = np.asarray(table, dtype=np.float64)
    n = int(counts.sum())
    if not n:
        return Figure(None, 0, Reason.NO_OVERLAP)
    value = float(cohen_values(counts, weights))
    if not np.isfinite(value):
        return Figure(None, n, Reason.SINGLE_CATEGORY)
    reach = Z95 * cohen_standard_error(counts, weights)
    return Figure(value, n, None, value - reach, value + reach)


def cohen(these: Ratings, one: int, other: int, weights: Weights = "none", draws: int = DRAWS) -> Figure:
    """Kappa of two raters over the units that both judged, with an interval by resampling problems."""
    return _of_two(these, one, other, draws, weights)


def scott(these: Ratings, one: int, other: int, draws: int = DRAWS) -> Figure:
    """Scott's pi of two raters over the units that both judged, with an interval by resampling problems."""
    return _of_two(these, one, other, draws, None)


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap:
    """Every two raters, each of shape (raters, raters): shared units, percent agreement, kappa; NaN where none."""

    n: Ints
    percent: Floats
    kappa: Floats

    def cell(self, one: int, other: int) -> Figure:
        """One pair's kappa as a figure: n is the overlap, and pages grey out those under 20."""
        n, value = int(self.n[one, other]), float(self.kappa[one, other])
        if np.isfinite(value):
            return Figure(value, n)
        return Figure(None, n, Reason.SINGLE_CATEGORY if n else Reason.NO_OVERLAP)


def heat_map(these: Ratings, weights: Weights = "none") -> HeatMap:
    """Pairwise agreement of all raters from one pass over the pairs of labels of each unit."""
    tables = pairwise_tables(these)
    return HeatMap(
        tables.sum(axis=(-2, -1)).astype(np.int64), percent_values(tables), cohen_values(tables, weights)
    )


def pairwise_tables(these: Ratings) -> Floats:
    """The table of each two raters, of shape (raters, raters, categories, categories); a rater with himself: 0."""
    size = these.n_categories
    people = int(these.rater.max()) + 1 if len(these.rater) else 0
    first, second = pairs(these.unit)
    said = these.rater * size + these.code
    cells = np.bincount(said[first] * (people * size) + said[second], minlength=(people * size) ** 2)
    half = cells.reshape(people, size, people, size).transpose(0, 2, 1, 3)
    return np.asarray(half + half.transpose(1, 0, 3, 2), dtype=np.float64)


def _of_two(these: Ratings, one: int, other: int, draws: int, weights: Weights | None) -> Figure:
    size = these.n_categories
    both, row, column = shared(these, one, other)
    if not len(both):
        return Figure(None, 0, Reason.NO_OVERLAP)
    rows = np.zeros((len(both), size * size))
    rows[np.arange(len(both)), row * size + column] = 1.0

    def combine(sums: Floats) -> Floats:
        tables = sums.reshape(*sums.shape[:-1], size, size)
        return scott_values(tables) if weights is None else cohen_values(tables, weights)

    n = len(np.unique(these.solution[both]))
    return summarise(rows, combine, n, these.problem[both], draws)


def _shares(tables: Floats, weights: Weights) -> tuple[Floats, Floats, Floats]:
    """Cell shares, observed and chance agreement; an empty table has shares of 0."""
    total = tables.sum(axis=(-2, -1), keepdims=True)
    shares = tables / np.maximum(total, 1.0)
    weight = agreement_weights(tables.shape[-1], weights)
    observed = np.asarray((shares * weight).sum(axis=(-2, -1)))
    expected = shares.sum(axis=-1)[..., :, None] * shares.sum(axis=-2)[..., None, :]
    chance = np.asarray((expected * weight).sum(axis=(-2, -1)))
    empty = total[..., 0, 0] == 0
    return shares, np.where(empty, np.nan, observed), chance
