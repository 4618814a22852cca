"""Which solutions people see first: strategies, mixtures of them, and what every stream must keep.

Arithmetic on arrays, no database. A `Pool` describes n solutions, one entry each; `rank` orders them. Three things
hold for every beginning of the order, as long as the pool can provide: strategies take turns by their weights, at
least a given share is expected to be free of errors (else people learn that everything is wrong), and
near-duplicates stand apart, so that nobody meets one right after another person did. Siblings for one person are
the claim's matter, not the order's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

import numpy as np
import numpy.typing as npt

from annotator.core.intervals import divide
from annotator.core.turns import Line, Stream, Turns
from annotator.core.uncertainty import Values, aggregate
from annotator.core.worth import RIGHT_BY_LUCK

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: Least share of a stream that is expected to be free of errors.
SOUND_SHARE = 0.4
#: Places between two near-duplicates.
APART = 20


class Strategy(StrEnum):
    """UNCERTAINTY: what the scorer is least sure of. CONVINCING_WRONG: a high score and a wrong final answer, as in
    PRM800K (Lightman et al. 2023, section 2.4). DISAGREEMENT: where scorers differ. COVERAGE: strata in turn, so
    that breadth is not lost. RANDOM: by lot. For each step that a person will probably judge (`worth`): MISTAKES, how
    many the scorer misjudges; GAIN, whether its first error is wrong; LEARNING, what labels tell of its numbers."""

    UNCERTAINTY = "uncertainty"
    CONVINCING_WRONG = "convincing_wrong"
    DISAGREEMENT = "disagreement"
    COVERAGE = "coverage"
    RANDOM = "random"
    MISTAKES = "mistakes"
    GAIN = "gain"
    LEARNING = "learning"


STRATEGIES = tuple(Strategy)
#: What else puts a solution in its place: the floor of those free of errors, and a near-duplicate just before it.
ERROR_FREE, KEPT_APART = "error_free", "kept_apart"
#: All that may have put a solution in its place.
NAMES = (*(one.value for one in STRATEGIES), ERROR_FREE, KEPT_APART)
_PLACES = {name: place for place, name in enumerate(NAMES)}


class InvalidPool(ValueError):
    """Arrays that don't describe one set of solutions."""


class InvalidMixture(ValueError):
    """Weights or shares that make no order, in a sentence for people."""


@dataclass(frozen=True, slots=True)
class Pool:
    """n solutions; every array has shape (n,).

    ``uncertainty`` and its ``tiebreak``: higher is less sure; NaN where there is no score yet. ``trajectory``: the
    scorer's value of the whole solution, in [0, 1] or NaN. ``answer_wrong``: the final answer is known to be wrong.
    ``disagreement``: NaN where fewer than two scorers speak. ``sound``: the probability in [0, 1] that it is free of
    errors, 0 where unknown. ``stratum``: a code for (domain, subject, generator), and ``done``: how many of that
    stratum are labelled already. ``group``: a code that near-duplicates share. ``shuffle``: a lot drawn in [0, 1),
    which also decides ties. ``certain``: needs no label by `uncertainty.is_certain`. ``mistakes``, ``gain`` and
    ``learning``: what judging it is worth by step, by `worth`; NaN where nobody asked, or there is no score.
    """

    uncertainty: Floats
    tiebreak: Floats
    trajectory: Floats
    answer_wrong: Bools
    disagreement: Floats
    sound: Floats
    stratum: Ints
    done: Ints
    group: Ints
    shuffle: Floats
    certain: Bools
    mistakes: Floats
    gain: Floats
    learning: Floats

    def __post_init__(self) -> None:
        shapes = {getattr(self, name).shape for name in self.__slots__}
        if len(shapes) != 1 or len(next(iter(shapes))) != 1:
            raise InvalidPool(f"all arrays of a pool have one shape (n,), got {sorted(shapes)}")
        if not bool(np.all((self.shuffle >= 0.0) & (self.shuffle < 1.0))):
            raise InvalidPool("a shuffle lies in [0, 1)")
        if not bool(np.all((self.sound >= 0.0) & (self.sound <= 1.0))):
            raise InvalidPool("a probability of being sound lies between 0 and 1")

    def __len__(self) -> int:
        return len(self.shuffle)


@dataclass(frozen=True, slots=True)
class Mixture:
    """How a queue is filled: weights of strategies (they are scaled to sum 1), the least share of solutions that is
    expected to be free of errors (their mean probability), and how far near-duplicates stand apart.
    ``skip_certain`` leaves out what needs no label."""

    weights: Mapping[Strategy, float] = field(default_factory=lambda: {Strategy.UNCERTAINTY: 1.0})
    sound_share: float = SOUND_SHARE
    apart: int = APART
    skip_certain: bool = False

    def __post_init__(self) -> None:
        if not self.weights or not all(0.0 <= weight < float("inf") for weight in self.weights.values()):
            raise InvalidMixture("A weight is a number, zero or more.")
        if sum(self.weights.values()) <= 0.0:
            raise InvalidMixture("At least one strategy needs a weight above zero.")
        if not 0.0 <= self.sound_share < 1.0 or self.apart < 0:
            raise InvalidMixture("The share expected to be free of errors lies between 0 and 1.")

    def shares(self) -> dict[Strategy, float]:
        """Weights above zero, scaled to sum 1, in the order of the strategies."""
        total = sum(self.weights.values())
        return {one: self.weights[one] / total for one in STRATEGIES if self.weights.get(one, 0.0) > 0.0}


@dataclass(frozen=True, slots=True)
class Ranked:
    """``order``: indices into the pool, first to last, each once. ``strategy``: what put it there, by its place in
    `NAMES`, which begin with the strategies. Both have shape (n - left_out,). ``left_out``: how many need no label."""

    order: Ints
    strategy: Ints
    left_out: int = 0


def preference(pool: Pool, strategy: Strategy) -> Ints:
    """The solutions that a strategy may choose, its first choice first. Ties go by lot.

    Without a score, uncertainty, disagreement and the worths have no opinion; convincing wrong needs a wrong answer
    and a score.
    """
    keys: tuple[Floats, ...] = (pool.shuffle,)
    known = np.ones(len(pool), dtype=np.bool_)
    match strategy:
        case Strategy.UNCERTAINTY:
            known = ~np.isnan(pool.uncertainty)
            keys = (pool.shuffle, -np.nan_to_num(pool.tiebreak), -pool.uncertainty)
        case Strategy.CONVINCING_WRONG:
            known = pool.answer_wrong & ~np.isnan(pool.trajectory)
            keys = (pool.shuffle, -pool.trajectory)
        case Strategy.DISAGREEMENT:
            known = ~np.isnan(pool.disagreement)
            keys = (pool.shuffle, -pool.disagreement)
        case Strategy.COVERAGE:
            keys = (pool.shuffle, (places_in_stratum(pool) + pool.done).astype(np.float64))
        case Strategy.MISTAKES | Strategy.GAIN | Strategy.LEARNING:
            worth = getattr(pool, strategy.value)
            known, keys = ~np.isnan(worth), (pool.shuffle, -worth)
        case Strategy.RANDOM:
            pass
    chosen = np.flatnonzero(known)
    return chosen[np.lexsort([key[chosen] for key in keys])]


def places_in_stratum(pool: Pool) -> Ints:
    """Each solution's place, from 0, among those of its stratum, by lot: shape (n,).

    Taking places in turn gives each stratum the same number (equal allocation; Cochran 1977, 5.6).
    """
    order = np.lexsort((pool.shuffle, pool.stratum))
    strata = pool.stratum[order]
    first = np.r_[True, strata[1:] != strata[:-1]] if len(strata) else np.zeros(0, dtype=np.bool_)
    starts = np.maximum.accumulate(np.where(first, np.arange(len(strata)), 0))
    places = np.empty(len(pool), dtype=np.int64)
    places[order] = np.arange(len(strata)) - starts
    return places


def rank(pool: Pool, mixture: Mixture, *, places: int | None = None) -> Ranked:
    """The order in which solutions are handed out. About 3 s for a million on one core.

    At each place the strategy chooses that is furthest behind its share. Where its choice would bring the mean of
    ``sound`` below ``sound_share``, the least certain solution that lies above is put in between (ERROR_FREE), and the
    strategy chooses at the next place; where the choices keep the share up by themselves, nothing is put in between.
    What either passes over because its like has just come is KEPT_APART. So what stands there for uncertainty's
    sake, or for the floor's, comes strictly from the least certain to the most. A strategy that has nothing (left) to
    offer passes its turn on; what no strategy may choose follows by lot.

    After ``places`` the rest follows plainly by uncertainty, then by lot.
    """
    offered = ~pool.certain if mixture.skip_certain else np.ones(len(pool), dtype=np.bool_)
    total = int(offered.sum())
    filling = _Filling(pool, mixture, offered)
    filling.fill(total if places is None else min(places, total))
    rest, rest_by = _plainly(pool, offered, filling.order)
    order = np.r_[np.array(filling.order, dtype=np.int64), rest]
    return Ranked(order, np.r_[np.array(filling.by, dtype=np.int64), rest_by], len(pool) - len(order))


class _Filling:
    """An order as it grows: ``order`` and, by their place in NAMES, what put each item there."""

    def __init__(self, pool: Pool, mixture: Mixture, offered: Bools) -> None:
        codes = np.unique(pool.group, return_inverse=True)[1] if len(pool) else pool.group
        self._stream = Stream(codes.tolist(), mixture.apart)
        self._turns = Turns({one.value: share for one, share in mixture.shares().items()})
        self._line = partial(_line, pool, offered)
        self._lines = {one.value: self._line(one) for one in mixture.shares()}
        keeps_up = offered & (pool.sound >= mixture.sound_share)
        self._floor = Line(_least_certain_first(pool, keeps_up).tolist() if mixture.sound_share else [])
        self._share, self._sound = mixture.sound_share, pool.sound.tolist()
        self._unsure = pool.uncertainty.tolist()
        self._so_far, self._least = 0.0, {Strategy.UNCERTAINTY.value: np.inf, ERROR_FREE: np.inf}
        self.order: list[int] = []
        self.by: list[int] = []

    def fill(self, places: int) -> None:
        """So many items more. There must be so many. One loop, since a million calls of anything take a while."""
        turns, stream, share = self._turns, self._stream, self._share
        sound, unsure, least = self._sound, self._unsure, self._least
        order, by, so_far = self.order, self.by, self._so_far
        for place in range(len(order) + 1, len(order) + places + 1):
            name, item = self._choice()
            instead = None
            if share * place - 1e-9 > so_far + sound[item]:
                instead = self._floor.forward(stream)
            if instead is not None and instead != item:
                name, item = ERROR_FREE, instead
            elif turns.several:
                turns.had(name)
            if name in least:
                if unsure[item] > least[name]:
                    name = KEPT_APART
                else:
                    least[name] = unsure[item]
            stream.take(item)
            so_far += sound[item]
            order.append(item)
            by.append(_PLACES[name])
        self._so_far = so_far

    def _choice(self) -> tuple[str, int]:
        """Whose turn it is, and what it chooses."""
        while (name := self._turns.next()) is not None:
            found = self._lines[name].first(self._stream)
            if found is not None:
                return name, found
            self._turns.drop(name)
        if Strategy.RANDOM.value not in self._lines:  # seldom asked for, and as long as the pool
            self._lines[Strategy.RANDOM.value] = self._line(Strategy.RANDOM)
        found = self._lines[Strategy.RANDOM.value].first(self._stream)
        assert found is not None
        return Strategy.RANDOM.value, found


def _line(pool: Pool, offered: Bools, strategy: Strategy) -> Line:
    items = preference(pool, strategy)
    return Line(items[offered[items]].tolist())


def _plainly(pool: Pool, offered: Bools, taken: Sequence[int]) -> tuple[Ints, Ints]:
    """What is offered and not taken yet: by uncertainty, then by lot; and the strategies' places."""
    left = offered.copy()
    left[np.array(taken, dtype=np.int64)] = False
    if not left.any():
        return (np.zeros(0, dtype=np.int64),) * 2
    items = _least_certain_first(pool, left)
    unsure = int((left & ~np.isnan(pool.uncertainty)).sum())
    codes = [STRATEGIES.index(Strategy.UNCERTAINTY), STRATEGIES.index(Strategy.RANDOM)]
    return items, np.repeat(codes, [unsure, len(items) - unsure])


def _least_certain_first(pool: Pool, chosen: Bools) -> Ints:
    """These solutions by uncertainty, then those without a score by lot."""
    unsure = preference(pool, Strategy.UNCERTAINTY)
    unknown = np.flatnonzero(chosen & np.isnan(pool.uncertainty))
    by_lot = unknown[np.argsort(pool.shuffle[unknown], kind="stable")]
    return np.concatenate([unsure[chosen[unsure]], by_lot])


def expected_sound(
    values: Sequence[Values], answers: Sequence[bool | None], right_by_luck: float = RIGHT_BY_LUCK
) -> Floats:
    """Probability that each solution is free of errors, from its values and whether its answer is right. Shape (n,).

    P = the product of the values. 0 where the answer is wrong; P / (P + (1 - P) q) where it is right, by Bayes, with
    q = ``right_by_luck`` the chance of a right answer after an error; P where nobody knows (None). Right for
    calibrated values; where a scorer's aren't, calibrate them on audit items first. 0 without judged steps.

    >>> expected_sound([[0.9, None, 0.5], [0.9], [0.5]], [None, False, True], right_by_luck=0.25).tolist()
    [0.45, 0.0, 0.8]
    """
    found = np.array([aggregate(row) or 0.0 for row in values])
    known = np.array([-1 if right is None else int(right) for right in answers], dtype=np.int64)
    return by_answer(found, known, right_by_luck)


def by_answer(sound: Floats, answer: Ints, right_by_luck: float = RIGHT_BY_LUCK) -> Floats:
    """`expected_sound` from the products of the values (n,) and the answers: 1 right, 0 wrong, -1 unknown (n,).

    >>> by_answer(np.array([0.45, 0.9, 0.5]), np.array([-1, 0, 1]), right_by_luck=0.25).tolist()
    [0.45, 0.0, 0.8]
    """
    likelier = divide(sound, sound + (1.0 - sound) * right_by_luck)
    return np.where(answer == 0, 0.0, np.where(answer == 1, np.nan_to_num(likelier), sound))
