"""What the audit prefix is for: its plain mean is right however the queue is ordered; the queue's own mean is not.

One claim in ten takes the lowest unlabelled shuffle, the others the riskiest solution. After 1,500 of 5,000 claims
every solution below the watermark is labelled by one route or the other, so those are a simple random sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from annotator.core.intervals import Figure, mean

REPETITIONS, SOLUTIONS, CLAIMS, AUDIT = 200, 5000, 1500, 0.1
#: Solutions of one problem share their difficulty; with the default import two solutions are of one problem.
PER_PROBLEM = 2


@dataclass(frozen=True)
class Run:
    """True share of erroneous solutions in the pool, and what either sample says of it."""

    truth: float
    prefix: Figure
    naive: Figure


def simulate(seed: int) -> Run:
    rng = np.random.default_rng(seed)
    problem = np.arange(SOLUTIONS) // PER_PROBLEM
    risk = rng.normal(-0.8, 1.0, SOLUTIONS // PER_PROBLEM)[problem] + rng.normal(0, 0.7, SOLUTIONS)
    erroneous = (rng.random(SOLUTIONS) < 1 / (1 + np.exp(-risk))).astype(float)
    seen_risk = risk + rng.normal(0, 0.5, SOLUTIONS)
    shuffled = rng.permutation(SOLUTIONS)
    labelled, watermark = claim(np.argsort(-seen_risk), shuffled, rng.random(CLAIMS) < AUDIT)
    prefix = shuffled[:watermark]
    naive = np.flatnonzero(labelled)
    return Run(
        float(erroneous.mean()),
        mean(erroneous[prefix], problem[prefix], seed=seed),
        mean(erroneous[naive], problem[naive], seed=seed),
    )


def claim(
    riskiest: npt.NDArray[np.int64], shuffled: npt.NDArray[np.int64], audits: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], int]:
    """Which solutions are labelled after the claims, and how many of ``shuffled`` lie below the watermark."""
    at = {True: 0, False: 0}
    order = {True: shuffled.tolist(), False: riskiest.tolist()}
    done = [False] * len(riskiest)
    for audit in audits.tolist():
        while done[order[audit][at[audit]]]:
            at[audit] += 1
        done[order[audit][at[audit]]] = True
    labelled = np.array(done)
    watermark = int(np.argmin(labelled[shuffled])) if not labelled.all() else len(shuffled)
    return labelled, watermark


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return [simulate(seed) for seed in range(REPETITIONS)]


def covered(truth: float, figure: Figure) -> bool:
    assert figure.low is not None
    assert figure.high is not None
    return figure.low <= truth <= figure.high


def coverage(runs: list[Run]) -> float:
    return float(np.mean([covered(run.truth, run.prefix) for run in runs]))


def bias(truths: list[float], figures: list[Figure]) -> float:
    return float(
        np.mean([(figure.value or 0.0) - truth for truth, figure in zip(truths, figures, strict=True)])
    )


def test_the_prefix_is_unbiased_and_its_intervals_hold_the_truth(runs: list[Run]) -> None:
    assert abs(bias([run.truth for run in runs], [run.prefix for run in runs])) < 0.01
    assert 0.92 <= coverage(runs) <= 0.98


def test_the_naive_mean_of_the_ordered_queue_is_far_off(runs: list[Run]) -> None:
    assert bias([run.truth for run in runs], [run.naive for run in runs]) > 0.15
    assert not any(covered(run.truth, run.naive) for run in runs)
