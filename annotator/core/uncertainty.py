"""How unsure a scorer is of a solution: what the queue is ordered by.

``values`` are probabilities that a step is correct, one per step over all steps, None where a step takes no
label; ``spread`` has the same shape. A scorer's ``threshold`` is the probability below which it calls a step
an error: where it was tuned, it is passed explicitly, since errors are rare and a calibrated probability
seldom falls below one half. Nothing here returns NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotator.core.labels import NO_ERROR

Values = Sequence[float | None]

#: The threshold of an untuned scorer, as in ProcessBench (Zheng et al. 2024).
EVEN_ODDS = 0.5

#: The setting that ActPRM highlights (Duan et al. 2025, section 4).
ACTPRM_PRED = 0.95
ACTPRM_STD = 0.005


class Aggregate(StrEnum):
    """How the values of the steps become one of the solution. PRM800K multiplies; Monte-Carlo-trained PRMs do best
    with the last step, human-trained ones with the product or the minimum (Zhang et al. 2025)."""

    MIN = "min"
    PROD = "prod"
    MEAN = "mean"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Priority:
    """What the queue sorts by, highest first: ``score`` in nats, then ``tiebreak``, the mean spread."""

    score: float
    tiebreak: float
    predicted_stop: int


def entropy(p: float) -> float:
    """Entropy of one yes/no prediction, -p ln p - (1 - p) ln(1 - p), in nats: 0 at 0 and 1, ln 2 at one half.

    Shannon 1948. Raises ValueError when p is not a probability.

    >>> entropy(0), round(entropy(0.5), 4)
    (0.0, 0.6931)
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"a probability lies between 0 and 1, got {p!r}")
    return sum(-q * math.log(q) for q in (p, 1.0 - p) if 0.0 < q < 1.0) or 0.0


def predicted_stop(values: Values, threshold: float = EVEN_ODDS) -> int:
    """Index of the first judged step whose probability is below the threshold, or -1 for none.

    ProcessBench (Zheng et al. 2024), section 4: the first step that a PRM rejects is its first error.

    >>> predicted_stop([0.9, None, 0.4, 0.1])
    2
    >>> predicted_stop([0.9, 0.8])
    -1
    """
    for index, value in enumerate(values):
        if value is not None and value < threshold:
            return index
    return NO_ERROR


def at_risk(values: Values, threshold: float = EVEN_ODDS) -> list[int]:
    """Judged steps up to and including the first predicted error: those a person would judge.

    ActPRM (Duan et al. 2025) looks at the same steps.

    >>> at_risk([0.9, None, 0.4, 0.1])
    [0, 2]
    """
    stop = predicted_stop(values, threshold)
    end = len(values) if stop == NO_ERROR else stop + 1
    return [index for index in range(end) if values[index] is not None]


def mean_entropy(values: Values, threshold: float = EVEN_ODDS) -> float:
    """Mean `entropy`, in nats, over the judged steps up to and including the first predicted error.

    0 where no step is judged.

    >>> round(mean_entropy([0.5, None, 1.0]), 4)
    0.3466
    >>> round(mean_entropy([0.5, 0.4, 0.5], threshold=0.6), 4)
    0.6931
    """
    judged = _judged(values, threshold)
    return math.fsum(entropy(value) for value in judged) / len(judged) if judged else 0.0


def mean_spread(values: Values, spread: Values, threshold: float = EVEN_ODDS) -> float:
    """Mean spread over the same steps as `mean_entropy`; 0 where none is known.

    Raises ValueError when the shapes differ or a spread is negative or not finite.

    >>> mean_spread([0.9, 0.2, 0.9], [0.1, 0.3, 0.5])
    0.2
    """
    if len(values) != len(spread):
        raise ValueError(f"{len(values)} values but {len(spread)} spreads")
    known = [width for index in at_risk(values, threshold) if (width := spread[index]) is not None]
    if any(not (math.isfinite(width) and width >= 0.0) for width in known):
        raise ValueError("a spread is a finite number, zero or more")
    return math.fsum(known) / len(known) if known else 0.0


def max_entropy(values: Values, threshold: float = EVEN_ODDS) -> float:
    """Largest `entropy`, in nats, over the same steps as `mean_entropy`; 0 where no step is judged.

    >>> round(max_entropy([0.9, 0.5, 0.2, 0.5]), 4)
    0.6931
    """
    return max((entropy(value) for value in _judged(values, threshold)), default=0.0)


def max_spread(values: Values, spread: Values, threshold: float = EVEN_ODDS) -> float:
    """Largest spread over the same steps as `mean_entropy`; 0 where none is known.

    Raises ValueError when the shapes differ or a spread is negative or not finite.

    >>> max_spread([0.9, 0.2, 0.9], [0.1, 0.3, 0.5])
    0.3
    """
    mean_spread(values, spread, threshold)
    known = [width for index in at_risk(values, threshold) if (width := spread[index]) is not None]
    return max(known, default=0.0)


def margin(p: float) -> float:
    """Distance between the two outcomes' probabilities, |p - (1 - p)|: 1 when sure, 0 at one half.

    Scheffer et al. 2001. Raises ValueError when p is not a probability.

    >>> margin(0.75), margin(0.5)
    (0.5, 0.0)
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"a probability lies between 0 and 1, got {p!r}")
    return abs(2.0 * p - 1.0)


def least_margin(values: Values, threshold: float = EVEN_ODDS) -> float:
    """Smallest `margin` over the same steps as `mean_entropy`; 1 where no step is judged. Low means unsure.

    >>> least_margin([0.9, 0.5, 0.2])
    0.0
    """
    return min((margin(value) for value in _judged(values, threshold)), default=1.0)


def stop_probabilities(values: Values) -> dict[int, float]:
    """Probability of each stop, -1 for none, if the values are calibrated and the steps independent given no error.

    P(t) = (1 - p_t) prod_{i < t} p_i, P(-1) = prod_i p_i, over judged steps: they sum to 1.

    >>> {stop: round(p, 2) for stop, p in stop_probabilities([0.9, None, 0.5]).items()}
    {0: 0.1, 2: 0.45, -1: 0.45}
    """
    found, sound = {}, 1.0
    for index, value in enumerate(values):
        if value is not None:
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"a probability lies between 0 and 1, got {value!r}")
            found[index] = sound * (1.0 - value)
            sound *= value
    return {**found, NO_ERROR: sound}


def expected_error(values: Values, threshold: float = EVEN_ODDS) -> float:
    """Probability that the predicted stop is wrong, 1 - P(predicted stop), by `stop_probabilities`.

    Least confidence (Lewis and Gale 1994), for a sequence as in Culotta and McCallum 2005.

    >>> round(expected_error([0.9, 0.2]), 2)
    0.28
    """
    return min(max(1.0 - stop_probabilities(values)[predicted_stop(values, threshold)], 0.0), 1.0)


def disagreement(rows: Sequence[Values], thresholds: Sequence[float] | None = None) -> float:
    """How far several scorers differ on a solution, in nats: mean Jensen-Shannon divergence of their predictions.

    For one step H(mean p) - mean H(p), between 0 and ln 2 (Lin 1991), over the steps that all of them would judge:
    up to and including the earliest stop that any predicts. ``rows`` has one row of values a scorer, ``thresholds``
    one threshold a scorer. 0 for fewer than two scorers, or where no step is judged by all. Raises ValueError when
    the shapes differ.

    >>> round(disagreement([[0.9, 1.0], [0.9, 0.0]]), 4)
    0.3466
    >>> disagreement([[0.9, None], [0.9, None]])
    0.0
    """
    limits = [EVEN_ODDS] * len(rows) if thresholds is None else list(thresholds)
    if len(limits) != len(rows) or len({len(row) for row in rows}) > 1:
        raise ValueError("every scorer needs a threshold and a value for each step")
    if len(rows) < 2:
        return 0.0
    reached = [set(at_risk(row, limit)) for row, limit in zip(rows, limits, strict=True)]
    steps = sorted(set.intersection(*reached))
    return (
        math.fsum(_jensen_shannon([row[step] for row in rows]) for step in steps) / len(steps)
        if steps
        else 0.0
    )


def _jensen_shannon(column: Sequence[float | None]) -> float:
    known = [value for value in column if value is not None]
    mean = min(math.fsum(known) / len(known), 1.0)
    return max(entropy(mean) - math.fsum(map(entropy, known)) / len(known), 0.0)


def is_certain(
    values: Values,
    spread: Values,
    *,
    delta_pred: float = ACTPRM_PRED,
    delta_std: float = ACTPRM_STD,
    threshold: float = EVEN_ODDS,
) -> bool:
    """ActPRM's rule (Duan et al. 2025, algorithm 1): whether a solution needs no label.

    Each step up to and including the first below the threshold has spread <= delta_std and p >= delta_pred or
    p <= 1 - delta_pred. A step of unknown spread is not certain. It is yes or no and cannot rank. Raises ValueError
    when the shapes differ.

    >>> is_certain([0.99, 0.02, 0.5], [0.001, 0.004, 0.3])
    True
    >>> is_certain([0.99, 0.9], [0.001, 0.001])
    False
    """
    if len(values) != len(spread):
        raise ValueError(f"{len(values)} values but {len(spread)} spreads")
    for index in at_risk(values, threshold):
        value, width = values[index], spread[index]
        if value is None or width is None or width > delta_std:
            return False
        if not (value >= delta_pred or value <= 1.0 - delta_pred):
            return False
    return True


def aggregate(values: Values, how: Aggregate = Aggregate.PROD) -> float | None:
    """One score of a solution from the values of all its judged steps; None where it has none.

    >>> aggregate([0.9, None, 0.5]), aggregate([0.9, 0.5], Aggregate.MIN), aggregate([0.9, 0.5], Aggregate.LAST)
    (0.45, 0.5, 0.5)
    """
    known = [value for value in values if value is not None]
    if not known:
        return None
    match how:
        case Aggregate.MIN:
            return min(known)
        case Aggregate.PROD:
            return math.prod(known)
        case Aggregate.LAST:
            return known[-1]
        case Aggregate.MEAN:
            return math.fsum(known) / len(known)


def _judged(values: Values, threshold: float) -> list[float]:
    return [value for index in at_risk(values, threshold) if (value := values[index]) is not None]


def priority(values: Values, spread: Values, threshold: float = EVEN_ODDS) -> Priority:
    """Priority of a solution: mean entropy up to the first predicted error, ties by mean spread.

    >>> priority([0.5, 0.2, 0.5], [0.1, 0.3, 0.9]).predicted_stop
    1
    """
    return Priority(
        score=mean_entropy(values, threshold),
        tiebreak=mean_spread(values, spread, threshold),
        predicted_stop=predicted_stop(values, threshold),
    )
