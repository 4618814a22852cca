"""What hidden gold says of one person: two error rates a step, accuracy an item, and what was taken for what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotator.core.intervals import Figure, Ints, Reason, proportion
from annotator.core.labels import Label
from annotator.core.screening.items import ItemScore

#: Items in the rolling accuracy beside the CUSUM.
WINDOW = 30

_ORDER = np.array([int(Label.INCORRECT), int(Label.NEUTRAL), int(Label.CORRECT)])


@dataclass(frozen=True, slots=True)
class Scorecard:
    """``sensitivity``: errors caught among errors reached. ``false_alarms``: alarms among sound steps reached.
    ``items``: items right among those finished. All with Wilson intervals; `no_gold` where nothing was reached."""

    sensitivity: Figure
    false_alarms: Figure
    items: Figure


def scorecard(scores: Sequence[ItemScore]) -> Scorecard:
    """One person's scores on gold, summed.

    >>> scorecard([ItemScore(True, 1, 1, 3, 0), ItemScore(False, 1, 0, 5, 0)]).sensitivity.value
    0.5
    """
    finished = [score.item_right for score in scores if score.item_right is not None]
    return Scorecard(
        _share(sum(score.errors_caught for score in scores), sum(score.errors_reached for score in scores)),
        _share(sum(score.false_alarms for score in scores), sum(score.sound_reached for score in scores)),
        _share(sum(finished), len(finished)),
    )


def rolling(outcomes: Sequence[bool | None], window: int = WINDOW) -> list[Figure]:
    """Accuracy over the last ``window`` finished items, after each finished item in order of time.

    >>> [figure.value for figure in rolling([True, None, False, True], window=2)]
    [1.0, 0.5, 0.5]
    """
    finished = [outcome for outcome in outcomes if outcome is not None]
    figures = []
    for end in range(1, len(finished) + 1):
        recent = finished[max(0, end - window) : end]
        figures.append(_share(sum(recent), len(recent)))
    return figures


def confusion(gold: npt.ArrayLike, said: npt.ArrayLike) -> Ints:
    """How often gold was row while the person said column, in the order -1, 0, 1; labels of shape (steps,).

    Steps with several acceptable labels belong in the row of the one said where it is acceptable; that is the
    caller's choice, as is leaving out steps that were not reached.

    >>> confusion([-1, 1, 1], [1, 1, 0]).tolist()
    [[0, 0, 1], [0, 0, 0], [0, 1, 1]]
    """
    rows = np.searchsorted(_ORDER, np.asarray(gold, dtype=np.int64))
    columns = np.searchsorted(_ORDER, np.asarray(said, dtype=np.int64))
    return np.bincount(rows * 3 + columns, minlength=9).reshape(3, 3)


def accuracy(table: npt.ArrayLike) -> Figure:
    """Labels on the diagonal of a confusion table, with the Wilson interval."""
    counts = np.asarray(table, dtype=np.int64)
    return _share(int(np.trace(counts)), int(counts.sum()))


def suspect_gold(trusted_outcomes: Sequence[bool | None], least: int = 3) -> bool:
    """Whether an item may be bad gold: most of at least ``least`` trusted people fail it.

    >>> suspect_gold([False, False, True]), suspect_gold([False, False])
    (True, False)
    """
    finished = [outcome for outcome in trusted_outcomes if outcome is not None]
    return len(finished) >= least and 2 * sum(finished) < len(finished)


def _share(successes: int, trials: int) -> Figure:
    return proportion(int(successes), trials, Reason.NO_GOLD)
