"""Who said what about which unit: long arrays, in which a missing label is simply not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotator.core.intervals import Floats, Ints
from annotator.core.labels import Label

#: The label schema: chance-corrected figures count all three classes, not only those that were used.
STEP_LABELS = (int(Label.INCORRECT), int(Label.NEUTRAL), int(Label.CORRECT))


class InvalidRatings(ValueError):
    """Arrays that do not fit together, or a value outside the schema."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """``unit``, ``rater`` and ``code`` of shape (n,), one entry a label; ``code`` points into the schema.

    ``solution`` and ``problem`` (units,) say where a unit belongs: figures count solutions and resample problems.
    Nobody may have two labels of one unit.
    """

    unit: Ints
    rater: Ints
    code: Ints
    n_categories: int
    solution: Ints
    problem: Ints

    @property
    def n_units(self) -> int:
        return len(self.solution)

    def counts(self) -> Floats:
        """How many raters chose each category of each unit, of shape (units, categories)."""
        flat = np.bincount(
            self.unit * self.n_categories + self.code, minlength=self.n_units * self.n_categories
        )
        return flat.reshape(self.n_units, self.n_categories).astype(np.float64)

    def of(self, keep: npt.NDArray[np.bool_]) -> Ratings:
        """Only the labels where ``keep`` (n,) is true; the units stay."""
        return Ratings(
            self.unit[keep], self.rater[keep], self.code[keep], self.n_categories, self.solution, self.problem
        )

    def recoded(self, codes: Sequence[int]) -> Ratings:
        """Each category replaced by ``codes[category]``: binary codes make a binary figure.

        >>> both = ratings([0, 0], [0, 1], [0, 1])
        >>> both.recoded([0, 1, 1]).code.tolist()  # neutral as correct
        [1, 1]
        """
        table = np.asarray(codes, dtype=np.int64)
        return Ratings(
            self.unit, self.rater, table[self.code], int(table.max()) + 1, self.solution, self.problem
        )


def ratings(
    unit: npt.ArrayLike,
    rater: npt.ArrayLike,
    value: npt.ArrayLike,
    schema: Sequence[int] = STEP_LABELS,
    *,
    solution: npt.ArrayLike | None = None,
    problem: npt.ArrayLike | None = None,
) -> Ratings:
    """Ratings from 0-based unit and rater indices and values of the schema, all of shape (n,).

    ``solution`` and ``problem`` have shape (units,); left out, each unit is its own solution, each solution its own
    problem. Raises InvalidRatings.

    >>> ratings([0, 0, 1], [0, 1, 0], [1, -1, 1]).counts().tolist()
    [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    units, raters, values = (_integers(each) for each in (unit, rater, value))
    if not len(units) == len(raters) == len(values):
        raise InvalidRatings(
            f"{len(units)} units, {len(raters)} raters and {len(values)} values do not pair up"
        )
    order = np.sort(np.asarray(schema, dtype=np.int64))
    codes = np.minimum(np.searchsorted(order, values), len(order) - 1)
    if not np.array_equal(order[codes], values):
        raise InvalidRatings(f"a value is none of {tuple(order.tolist())}")
    n_units = int(units.max()) + 1 if len(units) else 0
    home = np.arange(n_units) if solution is None else _integers(solution)
    cluster = home if problem is None else _integers(problem)
    if len(home) != len(cluster) or len(home) < n_units:
        raise InvalidRatings(f"{n_units} units need as many solutions and problems")
    return Ratings(units, raters, codes, len(order), home, cluster)


def pairs(unit: Ints) -> tuple[Ints, Ints]:
    """Positions (pairs,) of every two labels of one unit, each pair once, from units (n,).

    >>> [each.tolist() for each in pairs(np.array([0, 1, 0, 0]))]
    [[0, 2, 0], [2, 3, 3]]
    """
    ordered = bool(np.all(unit[1:] >= unit[:-1]))
    order = np.arange(len(unit)) if ordered else np.argsort(unit, kind="stable")
    units = unit if ordered else unit[order]
    first, second = [], []
    start = np.flatnonzero(np.ones(len(unit), dtype=np.bool_))
    for lag in range(1, len(unit)):
        start = start[start < len(unit) - lag]
        start = start[units[start] == units[start + lag]]
        if not len(start):
            break
        first.append(order[start])
        second.append(order[start + lag])
    none = np.zeros(0, dtype=np.int64)
    return (np.concatenate(first), np.concatenate(second)) if first else (none, none)


def shared(these: Ratings, one: int, other: int) -> tuple[Ints, Ints, Ints]:
    """The units that raters ``one`` and ``other`` both judged, and what each said; all of shape (units in common,)."""
    said = np.full((2, these.n_units), -1, dtype=np.int64)
    for row, who in enumerate((one, other)):
        mine = these.rater == who
        said[row, these.unit[mine]] = these.code[mine]
    both = np.flatnonzero((said >= 0).all(axis=0))
    return both, said[0, both], said[1, both]


def _integers(values: npt.ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise InvalidRatings(f"expected a row of whole numbers, got shape {array.shape} of {array.dtype}")
    return array.astype(np.int64, copy=False)
