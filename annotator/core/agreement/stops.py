"""Agreement on where the first error is: the headline of `first_error`.

Steps after a stop are undefined, so step figures flatter; the unit is the stop. It is counted in *judged* steps:
context takes no label, so it is no place to stop (`judged_place`). Only first, independent, counted, uncensored
annotations of the audit prefix and the holdout should enter; leaving the others out is the caller's part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annotator.core.agreement.many_raters import AC1, specific
from annotator.core.agreement.measures import figure, summarise
from annotator.core.agreement.ratings import InvalidRatings, Ratings, pairs, ratings
from annotator.core.intervals import DRAWS, Figure, Floats, Ints, Reason, divide, ratio, totals
from annotator.core.labels import NO_ERROR

Combine = Callable[[Floats], Floats]

#: Codes of `has_error`.
SOUND, ERRONEOUS = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class Stops:
    """``unit``, ``rater``, ``stop`` of shape (n,), one entry an annotation; a stop is -1 or a judged step's place.

    ``n_steps``, ``solution``, ``problem`` have shape (units,). A unit is a solution, or one person's
    annotation beside gold.
    """

    unit: Ints
    rater: Ints
    stop: Ints
    n_steps: Ints
    solution: Ints
    problem: Ints

    def has_error(self) -> Ratings:
        """The same annotations as a yes or no: is there any incorrect step?"""
        says = (self.stop != NO_ERROR).astype(np.int64)
        return Ratings(self.unit, self.rater, says, 2, self.solution, self.problem)


@dataclass(frozen=True, slots=True)
class StopAgreement:
    """``exact`` is the headline, ``chance`` what shuffled annotations reach, ``corrected`` the share of what chance
    leaves. The rest stand beside it: see the functions of the same names."""

    exact: Figure
    chance: Figure
    corrected: Figure
    within_one: Figure
    has_error_ac1: Figure
    has_error_specific: Figure
    same_error: Figure


def judged_place(stop: int, judged: Sequence[bool]) -> int:
    """A stop over all steps as a place among the judged ones; -1 stays.

    >>> judged_place(3, [True, False, True, True])
    2
    """
    return NO_ERROR if stop == NO_ERROR else sum(judged[:stop])


def stops(
    unit: npt.ArrayLike,
    rater: npt.ArrayLike,
    stop: npt.ArrayLike,
    n_steps: npt.ArrayLike,
    problem: npt.ArrayLike | None = None,
) -> Stops:
    """Stops from 0-based solutions and raters (n,), stops (n,), and each solution's judged steps and problem.

    Raises InvalidRatings for a stop that its solution does not have.
    """
    steps = np.asarray(n_steps, dtype=np.int64)
    home = np.arange(len(steps))
    checked = ratings(unit, rater, stop, range(NO_ERROR, int(steps.max(initial=0))), solution=home)
    places = checked.code + NO_ERROR
    if bool((places >= steps[checked.unit]).any()):
        raise InvalidRatings("a stop lies behind its solution's last judged step")
    cluster = home if problem is None else np.asarray(problem, dtype=np.int64)
    if len(cluster) != len(steps):
        raise InvalidRatings(f"{len(steps)} solutions need as many problems")
    return Stops(checked.unit, checked.rater, places, steps, home, cluster)


def stop_agreement(these: Stops, draws: int = DRAWS) -> StopAgreement:
    """The headline figures of one set of annotations."""
    yes_or_no = these.has_error()
    return StopAgreement(
        exact(these, draws),
        chance(these, draws),
        corrected(these, draws),
        within_one(these, draws),
        figure(yes_or_no, AC1, draws),
        figure(yes_or_no, specific(ERRONEOUS), draws),
        same_error(these, draws),
    )


def exact(these: Stops, draws: int = DRAWS) -> Figure:
    """Mean over units of the share of pairs with the same stop, none included."""
    return _of_units(these, _agreeing(these, 0)[:, :2], ratio, draws)


def within_one(these: Stops, draws: int = DRAWS) -> Figure:
    """As `exact`, but two errors one judged step apart count as the same. A side figure."""
    return _of_units(these, _agreeing(these, 1)[:, :2], ratio, draws)


def chance(these: Stops, draws: int = DRAWS) -> Figure:
    """What `exact` would be if annotations were permuted among solutions with the same number of steps.

    In closed form: of the N annotations of L steps, c_s stop at s; after a random permutation any two places of a
    unit agree with probability Σ_s c_s(c_s - 1) / N(N - 1). The mean over units of that.
    """
    return _of_units(these, _agreeing(these, 0)[:, [2, 1]], ratio, draws)


def corrected(these: Stops, draws: int = DRAWS) -> Figure:
    """(exact - chance) / (1 - chance): the share of what chance leaves. Resampling keeps the pool of stops fixed.

    A length with one solution alone has nothing to be permuted with, so it adds as much to chance as to agreement.
    """
    return _of_units(these, _agreeing(these, 0), _excess, draws)


def same_error(these: Stops, draws: int = DRAWS) -> Figure:
    """Specific agreement on errors: given that one annotator stops at a step, the chance that another stops there.

    Over pairs: 2·(both stop, at the same step) / Σ stops of either. Dice 1945; Uebersax 1982.
    """
    first, second = pairs(these.unit)
    one, other = these.stop[first], these.stop[second]
    same = 2.0 * ((one == other) & (one != NO_ERROR))
    said = (one != NO_ERROR).astype(np.float64) + (other != NO_ERROR)
    where = these.unit[first]
    size = len(these.solution)
    rows = np.stack([totals(where, each, size) for each in (same, said)], axis=1)
    return _of_units(these, rows, ratio, draws)


def beside_gold(these: Stops, acceptable: Sequence[frozenset[int]]) -> Stops:
    """Each annotation of a gold solution as a unit of its own: rater 0 the person, rater 1 gold.

    ``acceptable`` (solutions,) holds the acceptable stops, in judged places, empty where a solution is not gold.
    Where several are acceptable gold sides with the person if it can, else it takes the first error of its set.
    So every figure here can also be had against gold.

    >>> both = beside_gold(stops([0, 0, 1], [0, 1, 0], [2, -1, 0], [4, 4]), [frozenset({2, 3}), frozenset()])
    >>> both.stop.tolist(), both.rater.tolist()
    ([2, 2, -1, 2], [0, 1, 0, 1])
    """
    kept = np.array([bool(acceptable[at]) for at in these.unit.tolist()], dtype=np.bool_)
    home, said = these.unit[kept], these.stop[kept]
    rows = zip(said.tolist(), home.tolist(), strict=True)
    gold = [stop if stop in acceptable[at] else _first(acceptable[at]) for stop, at in rows]
    units = np.arange(len(home))
    return Stops(
        np.repeat(units, 2),
        np.tile(np.array([0, 1]), len(home)),
        np.stack([said, np.array(gold, dtype=np.int64)], axis=1).ravel(),
        these.n_steps[home],
        these.solution[home],
        these.problem[home],
    )


def only(these: Stops, keep: npt.NDArray[np.bool_]) -> Stops:
    """The annotations of units where ``keep`` (units,) is true: between people on gold, or one group of a report."""
    mine = keep[these.unit]
    return replace(these, unit=these.unit[mine], rater=these.rater[mine], stop=these.stop[mine])


def _first(acceptable: frozenset[int]) -> int:
    errors = [stop for stop in acceptable if stop != NO_ERROR]
    return min(errors) if errors else NO_ERROR


def _agreeing(these: Stops, tolerance: int) -> Floats:
    """Per unit: share of agreeing pairs, 1 where it has pairs, chance agreement there; (units, 3)."""
    first, second = pairs(these.unit)
    one, other = these.stop[first], these.stop[second]
    close = (one == other) | ((np.abs(one - other) <= tolerance) & (one != NO_ERROR) & (other != NO_ERROR))
    size = len(these.solution)
    possible = np.bincount(these.unit[first], minlength=size)
    agreed = totals(these.unit[first], close.astype(np.float64), size)
    paired = (possible > 0).astype(np.float64)
    expected = _chance_by_length(these)[these.n_steps] * paired
    return np.stack([agreed / np.maximum(possible, 1), paired, expected], axis=1)


def _chance_by_length(these: Stops) -> Floats:
    """Chance agreement of two annotations by the number of steps, of shape (longest + 1,)."""
    longest = int(these.n_steps.max(initial=0))
    length = these.n_steps[these.unit]
    width = longest + 2
    tally = np.bincount(length * width + these.stop + 1, minlength=(longest + 1) * width)
    each = tally.reshape(longest + 1, width).astype(np.float64)
    total = each.sum(axis=1)
    return np.asarray((each * (each - 1)).sum(axis=1) / np.maximum(total * (total - 1), 1.0))


def _excess(sums: Floats) -> Floats:
    return divide(sums[..., 0] - sums[..., 2], sums[..., 1] - sums[..., 2])


def _of_units(these: Stops, rows: Floats, combine: Combine, draws: int) -> Figure:
    times = np.bincount(these.unit, minlength=len(these.solution))
    if not times.any():
        return Figure(None, 0, Reason.NO_DATA)
    if not (times >= 2).any():
        return Figure(None, 0, Reason.NO_PAIRABLE_UNITS)
    n = len(np.unique(these.solution[times >= 2]))
    return summarise(rows, combine, n, these.problem, draws)
