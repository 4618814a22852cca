"""What consensus is worth when people share convincing errors: claimed against real accuracy, 200 repetitions.

400 solutions, three of twelve people each. In 15 % of solutions one step convinces people of the wrong thing: an
error that most pass, or a sound step at which most stop. Each method names a stop for each solution and claims a
probability of being right; 150 random solutions are adjudicated and teach the recalibration, the rest test it.
Claimed, real, recalibrated: stop model .951, .876, .875; per-step .929, .859, .860; plurality .836, .863, .861.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from annotator.core.agreement import Stops, ratings, stops
from annotator.core.consensus import dawid_skene, fit_stop_rates, recalibrate, stop_posteriors
from annotator.core.labels import NO_ERROR

REPETITIONS, SOLUTIONS, PEOPLE, EACH, ADJUDICATED = 200, 400, 12, 3, 150
LONGEST = 14
HAZARD, CONVINCING, AFTER_MISS = 0.09, 0.15, 0.25
#: How often each person falls for a convincing step.
FALLS = 0.7

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Outcome:
    """One method in one repetition: accuracy it claims, really has, and claims once recalibrated (test part)."""

    claimed: float
    real: float
    recalibrated: float


def simulate(seed: int) -> dict[str, Outcome]:
    rng = np.random.default_rng(seed)
    these, truth = world(rng)
    return {
        "stop model": judge(*by_stop_model(these), truth),
        "per-step": judge(*by_step(these), truth),
        "plurality": judge(*by_plurality(these), truth),
    }


def world(rng: np.random.Generator) -> tuple[Stops, Ints]:
    """What three people a solution said, and where the first error really is."""
    steps = rng.integers(4, LONGEST + 1, SOLUTIONS)
    place = rng.geometric(HAZARD, SOLUTIONS) - 1
    truth = np.where(place < steps, place, NO_ERROR)
    odd = rng.random(SOLUTIONS) < CONVINCING
    passes = odd & (truth != NO_ERROR) & (rng.random(SOLUTIONS) < 0.5)
    decoy = np.where(odd & ~passes, rng.integers(0, steps), LONGEST)
    people = np.argsort(rng.random((SOLUTIONS, PEOPLE)), axis=1)[:, :EACH]
    alarm, miss = rng.uniform(0.005, 0.02, PEOPLE)[people], rng.uniform(0.05, 0.25, PEOPLE)[people]
    miss = np.where(passes[:, None], FALLS, miss)
    said = np.full((SOLUTIONS, EACH), NO_ERROR)
    for step in range(LONGEST):
        rate = np.where((truth == NO_ERROR)[:, None] | (step < truth)[:, None], alarm, AFTER_MISS)
        rate = np.where((decoy == step)[:, None], FALLS, rate)
        rate = np.where((truth == step)[:, None], 1 - miss, rate)
        stopping = (said == NO_ERROR) & (step < steps)[:, None] & (rng.random(said.shape) < rate)
        said[stopping] = step
    units = np.repeat(np.arange(SOLUTIONS), EACH)
    return stops(units, people.ravel(), said.ravel(), steps), truth


def by_stop_model(these: Stops) -> tuple[Ints, Floats]:
    found = stop_posteriors(these, fit_stop_rates(these, PEOPLE))
    return found.stop, found.confidence


def by_step(these: Stops) -> tuple[Ints, Floats]:
    """Dawid-Skene on each step; the stop is the first step called incorrect, the claim the product up to it."""
    reach = np.where(these.stop == NO_ERROR, these.n_steps[these.unit], these.stop + 1)
    row = np.repeat(np.arange(len(reach)), reach)
    step = np.arange(len(row)) - np.repeat(np.cumsum(reach) - reach, reach)
    value = np.where(step == these.stop[row], -1, 1)
    unit = these.unit[row] * LONGEST + step
    labels = ratings(unit, these.rater[row], value, (-1, 1), solution=range(SOLUTIONS * LONGEST))
    wrong = dawid_skene(labels, PEOPLE).posterior[:, 0].reshape(SOLUTIONS, LONGEST)
    called = wrong > 0.5
    stop = np.where(called.any(axis=1), called.argmax(axis=1), NO_ERROR)
    end = np.where(stop == NO_ERROR, these.n_steps, stop)
    before = np.where(np.arange(LONGEST) < end[:, None], 1 - wrong, 1.0).prod(axis=1)
    at = np.where(stop == NO_ERROR, 1.0, wrong[np.arange(SOLUTIONS), stop])
    return stop, before * at


def by_plurality(these: Stops) -> tuple[Ints, Floats]:
    """The commonest stop; its share of the votes is the only claim it makes. A tie takes the first of them."""
    table = these.stop.reshape(-1, EACH)
    votes = (table[:, :, None] == table[:, None, :]).sum(axis=2)
    best = votes.argmax(axis=1)
    return table[np.arange(len(table)), best], votes.max(axis=1) / EACH


def judge(stop: Ints, claimed: Floats, truth: Ints) -> Outcome:
    right = stop == truth
    checked = recalibrate(claimed[:ADJUDICATED], right[:ADJUDICATED])
    assert checked.fitted
    rest = slice(ADJUDICATED, None)
    return Outcome(
        float(claimed[rest].mean()), float(right[rest].mean()), float(checked.apply(claimed[rest]).mean())
    )


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Floats]:
    """Rows (repetitions, 3) of claimed, real and recalibrated accuracy for each method."""
    runs = [simulate(seed) for seed in range(REPETITIONS)]
    return {
        name: np.array([[run[name].claimed, run[name].real, run[name].recalibrated] for run in runs])
        for name in runs[0]
    }


def test_the_stop_model_is_right_more_often_than_per_step_dawid_skene(outcomes: dict[str, Floats]) -> None:
    gain = outcomes["stop model"][:, 1] - outcomes["per-step"][:, 1]
    assert gain.mean() > 3 * gain.std() / np.sqrt(REPETITIONS)


def test_the_stop_model_is_right_at_least_as_often_as_plurality(outcomes: dict[str, Floats]) -> None:
    assert outcomes["stop model"][:, 1].mean() >= outcomes["plurality"][:, 1].mean()


@pytest.mark.parametrize("method", ["stop model", "per-step"])
def test_where_errors_are_shared_a_model_claims_too_much(outcomes: dict[str, Floats], method: str) -> None:
    claimed, real, _ = outcomes[method].mean(axis=0)
    assert claimed > real + 0.02


@pytest.mark.parametrize("method", ["stop model", "per-step", "plurality"])
def test_recalibrated_claims_are_true_on_average(outcomes: dict[str, Floats], method: str) -> None:
    _, real, recalibrated = outcomes[method].mean(axis=0)
    assert recalibrated == pytest.approx(real, abs=0.01)


def test_recalibration_is_closer_in_most_single_projects(outcomes: dict[str, Floats]) -> None:
    claimed, real, recalibrated = outcomes["stop model"].T
    assert (np.abs(recalibrated - real) < np.abs(claimed - real)).mean() > 0.8
