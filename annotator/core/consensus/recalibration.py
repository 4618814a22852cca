"""What a claimed posterior is worth: compared with adjudicated audit items before it weighs anything.

Any model of independent people overclaims where they share convincing errors. Only audit items will do: those were
drawn at random, while disputes reach adjudication because they are hard.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotator.core.calibration import logistic, logit, platt
from annotator.core.intervals import Floats

#: Fewer adjudicated audit items, or fewer wrong ones among them, cannot fit two numbers.
MIN_ITEMS = 100
MIN_WRONG = 5


@dataclass(frozen=True, slots=True)
class Recalibration:
    """``apply`` maps claimed to expected accuracy: logit q = intercept + slope · logit p. ``fitted`` is false where
    there were too few items: then claims pass unchanged and must be shown as unchecked. ``n`` items, ``wrong`` of
    them wrong, ``claimed`` and ``real`` mean accuracy over them (None without any)."""

    slope: float
    intercept: float
    fitted: bool
    n: int
    wrong: int
    claimed: float | None
    real: float | None

    def apply(self, claimed: npt.ArrayLike) -> Floats:
        """Expected accuracy of claims, both of shape (n,), in [0, 1]."""
        values = np.asarray(claimed, dtype=np.float64)
        if not self.fitted:
            return values
        return logistic(self.intercept + self.slope * logit(values))


def recalibrate(claimed: npt.ArrayLike, right: npt.ArrayLike) -> Recalibration:
    """Fit on adjudicated audit items: each one's claimed posterior and whether its consensus was right, (n,).

    Platt 1999 on the logit, with a weak normal prior around the identity. A slope below 0 would turn the order of
    claims round, so it is held at 0. Raises ValueError on unequal shapes.

    >>> recalibrate([0.9] * 10, [True] * 10).fitted
    False
    >>> checked = recalibrate([0.95] * 200, [True] * 170 + [False] * 30)
    >>> round(float(checked.apply([0.95])[0]), 2)
    0.85
    """
    values = np.asarray(claimed, dtype=np.float64)
    truth = np.asarray(right, dtype=np.float64)
    if values.shape != truth.shape or values.ndim != 1:
        raise ValueError(f"claims of shape {values.shape} do not pair with outcomes of shape {truth.shape}")
    n, wrong = len(values), int((1.0 - truth).sum())
    means = (float(values.mean()), float(truth.mean())) if n else (None, None)
    if n < MIN_ITEMS or wrong < MIN_WRONG or n - wrong < MIN_WRONG:
        return Recalibration(1.0, 0.0, False, n, wrong, *means)
    intercept, slope = platt(logit(values), truth)
    return Recalibration(slope, intercept, True, n, wrong, *means)
