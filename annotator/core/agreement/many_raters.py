"""Agreement among any number of raters, from counts n_uc of raters who put unit u in category c.

A unit's number of labels is r_u. Units with one label tell nothing of agreement, but where a citation lets them
inform how common a category is, they do.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from annotator.core.agreement.measures import Measure
from annotator.core.agreement.ratings import InvalidRatings
from annotator.core.intervals import Floats, divide, ratio, row_sums


def _pair_agreement(counts: Floats) -> tuple[Floats, Floats]:
    """Share of agreeing pairs of each unit, 0 where it has none, and whether it has any; both (units,)."""
    raters = row_sums(counts)
    paired = (raters >= 2).astype(np.float64)
    possible = np.where(raters >= 2, raters * (raters - 1), 1.0)
    return row_sums(counts * (counts - 1)) / possible * paired, paired


def _percent_rows(counts: Floats) -> Floats:
    return np.stack(_pair_agreement(counts), axis=1)


#: Percent agreement: the mean over units of the share of agreeing pairs, p_u = Σ_c n_uc(n_uc - 1) / r_u(r_u - 1).
#: The mean over units (Fleiss 1971; Gwet 2014), not over pooled pairs, so that a crowded unit weighs no more.
PERCENT = Measure(_percent_rows, ratio)


def _fleiss_rows(counts: Floats) -> Floats:
    raters = np.maximum(row_sums(counts)[:, None], 1.0)
    return np.concatenate([_percent_rows(counts), counts / raters], axis=1)


def _fleiss(sums: Floats) -> Floats:
    observed = ratio(sums)
    chance = ((sums[..., 2:] / sums[..., 1:2]) ** 2).sum(axis=-1)
    return divide(observed - chance, 1.0 - chance)


#: Fleiss' kappa, (P - P_e) / (1 - P_e) with P_e = Σ_c p_c². Fleiss 1971, Psychol. Bull. 76:378. Each unit has the
#: same number of raters, else `unequal_raters_use_alpha`; one category alone leaves it undefined. Two raters: Scott.
FLEISS = Measure(_fleiss_rows, _fleiss, equal_raters=True)


def brennan_prediger(n_categories: int) -> Measure:
    """(P - 1/q) / (1 - 1/q) for q categories; PABAK when q = 2; Randolph's free-marginal kappa for many raters.

    Brennan and Prediger 1981; Byrt, Bishop and Carlin 1993. Raises InvalidRatings for fewer than two categories.
    """
    if n_categories < 2:
        raise InvalidRatings("chance agreement needs at least two categories")
    chance = 1.0 / n_categories
    return Measure(_percent_rows, lambda sums: (ratio(sums) - chance) / (1.0 - chance))


PABAK = brennan_prediger(2)


def _gwet_rows(counts: Floats) -> Floats:
    raters = row_sums(counts)[:, None]
    shares = counts / np.maximum(raters, 1.0)
    return np.concatenate([_percent_rows(counts), shares, (raters > 0).astype(np.float64)], axis=1)


def _gwet(sums: Floats) -> Floats:
    shares = sums[..., 2:-1] / sums[..., -1:]
    categories = shares.shape[-1]
    chance = (shares * (1.0 - shares)).sum(axis=-1) / max(categories - 1, 1)
    defined = ratio(sums)
    return np.where(categories > 1, divide(defined - chance, 1.0 - chance), np.nan)


#: Gwet's AC1, (P - P_e) / (1 - P_e) with P_e = Σ_c π_c(1 - π_c) / (q - 1), π_c the mean over units of n_uc / r_u and
#: q the categories of the schema. Gwet 2008, Br. J. Math. Stat. Psychol. 61:29. Missing labels allowed.
AC1 = Measure(_gwet_rows, _gwet)


def ac1_standard_error(counts: Floats) -> float:
    """Standard error of AC1 over units, by linearisation. Gwet 2014, Handbook, eq. 5.3.12.

    v = Σ_u (a_u - AC1)² / n(n - 1), where a_u = n/n'·(p_u - P_e)/(1 - P_e) - 2(1 - AC1)(P_eu - P_e)/(1 - P_e),
    n' counts units with two labels or more (the first term is 0 for others), P_eu = Σ_c (1 - π_c) n_uc/r_u / (q - 1).
    """
    rows = _gwet_rows(counts)
    sums = rows.sum(axis=0)
    value, n, paired = float(_gwet(sums)), sums[-1], sums[1]
    shares = sums[2:-1] / n
    below = len(shares) - 1
    chance = float((shares * (1 - shares)).sum()) / below
    mine = rows[:, 2:-1] @ (1 - shares) / below
    scores = n / paired * (rows[:, 0] - chance * rows[:, 1]) / (1 - chance)
    scores -= 2 * (1 - value) * (mine - chance) / (1 - chance)
    return sqrt(float(((scores - value) ** 2).sum()) / (n * (n - 1)))


def _nominal_rows(counts: Floats) -> Floats:
    agreed, paired = _pair_agreement(counts)
    kept = counts * paired[:, None]
    return np.concatenate([(agreed * row_sums(kept))[:, None], kept], axis=1)


def _nominal(sums: Floats) -> Floats:
    each = sums[..., 1:]
    n = each.sum(axis=-1)
    return np.asarray(1.0 - (n - 1.0) * divide(n - sums[..., 0], n * n - (each**2).sum(axis=-1)))


#: Krippendorff's alpha for categories without order, 1 - (n - 1)(n - Σ_c o_cc) / (n² - Σ_c n_c²) over the labels of
#: units with two or more. Krippendorff 2011, Computing Krippendorff's Alpha-Reliability. Missing labels allowed.
ALPHA = Measure(_nominal_rows, _nominal)


def _coincidences(counts: Floats) -> Floats:
    raters = row_sums(counts)
    weight = np.where(raters >= 2, 1.0 / np.maximum(raters - 1.0, 1.0), 0.0)
    together = counts[:, :, None] * counts[:, None, :]
    places = np.arange(counts.shape[1])
    together[:, places, places] -= counts
    return (together * weight[:, None, None]).reshape(len(counts), -1)


def _ordinal(sums: Floats) -> Floats:
    size = round(sqrt(sums.shape[-1]))
    observed = sums.reshape(*sums.shape[:-1], size, size)
    each = observed.sum(axis=-1)
    middle = np.cumsum(each, axis=-1) - each / 2.0
    apart = (middle[..., :, None] - middle[..., None, :]) ** 2
    expected = (each[..., :, None] * each[..., None, :] * apart).sum(axis=(-2, -1))
    unlike = divide((observed * apart).sum(axis=(-2, -1)), expected)
    return np.asarray(1.0 - (each.sum(axis=-1) - 1.0) * unlike)


#: Krippendorff's alpha for ordered categories: squared distance of the categories' mid-ranks (the same source).
#: For -1 < 0 < +1 it treats neutral as a midpoint, which it is not: pages show both binarisations instead.
ALPHA_ORDINAL = Measure(_coincidences, _ordinal)


def specific(category: int) -> Measure:
    """Specific agreement on a category: given that one rater chose it, the chance that another did too.

    Σ_u n_uc(n_uc - 1) / Σ_u n_uc(r_u - 1). Cicchetti and Feinstein 1990; Uebersax 1982 for many raters.
    """

    def rows(counts: Floats) -> Floats:
        chosen = counts[:, category]
        return np.stack([chosen * (chosen - 1), chosen * (row_sums(counts) - 1)], axis=1)

    return Measure(rows, ratio)
