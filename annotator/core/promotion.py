"""Whether a challenger takes the champion's place: by what people say of the holdout, on which neither was trained.

Labels that a champion chose by its own doubt are its worst items, so any challenger would seem to win there. On the
holdout both are asked of the same solutions, and problems are resampled for both at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from annotator.core.evaluation import f1_of_sums, f1_rows, processbench_f1
from annotator.core.intervals import DRAWS, Figure, Floats, ratio, resample, sums_by
from annotator.core.labels import NO_ERROR
from annotator.core.uncertainty import Values, predicted_stop

#: Labelled holdout solutions below which nothing is decided.
FEWEST = 1_000
#: So much F1 may be lost at worst: one point.
MARGIN = 0.01
#: A value of 0 or 1 counts as this, so that one sure mistake doesn't decide alone.
EDGE = 1e-3


class Answer(StrEnum):
    """What comes of a challenge."""

    PROMOTED = "promoted"
    REFUSED = "refused"
    UNDECIDED = "not enough evidence"


@dataclass(frozen=True, slots=True)
class Heard:
    """What one version says of the holdout: values (None for context) over all steps, and its threshold."""

    values: Sequence[Values]
    threshold: float

    def stops(self) -> list[int]:
        """The first error that it predicts of each solution, -1 for none."""
        return [predicted_stop(row, self.threshold) for row in self.values]


@dataclass(frozen=True, slots=True)
class Difference:
    """Challenger less champion. ``low`` and ``high`` bound it one-sidedly at 95 % each (together 90 %), ``from_`` and
    ``to`` two-sidedly at 95 %."""

    value: float
    low: float
    high: float
    from_: float
    to: float


@dataclass(frozen=True, slots=True)
class Duel:
    """Both on the same ``n`` solutions of ``problems`` problems; a difference is None where it is not defined.

    F1 is ProcessBench's, in [0, 1], each with its own 95 % interval; the loss is the mean log-loss in nats of the steps
    that people judged.
    """

    n: int
    problems: int
    champion_f1: Figure
    challenger_f1: Figure
    f1: Difference | None
    champion_loss: float | None
    challenger_loss: float | None
    loss: Difference | None

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the lineage."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, and why in a sentence."""

    answer: Answer
    why: str


def duel(
    champion: Heard,
    challenger: Heard,
    truth: Sequence[Sequence[float | None]],
    problem: Sequence[str] | Sequence[int],
    draws: int = DRAWS,
) -> Duel:
    """Compare two versions on labelled solutions: ``truth`` 1 correct, 0 incorrect, None not judged; ``problem`` each
    solution's. Both are drawn together, by problem (paired bootstrap, Efron 1979 on clusters)."""
    stops = [_stop(row) for row in truth]
    one, other = _sums(champion, truth, stops), _sums(challenger, truth, stops)
    groups = np.unique(np.asarray(problem), return_inverse=True)[1].astype(np.int64)
    sums = sums_by(groups, np.concatenate([one, other], axis=1))
    total, drawn = sums.sum(axis=0), resample(sums, draws) if len(sums) else np.zeros((0, 12))
    before = processbench_f1(champion.stops(), stops, groups).figure
    after = processbench_f1(challenger.stops(), stops, groups).figure
    judged = bool(len(sums)) and total[5] > 0
    return Duel(
        n=len(stops),
        problems=len(sums),
        champion_f1=before,
        challenger_f1=after,
        f1=_difference(total, drawn, _f1) if before.value is not None else None,
        champion_loss=float(total[4] / total[5]) if judged else None,
        challenger_loss=float(total[10] / total[11]) if judged else None,
        loss=_difference(total, drawn, _loss) if judged else None,
    )


def verdict(found: Duel, *, fewest: int = FEWEST, margin: float = MARGIN) -> Verdict:
    """The rule. Promoted: the one-sided 95 % bound of the F1's difference is above -1 point, the log-loss is no worse,
    and something is better (the F1, or surely the loss). Refused: surely worse in one of them. Else, and below
    ``fewest`` solutions always, there is not enough evidence."""
    if found.n < fewest:
        return Verdict(
            Answer.UNDECIDED, f"The holdout has {found.n:,} labelled solutions; the rule asks for {fewest:,}."
        )
    if found.f1 is None or found.loss is None:
        return Verdict(Answer.UNDECIDED, "The holdout needs solutions with an error and without one.")
    f1, loss = found.f1, found.loss
    told = f"F1 {_points(f1.value)} points ({_points(f1.from_)} to {_points(f1.to)})"
    better = f1.value > 0.0 or loss.high < 0.0
    if better and f1.low > -margin and loss.value <= 0.0:
        return Verdict(Answer.PROMOTED, f"{told}, and the log-loss is no worse.")
    if f1.high < 0.0:
        return Verdict(Answer.REFUSED, f"Worse than the champion: {told}.")
    if loss.low > 0.0:
        return Verdict(Answer.REFUSED, f"Its probabilities are worse than the champion's, at {told}.")
    if f1.value == 0.0 and loss.value == 0.0:
        return Verdict(Answer.UNDECIDED, "The two say the same of the holdout.")
    return Verdict(Answer.UNDECIDED, f"{told}: it could be worse, so the champion stays.")


def _stop(truth: Sequence[float | None]) -> int:
    return next((at for at, value in enumerate(truth) if value == 0.0), NO_ERROR)


def _sums(heard: Heard, truth: Sequence[Sequence[float | None]], stops: Sequence[int]) -> Floats:
    """(solutions, 6): what makes the F1 (`f1_rows`), then the summed log-loss and the number of judged steps."""
    losses = np.zeros((len(stops), 2))
    for at, (values, told) in enumerate(zip(heard.values, truth, strict=True)):
        pairs = [(v, t) for v, t in zip(values, told, strict=True) if v is not None and t is not None]
        if pairs:
            said, right = np.array(pairs).T
            said = np.clip(said, EDGE, 1.0 - EDGE)
            each = -right * np.log(said) - (1.0 - right) * np.log1p(-said)
            losses[at] = (float(each.sum()), len(pairs))
    return np.concatenate([f1_rows(heard.stops(), stops), losses], axis=1)


def _f1(sums: Floats) -> Floats:
    """Difference of F1s from sums (..., 12), challenger last."""
    return f1_of_sums(sums[..., 6:10]) - f1_of_sums(sums[..., :4])


def _loss(sums: Floats) -> Floats:
    """Difference of mean log-losses from sums (..., 12)."""
    return ratio(sums[..., 10:]) - ratio(sums[..., 4:6])


def _difference(total: Floats, drawn: Floats, of: Any) -> Difference:
    values = of(drawn)
    values = values[np.isfinite(values)]
    bounds = np.quantile(values, [0.05, 0.95, 0.025, 0.975]) if len(values) else [np.nan] * 4
    return Difference(float(of(total)), *(float(each) for each in bounds))


def _points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")
