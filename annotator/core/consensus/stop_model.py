"""Consensus of `first_error`: the latent place of the first error, from people whose habits differ.

A solution of n judged steps is in one of n + 1 states z: first error at step 0 .. n - 1, or none (z = n). Along the
way a person
- stops at a sound step with probability f (false alarm),
- passes the first error with probability m (miss),
- having missed it, stops at a later step with probability r (after-miss).
Before anybody looks, step k holds the first error with hazard h, by depth. All are fitted by expectation and
maximisation: Dawid and Skene 1979, Appl. Stat. 28:20, with survival's geometric waiting in place of a confusion
matrix. Rates are drawn towards the pooled ones by pseudo-counts, so that a newcomer is taken for an average person.

A per-step majority or a per-step model yields vectors that no person could have given; here the vector is rebuilt
from the stop. Convincing errors that several people share make any such model claim too much: recalibrate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annotator.core.agreement.stops import Stops
from annotator.core.intervals import Floats, Ints, totals
from annotator.core.labels import NO_ERROR

#: Below three annotations nothing tells whose fault a disagreement is, unless gold has measured each person.
MIN_ANNOTATIONS = 3
MIN_GOLD = 10
#: A person's rates count as if this many steps (false alarms, after misses) or errors (misses) had been average.
PSEUDO_STEPS = 40.0
PSEUDO_ERRORS = 8.0
#: Depths that share a hazard begin here.
DEPTHS = np.array([0, 1, 2, 3, 5, 8, 12, 20])

#: The starting point, and by these pseudo-counts also the prior of the pooled rates.
_START = (0.02, 0.2, 0.1)
_POOL_WEIGHT = 20.0
_START_HAZARD = 0.07


@dataclass(frozen=True, slots=True, eq=False)
class StopRates:
    """``false_alarm``, ``miss``, ``after_miss`` (raters,) and ``hazard`` (depths,), all probabilities in (0, 1)."""

    false_alarm: Floats
    miss: Floats
    after_miss: Floats
    hazard: Floats
    iterations: int = 0

    def rows(self, rater: Ints) -> tuple[Floats, Floats, Floats]:
        return self.false_alarm[rater], self.miss[rater], self.after_miss[rater]


@dataclass(frozen=True, slots=True, eq=False)
class StopPosteriors:
    """``posterior`` (states,): solution u owns ``start[u]`` .. ``start[u + 1]``, steps in order, then none.

    ``stop`` (units,) is the likeliest, -1 for none, and ``confidence`` its posterior. Where ``trusted`` is false
    (too few annotations and no gold) neither may be used: take the plurality.
    """

    start: Ints
    posterior: Floats
    stop: Ints
    confidence: Floats
    trusted: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _States:
    """The states of all solutions in one row, and where each annotation's stop lies among them."""

    unit: Ints
    place: Ints
    start: Ints
    n_steps: Ints
    at: Ints
    found: npt.NDArray[np.bool_]
    gold: npt.NDArray[np.bool_]


def fit_stop_rates(
    these: Stops,
    n_raters: int,
    acceptable: Sequence[frozenset[int] | None] | None = None,
    *,
    max_iterations: int = 60,
    tolerance: float = 5e-4,
) -> StopRates:
    """Everybody's rates by EM; ``acceptable`` (units,) clamps gold to its acceptable stops in judged places.

    Only solutions with two annotations or gold inform the rates. Stops when no rate moves by ``tolerance``.
    Without any annotation the starting rates come back.
    """
    rates = _start(n_raters)
    telling = np.bincount(these.unit, minlength=len(these.solution)) >= 2
    telling |= _is_gold(these, acceptable)
    these, acceptable = _compact(these, telling, acceptable)
    if not len(these.unit):
        return rates
    states, allowed = _states(these, acceptable), _allowed(these, acceptable)
    for iteration in range(1, max_iterations + 1):
        posterior = _posterior(these, states, rates, allowed)
        new = replace(_maximise(these, states, posterior, n_raters), iterations=iteration)
        moved = max(
            float(np.abs(a - b).max())
            for a, b in (
                (new.false_alarm, rates.false_alarm),
                (new.miss, rates.miss),
                (new.after_miss, rates.after_miss),
                (new.hazard, rates.hazard),
            )
        )
        rates = new
        if moved < tolerance:
            break
    return rates


def stop_posteriors(
    these: Stops,
    rates: StopRates,
    acceptable: Sequence[frozenset[int] | None] | None = None,
    gold_seen: Ints | None = None,
) -> StopPosteriors:
    """Where the first error is, given everybody's rates: for a whole project, or for the solution just submitted.

    ``gold_seen`` (raters,) is how much gold each person has judged: with `MIN_GOLD` each, even one annotation has a
    posterior. Gold itself is clamped and always trusted.
    """
    states = _states(these, acceptable)
    posterior = _posterior(these, states, rates, _allowed(these, acceptable))
    size = len(these.n_steps)
    top = np.maximum.reduceat(posterior, states.start[:-1]) if size else np.zeros(0)
    best = np.flatnonzero(posterior == top[states.unit])
    first = np.full(size, -1)
    first[states.unit[best][::-1]] = best[::-1]
    place = states.place[first]
    times = np.bincount(these.unit, minlength=size)
    trusted = times >= MIN_ANNOTATIONS
    if gold_seen is not None:
        unmeasured = totals(these.unit, (gold_seen[these.rater] < MIN_GOLD).astype(np.float64), size)
        trusted |= (times > 0) & (unmeasured == 0)
    trusted |= states.gold
    stop = np.where(place == these.n_steps, NO_ERROR, place)
    return StopPosteriors(states.start, posterior, stop, top, trusted)


def _start(n_raters: int) -> StopRates:
    alarm, miss, after = (np.full(n_raters, rate) for rate in _START)
    return StopRates(alarm, miss, after, np.full(len(DEPTHS), _START_HAZARD))


def _is_gold(these: Stops, acceptable: Sequence[frozenset[int] | None] | None) -> npt.NDArray[np.bool_]:
    if acceptable is None:
        return np.zeros(len(these.n_steps), dtype=np.bool_)
    return np.array([each is not None for each in acceptable], dtype=np.bool_)


def _states(these: Stops, acceptable: Sequence[frozenset[int] | None] | None) -> _States:
    sizes = these.n_steps + 1
    start = np.concatenate([[0], np.cumsum(sizes)])
    unit = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(start[-1]) - start[unit]
    found = these.stop != NO_ERROR
    at = start[these.unit] + np.where(found, these.stop, these.n_steps[these.unit])
    return _States(unit, place, start, these.n_steps, at, found, _is_gold(these, acceptable))


def _allowed(these: Stops, acceptable: Sequence[frozenset[int] | None] | None) -> Floats | None:
    """0 for a state that gold rules out, else 1, of shape (states,)."""
    if acceptable is None:
        return None
    sizes = these.n_steps + 1
    start = np.concatenate([[0], np.cumsum(sizes)])
    allowed = np.ones(start[-1])
    for unit, stops in enumerate(acceptable):
        if stops is not None:
            allowed[start[unit] : start[unit + 1]] = 0.0
            for stop in stops:
                allowed[start[unit] + (these.n_steps[unit] if stop == NO_ERROR else stop)] = 1.0
    return allowed


def _prior(states: _States, hazard: Floats) -> Floats:
    """Log-probability of each state: survive the steps before it, then fail."""
    depth = np.searchsorted(DEPTHS, states.place, side="right") - 1
    none = states.place == states.n_steps[states.unit]
    survive = np.where(none, 0.0, np.log1p(-hazard)[depth])
    total = np.cumsum(survive) - survive
    return np.asarray(total - total[states.start[states.unit]] + np.where(none, 0.0, np.log(hazard)[depth]))


def _posterior(these: Stops, states: _States, rates: StopRates, allowed: Floats | None) -> Floats:
    """P(z | stops) of each state. Each annotation adds a constant after its stop and a line before it."""
    alarm, miss, after = rates.rows(these.rater)
    size = len(states.unit)
    stop = states.place[states.at].astype(np.float64)
    ended = np.where(states.found, np.log(after) - np.log1p(-after), 0.0)
    # Before the stop: z sound steps passed, the miss, then the steps between without a stop, and the stop itself.
    level = np.log(miss) + (stop - 1.0 + states.found) * np.log1p(-after) + ended
    line = np.log1p(-alarm) - np.log1p(-after)
    here = stop * np.log1p(-alarm) + np.where(states.found, np.log1p(-miss), 0.0)
    behind = np.where(states.found, stop * np.log1p(-alarm) + np.log(alarm), 0.0)
    scores = _prior(states, rates.hazard) + totals(states.at, here, size)
    scores += _running(totals(states.at, behind, size), states)
    scores += _running_back(totals(states.at, level, size), states)
    scores += _running_back(totals(states.at, line, size), states) * states.place
    scores -= np.maximum.reduceat(scores, states.start[:-1])[states.unit]
    weight = np.exp(scores)
    if allowed is not None:
        weight = np.maximum(weight, 1e-300) * allowed
    return np.asarray(weight / np.add.reduceat(weight, states.start[:-1])[states.unit])


def _running(values: Floats, states: _States) -> Floats:
    """Sums over each solution's earlier states, the own one left out."""
    total = np.cumsum(values) - values
    return np.asarray(total - total[states.start[states.unit]])


def _running_back(values: Floats, states: _States) -> Floats:
    """Sums over each solution's later states, the own one left out."""
    whole = np.add.reduceat(values, states.start[:-1])[states.unit]
    return np.asarray(whole - _running(values, states) - values)


def _maximise(these: Stops, states: _States, posterior: Floats, n_raters: int) -> StopRates:
    """Expected counts and exposures of each person, drawn towards the pooled rates; hazards by depth."""
    at, found = states.at, states.found
    stop = states.place[at].astype(np.float64)
    before = _running(posterior, states)[at]
    passed = _running(posterior * states.place, states)[at]
    here = posterior[at]
    later = np.where(found, 1.0 - before - here, 0.0)
    later = np.maximum(later, 0.0)
    none = np.where(found, 0.0, here)
    # Sound steps looked at: z where the error came first, else all up to the stop, and the stop where it is wrong.
    sound = passed + here * stop + later * (stop + 1.0)
    beyond = before * (stop - 1.0 + found) - passed
    alarms = _rates(these.rater, later, sound, n_raters, PSEUDO_STEPS, _START[0])
    misses = _rates(these.rater, before, before + here - none, n_raters, PSEUDO_ERRORS, _START[1])
    afters = _rates(
        these.rater, np.where(found, before, 0.0), np.maximum(beyond, 0.0), n_raters, PSEUDO_STEPS, _START[2]
    )
    return StopRates(alarms, misses, afters, _hazard(states, posterior))


def _rates(
    rater: Ints, events: Floats, exposure: Floats, n_raters: int, pseudo: float, start: float
) -> Floats:
    pooled = (events.sum() + start * _POOL_WEIGHT) / (exposure.sum() + _POOL_WEIGHT)
    mine = totals(rater, events, n_raters) + pooled * pseudo
    return np.asarray(np.clip(mine / (totals(rater, exposure, n_raters) + pseudo), 1e-4, 1.0 - 1e-4))


def _hazard(states: _States, posterior: Floats) -> Floats:
    """Share of first errors among the steps at risk at each depth. Gold is chosen, so it says nothing of that."""
    reached = 1.0 - _running(posterior, states)
    step = (states.place < states.n_steps[states.unit]) & ~states.gold[states.unit]
    depth = np.searchsorted(DEPTHS, states.place[step], side="right") - 1
    failed = totals(depth, posterior[step], len(DEPTHS)) + _START_HAZARD * _POOL_WEIGHT
    looked = totals(depth, reached[step], len(DEPTHS)) + _POOL_WEIGHT
    return np.asarray(np.clip(failed / looked, 1e-4, 1.0 - 1e-4))


def _compact(
    these: Stops, keep: npt.NDArray[np.bool_], acceptable: Sequence[frozenset[int] | None] | None
) -> tuple[Stops, Sequence[frozenset[int] | None] | None]:
    mine = keep[these.unit]
    new = np.cumsum(keep) - 1
    kept = Stops(
        new[these.unit[mine]],
        these.rater[mine],
        these.stop[mine],
        these.n_steps[keep],
        these.solution[keep],
        these.problem[keep],
    )
    if acceptable is None:
        return kept, None
    return kept, [each for each, used in zip(acceptable, keep.tolist(), strict=True) if used]
