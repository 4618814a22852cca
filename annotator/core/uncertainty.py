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

from annotator.core.labels import NO_ERROR

Values = Sequence[float | None]

#: The threshold of an untuned scorer, as in ProcessBench (Zheng et al. 2024).
EVEN_ODDS = 0.5


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
    judged = [value for index in at_risk(values, threshold) if (value := values[index]) is not None]
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
