"""Whether a person may go on: a Bernoulli CUSUM on gold items, and what its alarms lead to.

The statistic S starts at 0. Each right item adds ln(p1/p0) < 0, each wrong one ln((1 - p1)/(1 - p0)) > 0, and S
never falls below 0 (Page 1954; Reynolds and Stoumbos 1999 for the Bernoulli case). S >= h is an alarm. The first
alarm warns and brings targeted checks, the second pauses. After a warning S goes on from 0.9 h: from 0 a person who
gets 60 % right would do about 50 items before the pause, from there 28. A warning lapses when S is back at 0.

S = 0 means that nothing speaks against the person. The last item with S = 0 is where CUSUM puts the change, so
labels since then are the ones to quarantine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log, sqrt

from annotator.core.intervals import Figure, Reason, proportion

DEFAULT_P0 = 0.85
STEP_DOWN = 0.20
THRESHOLD = 5.0
#: Where S goes on after a warning, as a share of the threshold.
AFTER_WARNING = 0.9

#: A fitted p0 stays between these: below, the exam would contradict it; above, four slips in a row would be an alarm.
LOWEST_P0, HIGHEST_P0 = 0.70, 0.95
#: Calibration rounds fit p0 only with so many trusted people and items each.
TRUSTED_PEOPLE, ITEMS_EACH = 3, 15


class State(StrEnum):
    """CLEAR: work as usual. WARNED: gets targeted checks. PAUSED: gets no work until a manager clears it."""

    CLEAR = "clear"
    WARNED = "warned"
    PAUSED = "paused"


class Override(StrEnum):
    """A manager's word, which outranks the statistic and sets S back to 0."""

    CLEAR = "clear"
    PAUSE = "pause"


class Cause(StrEnum):
    """Why the state is what it is."""

    START = "start"
    FIRST_ALARM = "first_alarm"
    SECOND_ALARM = "second_alarm"
    RECOVERED = "recovered"
    MANAGER = "manager"


@dataclass(frozen=True, slots=True)
class Rule:
    """``p0``: accuracy of a person in order; ``p1``: of one who is not; ``threshold`` h. Raises ValueError."""

    p0: float = DEFAULT_P0
    p1: float = DEFAULT_P0 - STEP_DOWN
    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        if not 0.0 < self.p1 < self.p0 < 1.0 or self.threshold <= 0.0:
            raise ValueError(f"a rule needs 0 < p1 < p0 < 1 and a threshold above 0, got {self}")

    def increment(self, right: bool) -> float:
        """What one item adds to S.

        >>> round(Rule().increment(False), 3), round(Rule().increment(True), 3)
        (0.847, -0.268)
        """
        return log(self.p1 / self.p0) if right else log((1 - self.p1) / (1 - self.p0))


@dataclass(frozen=True, slots=True)
class Moment:
    """The state after one event; ``event`` is its index in what was given to `follow`."""

    event: int
    statistic: float
    state: State
    cause: Cause


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a person stands. ``changes`` are the moments when the state changed, ``path`` all of them (a sparkline).
    ``last_clear`` is the index of the last event with S = 0, -1 for before the first: quarantine what came later."""

    state: State
    cause: Cause
    statistic: float
    n_items: int
    last_clear: int
    path: tuple[Moment, ...]

    @property
    def changes(self) -> tuple[Moment, ...]:
        before = (State.CLEAR, *(moment.state for moment in self.path[:-1]))
        return tuple(moment for was, moment in zip(before, self.path, strict=True) if moment.state is not was)


def follow(events: Iterable[bool | Override | None], rule: Rule | None = None) -> Standing:
    """The standing after gold outcomes (None: gave up, not counted) and overrides, in order of time.

    While paused nothing counts but an override. A pure function: whoever replays the events gets the same states.

    >>> follow([True, False] * 30).state.value, follow([True] * 180).state.value
    ('paused', 'clear')
    """
    rule = rule or Rule()
    state, cause, statistic, items, last_clear = State.CLEAR, Cause.START, 0.0, 0, -1
    path: list[Moment] = []
    for index, event in enumerate(events):
        if isinstance(event, Override):
            state = State.CLEAR if event is Override.CLEAR else State.PAUSED
            cause, statistic = Cause.MANAGER, 0.0
            last_clear = index if event is Override.CLEAR else last_clear
        elif event is not None and state is not State.PAUSED:
            items += 1
            statistic = max(0.0, statistic + rule.increment(event))
            state, cause, statistic = _next(state, cause, statistic, rule)
            last_clear = index if statistic == 0.0 else last_clear
        path.append(Moment(index, statistic, state, cause))
    return Standing(state, cause, statistic, items, last_clear, tuple(path))


def fit_rule(trusted: Sequence[Sequence[bool | None]]) -> tuple[Rule, Figure]:
    """The rule for a project whose trusted people had these outcomes in the calibration round, and their accuracy.

    p0 is what a trusted person at the lower end reaches: pooled accuracy less the standard deviation between people
    (what is left of the variance of their accuracies after chance), between 0.70 and 0.95; p1 = p0 - 0.20. With
    fewer than 3 people of 15 items the default rule comes back, and the figure's reason says `no_gold`.

    >>> fit_rule([[True] * 19 + [False]] * 4)[0].p0
    0.95
    >>> fit_rule([])[1].reason.value
    'no_gold'
    """
    finished = [[outcome for outcome in each if outcome is not None] for each in trusted]
    enough = [each for each in finished if len(each) >= ITEMS_EACH]
    if len(enough) < TRUSTED_PEOPLE:
        return Rule(), Figure(None, len(enough), Reason.NO_GOLD)
    n = sum(map(len, enough))
    pooled = proportion(sum(map(sum, enough)), n, Reason.NO_GOLD)
    share = sum(map(sum, enough)) / n
    shares = [sum(each) / len(each) for each in enough]
    observed = sum((each - share) ** 2 for each in shares) / (len(shares) - 1)
    by_chance = sum(share * (1 - share) / len(each) for each in enough) / len(enough)
    p0 = min(HIGHEST_P0, max(LOWEST_P0, share - sqrt(max(0.0, observed - by_chance))))
    return Rule(p0, p0 - STEP_DOWN), pooled


def _next(state: State, cause: Cause, statistic: float, rule: Rule) -> tuple[State, Cause, float]:
    if statistic >= rule.threshold:
        if state is State.WARNED:
            return State.PAUSED, Cause.SECOND_ALARM, statistic
        return State.WARNED, Cause.FIRST_ALARM, AFTER_WARNING * rule.threshold
    if state is State.WARNED and statistic == 0.0:
        return State.CLEAR, Cause.RECOVERED, statistic
    return state, cause, statistic
