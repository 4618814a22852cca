"""Consensus of `all_steps`: each step's class, from people with a confusion matrix each. Missing labels are normal.

Dawid and Skene 1979, Appl. Stat. 28:20: labels of one step are independent given its true class. With Dirichlet
priors (pseudo-counts) on the rows, drawn towards the pooled matrix, so that a newcomer is taken for an average
person and no probability is 0. Gold clamps the classes that it rules out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotator.core.agreement.ratings import Ratings
from annotator.core.intervals import Floats, Ints, Reason, totals

#: A row of a person's matrix counts as if this many of that class had been judged as people do on the whole.
PSEUDO_LABELS = 10.0
#: Pseudo-counts of the pooled matrix: mostly right, so that classes keep their meaning.
_RIGHT, _WRONG = 8.0, 1.0
_TINY = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class DawidSkene:
    """``posterior`` (units, categories), 0 in units without labels; ``prior`` (categories,); ``confusion``
    (raters, true, said); ``quality`` (raters,) the probability of a right label, NaN with ``reason`` where no unit
    is shared, since then nothing but the labels themselves can come back."""

    posterior: Floats
    prior: Floats
    confusion: Floats
    quality: Floats
    iterations: int
    reason: Reason | None = None

    def best(self) -> tuple[Ints, Floats]:
        """The likeliest code and its posterior; -1 where nothing is known or the top is tied (to 1e-9)."""
        ranked = np.sort(self.posterior, axis=1)
        tied = ranked[:, -1] - ranked[:, -2] < 1e-9
        return np.where(tied, -1, self.posterior.argmax(axis=1)), ranked[:, -1]


def dawid_skene(
    these: Ratings,
    n_raters: int,
    gold: npt.NDArray[np.integer] | None = None,
    *,
    pseudo: float = PSEUDO_LABELS,
    max_iterations: int = 50,
    tolerance: float = 1e-3,
) -> DawidSkene:
    """Posteriors by EM, started at vote shares; stops when no person's matrix moves by ``tolerance``.

    ``gold`` (units,) holds masks of acceptable codes (bit c for code c), 0 where a unit is not gold.
    ``pseudo`` = 0 is the maximum likelihood of 1979.
    """
    counts = these.counts()
    allowed = _allowed(gold, counts.shape)
    posterior = _normalised((counts if gold is None else counts + _TINY) * allowed)
    posterior *= (counts.sum(axis=1) > 0)[:, None]
    said = these.rater * these.n_categories + these.code
    shared = bool((counts.sum(axis=1) >= 2).any()) or gold is not None
    confusion = _confusion(said, these, posterior, n_raters, pseudo)
    iteration = 0
    prior = _class_prior(posterior, pseudo)
    while shared and iteration < max_iterations:
        iteration += 1
        posterior = _expect(said, these, confusion, prior, allowed)
        prior = _class_prior(posterior, pseudo)
        new = _confusion(said, these, posterior, n_raters, pseudo)
        moved = float(np.abs(new - confusion).max(initial=0.0))
        confusion = new
        if moved < tolerance:
            break
    right = np.einsum("rkk,k->r", confusion, prior)
    quality = right if shared else np.full(n_raters, np.nan)
    return DawidSkene(posterior, prior, confusion, quality, iteration, None if shared else Reason.NO_OVERLAP)


def _allowed(gold: npt.NDArray[np.integer] | None, shape: tuple[int, ...]) -> Floats:
    if gold is None:
        return np.ones(shape)
    masks = np.where(gold == 0, (1 << shape[1]) - 1, gold)
    return ((masks[:, None] >> np.arange(shape[1])[None, :]) & 1).astype(np.float64)


def _normalised(rows: Floats) -> Floats:
    total = rows @ np.ones(rows.shape[1])
    return rows / np.where(total > 0, total, 1.0)[:, None]


def _class_prior(posterior: Floats, pseudo: float) -> Floats:
    mass = posterior.sum(axis=0) + (1.0 if pseudo else 0.0)
    return np.asarray(mass / max(float(mass.sum()), _TINY))


def _expect(said: Ints, these: Ratings, confusion: Floats, prior: Floats, allowed: Floats) -> Floats:
    """P(class | labels): prior times each label's likelihood, in logarithms, of shape (units, categories)."""
    raters, size, _ = confusion.shape
    likelihood = np.log(np.maximum(confusion, _TINY)).transpose(1, 0, 2).reshape(size, raters * size)
    scores = np.stack([totals(these.unit, each[said], these.n_units) for each in likelihood], axis=1)
    scores += np.log(np.maximum(prior, _TINY))
    scores -= scores.max(axis=1, keepdims=True)
    labelled = np.bincount(these.unit, minlength=these.n_units) > 0
    return _normalised(np.maximum(np.exp(scores), 1e-300) * allowed) * labelled[:, None]


def _confusion(said: Ints, these: Ratings, posterior: Floats, n_raters: int, pseudo: float) -> Floats:
    """Expected counts (raters, true, said), drawn towards the pooled matrix by ``pseudo`` labels a row."""
    size = these.n_categories
    columns = [totals(said, each[these.unit], n_raters * size) for each in posterior.T]
    counts = np.stack(columns, axis=0).reshape(size, n_raters, size).transpose(1, 0, 2)
    if not pseudo:
        return np.asarray(np.maximum(counts, _TINY) / np.maximum(counts, _TINY).sum(axis=2, keepdims=True))
    pooled = counts.sum(axis=0) + _WRONG + (_RIGHT - _WRONG) * np.eye(size)
    pooled /= pooled.sum(axis=1, keepdims=True)
    drawn = counts + pseudo * pooled
    return np.asarray(drawn / drawn.sum(axis=2, keepdims=True))
