"""What several people's labels of one solution say together.

In `first_error` the unit is the stop: a per-step majority can yield vectors that no person could have given, so the
labels are rebuilt from the agreed stop. In `all_steps` each step has its own plurality. Ties are never broken by
chance: they wait for adjudication.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from annotator.core.labels import NO_ERROR, Label, Labels, Mode, stop


@dataclass(frozen=True)
class Agreed:
    """``labels`` over all steps; where ``tied``, the labels in dispute are None and ``stop`` may be None."""

    labels: tuple[int | None, ...]
    stop: int | None
    tied: bool
    method: str = "plurality"


def plurality(annotations: Sequence[Labels], judged: Sequence[bool], mode: Mode) -> Agreed | None:
    """The plurality of complete annotations (n_annotations x n_steps), or None when there is none.

    >>> plurality([(1, -1, None), (1, -1, None), (1, 1, 1)], [True] * 3, Mode.FIRST_ERROR).stop
    1
    >>> plurality([(1, -1, None), (1, 1, 1)], [True] * 3, Mode.FIRST_ERROR).tied
    True
    """
    if mode is Mode.FIRST_ERROR:
        return _by_stop(annotations, judged)
    return _by_step(annotations, judged)


def _by_stop(annotations: Sequence[Labels], judged: Sequence[bool]) -> Agreed | None:
    stops = [(stop(labels, judged), labels) for labels in annotations]
    known = [(place, labels) for place, labels in stops if place is not None]
    if not known:
        return None
    place = _mode([at for at, _ in known])
    if place is None:
        return Agreed((None,) * len(judged), None, tied=True)
    followers = [labels for at, labels in known if at == place]
    return Agreed(rebuild(place, followers, judged), place, tied=False)


def rebuild(place: int, followers: Sequence[Labels], judged: Sequence[bool]) -> tuple[int | None, ...]:
    """Labels from the stop: -1 at it, None after it; before it what its followers say, correct where they differ.

    ``followers`` are annotations with that stop; there may be none where a model chose a stop that nobody gave.

    >>> rebuild(1, [(0, -1, None), (0, -1, None)], [True] * 3)
    (0, -1, None)
    """
    labels: list[int | None] = []
    for index, takes_label in enumerate(judged):
        if not takes_label or (place != NO_ERROR and index > place):
            labels.append(None)
        elif index == place:
            labels.append(Label.INCORRECT.value)
        else:
            choice = _mode([each[index] for each in followers if each[index] is not None])
            labels.append(Label.CORRECT.value if choice is None else choice)
    return tuple(labels)


def _by_step(annotations: Sequence[Labels], judged: Sequence[bool]) -> Agreed | None:
    if not annotations:
        return None
    labels: list[int | None] = []
    tied = False
    for index, takes_label in enumerate(judged):
        votes = [each[index] for each in annotations if each[index] is not None]
        choice = _mode(votes) if takes_label and votes else None
        tied = tied or (takes_label and bool(votes) and choice is None)
        labels.append(choice)
    return Agreed(tuple(labels), stop(labels, judged), tied)


def _mode(values: Sequence[int | None]) -> int | None:
    """The most frequent value, or None for a tie at the top or for nothing."""
    ranked = Counter(values).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]
