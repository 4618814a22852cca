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

import numpy as np
import numpy.typing as npt

from annotator.core.uncertainty import Values, aggregate

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: Least share of a stream that is expected to be free of errors.
SOUND_SHARE = 0.4
#: Chance of a right final answer after an error. In ProcessBench (Zheng et al. 2024) .03 on gsm8k, .16 on math.
RIGHT_BY_LUCK = 0.1
#: Places between two near-duplicates, and how far ahead another solution is looked for.
APART = 20
LOOKAHEAD = 64


class Strategy(StrEnum):
    """UNCERTAINTY: what the scorer is least sure of. CONVINCING_WRONG: a high score and a wrong final answer, as in
    PRM800K (Lightman et al. 2023, section 2.4). DISAGREEMENT: where scorers differ. COVERAGE: strata in turn, so
    that breadth is not lost. RANDOM: by lot."""

    UNCERTAINTY = "uncertainty"
    CONVINCING_WRONG = "convincing_wrong"
    DISAGREEMENT = "disagreement"
    COVERAGE = "coverage"
    RANDOM = "random"


STRATEGIES = tuple(Strategy)


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
    which also decides ties. ``certain``: needs no label by `uncertainty.is_certain`.
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
    """``order``: indices into the pool, first to last, each once. ``strategy``: which strategy put it there, by its
    place in `STRATEGIES`. ``left_out``: how many need no label. Both arrays have shape (n - left_out,)."""

    order: Ints
    strategy: Ints
    left_out: int = 0

    def priorities(self, size: int) -> Floats:
        """For each of the pool's solutions a number in [0, 1], highest first; -1 for what was left out."""
        priority = np.full(size, -1.0)
        priority[self.order] = 1.0 - np.arange(len(self.order)) / max(len(self.order), 1)
        return priority


def preference(pool: Pool, strategy: Strategy) -> Ints:
    """The solutions that a strategy may choose, its first choice first. Ties go by lot.

    Without a score, uncertainty and disagreement have no opinion; convincing wrong needs a wrong answer and a score.
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
    """The order in which solutions are handed out. About 10 s for a million on one core.

    At each place the strategy chooses that is furthest behind its share; where the mean of ``sound`` could fall
    below ``sound_share``, it chooses among the solutions that lie above. A strategy that has nothing (left) to offer
    passes its turn on; what no strategy may choose follows by lot.

    After ``places`` the rest follows plainly by uncertainty, then by lot: where a queue is ranked anew long before
    people get that far, a million takes 3 s with 50,000 places.
    """
    offered = ~pool.certain if mixture.skip_certain else np.ones(len(pool), dtype=np.bool_)
    shares = mixture.shares()
    turns = _Turns(_lines(pool, mixture, offered), shares)
    stream = _Stream(pool, mixture.apart)
    sound: list[float] = pool.sound.astype(np.float64).tolist()
    taken: list[int] = []
    by: list[int] = []
    sound_so_far = 0.0
    careful = int(offered.sum()) if places is None else min(places, int(offered.sum()))
    for place in range(careful):
        needs_sound = sound_so_far + 1e-9 < mixture.sound_share * (place + 1)
        strategy, item = turns.next(stream, needs_sound)
        stream.take(item, place)
        sound_so_far += sound[item]
        taken.append(item)
        by.append(STRATEGIES.index(strategy))
    rest, rest_by = _plainly(pool, offered, taken)
    order = np.r_[np.array(taken, dtype=np.int64), rest]
    return Ranked(order, np.r_[np.array(by, dtype=np.int64), rest_by], len(pool) - len(order))


def _plainly(pool: Pool, offered: Bools, taken: Sequence[int]) -> tuple[Ints, Ints]:
    """What is offered and not taken yet: by uncertainty, then by lot; and the strategies' places."""
    left = offered.copy()
    left[np.array(taken, dtype=np.int64)] = False
    unsure = preference(pool, Strategy.UNCERTAINTY)
    unsure = unsure[left[unsure]]
    left[unsure] = False
    unknown = np.flatnonzero(left)
    unknown = unknown[np.argsort(pool.shuffle[unknown], kind="stable")]
    by = np.repeat(
        [STRATEGIES.index(Strategy.UNCERTAINTY), STRATEGIES.index(Strategy.RANDOM)],
        [len(unsure), len(unknown)],
    )
    return np.r_[unsure, unknown], by


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
    for index, right in enumerate(answers):
        if right is not None:
            p = found[index]
            found[index] = p / (p + (1.0 - p) * right_by_luck) if right and p > 0.0 else 0.0
    return found


class _Stream:
    """What has been handed out: which solutions, and where each group came last."""

    def __init__(self, pool: Pool, apart: int) -> None:
        codes = np.unique(pool.group, return_inverse=True)[1] if len(pool) else pool.group
        self._group: list[int] = codes.tolist()
        self._last = [-apart - 1] * (max(self._group, default=-1) + 1)
        self._apart = apart
        self._place = 0
        self.taken = bytearray(len(pool))

    def take(self, item: int, place: int) -> None:
        self.taken[item] = 1
        self._last[self._group[item]] = place
        self._place = place + 1

    def stands_apart(self, item: int) -> bool:
        return self._place - self._last[self._group[item]] > self._apart


class _Line:
    """One strategy's solutions of one kind, in order of preference, each with its place in the whole preference."""

    def __init__(self, items: Ints, places: Ints) -> None:
        self._items: list[int] = items.tolist()
        self._places: list[int] = places.tolist()
        self._start = 0

    def first(self, stream: _Stream) -> tuple[int, int] | None:
        """Place and item of the first that stands apart from its like, else of the first that is left."""
        items, taken = self._items, stream.taken
        while self._start < len(items) and taken[items[self._start]]:
            self._start += 1
        if self._start == len(items):
            return None
        for at in range(self._start, min(self._start + LOOKAHEAD, len(items))):
            if not taken[items[at]] and stream.stands_apart(items[at]):
                return self._places[at], items[at]
        return self._places[self._start], items[self._start]


#: A strategy's solutions: those that keep the share of sound ones up, and the others.
_Lines = dict[Strategy, tuple[_Line, _Line]]


def _lines(pool: Pool, mixture: Mixture, offered: Bools) -> _Lines:
    """Lines of the strategies that have a share, and by lot for what they leave over."""
    lines: _Lines = {}
    keeps_up = pool.sound >= mixture.sound_share
    for strategy in dict.fromkeys((*mixture.shares(), Strategy.RANDOM)):
        items = preference(pool, strategy)
        items = items[offered[items]]
        places, sound = np.arange(len(items)), keeps_up[items]
        lines[strategy] = (_Line(items[sound], places[sound]), _Line(items[~sound], places[~sound]))
    return lines


class _Turns:
    """Whose turn it is: the strategy furthest behind its share among those that have something to offer."""

    def __init__(self, lines: _Lines, shares: Mapping[Strategy, float]) -> None:
        self._lines = lines
        self._shares = dict(shares)
        self._due = {strategy: 0.0 if strategy in shares else -np.inf for strategy in lines}

    def next(self, stream: _Stream, needs_sound: bool) -> tuple[Strategy, int]:
        """The strategy and its solution. When nothing sound is left anywhere, the need for it lapses."""
        total = sum(self._shares.values()) or 1.0
        for strategy, share in self._shares.items():
            self._due[strategy] += share / total
        by_turn = sorted(self._due, key=self._due.__getitem__, reverse=True)
        offers = ((one, self._offer(one, stream, needs_sound)) for one in by_turn)
        found = next((offer for offer in offers if offer[1] is not None), None)
        if found is None:
            offers = ((one, self._offer(one, stream, False)) for one in by_turn if one in self._due)
            found = next(offer for offer in offers if offer[1] is not None)
        strategy, item = found
        assert item is not None
        self._due[strategy] -= 1.0
        return strategy, item

    def _offer(self, strategy: Strategy, stream: _Stream, only_sound: bool) -> int | None:
        """The strategy's solution, if it has one. One that has none of any kind is out, and the others share."""
        sound, other = (line.first(stream) for line in self._lines[strategy])
        if sound is None and other is None:
            self._shares.pop(strategy, None)
            self._due.pop(strategy)
            return None
        found = sound if only_sound else min(one for one in (sound, other) if one is not None)
        return None if found is None else found[1]
