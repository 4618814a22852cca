"""How one annotation of a gold solution did.

A gold solution has acceptable stops, an annotator stops at t. Steps before both are passed correctly; a stop where
only sound labels are acceptable is a false alarm; passing a step where only an error is acceptable is a miss; what
comes later is not scored. Giving up censors the item, but not the steps that were judged before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.core.labels import (
    CENSORED,
    NOT_AN_ERROR,
    FinishReason,
    Label,
    Labels,
    Mode,
    accept_bit,
    acceptable_stops,
    stop,
)

_INCORRECT = accept_bit(Label.INCORRECT)


@dataclass(frozen=True)
class ItemScore:
    """Counts of steps; ``item_right`` is None when the person gave up or called the problem bad."""

    item_right: bool | None
    errors_reached: int
    errors_caught: int
    sound_reached: int
    false_alarms: int


def score_item(
    labels: Labels, accept: Sequence[int], judged: Sequence[bool], mode: Mode, reason: FinishReason
) -> ItemScore:
    """Compare labels with gold masks, all over n_steps.

    >>> score_item((1, -1, None), (6, 1, 0), [True] * 3, Mode.FIRST_ERROR, FinishReason.FOUND_ERROR)
    ItemScore(item_right=True, errors_reached=1, errors_caught=1, sound_reached=1, false_alarms=0)
    >>> score_item((1, 1, 1), (6, 1, 0), [True] * 3, Mode.FIRST_ERROR, FinishReason.SOLUTION)
    ItemScore(item_right=False, errors_reached=1, errors_caught=0, sound_reached=1, false_alarms=0)
    """
    reached = caught = sound = alarms = 0
    for label, mask in zip(labels, accept, strict=True):
        if label is None or not mask:
            continue
        says_error = label == Label.INCORRECT
        if not mask & NOT_AN_ERROR:
            reached += 1
            caught += says_error
            if mode is Mode.FIRST_ERROR:
                break
        elif not mask & _INCORRECT:
            sound += 1
            alarms += says_error
        if says_error and mode is Mode.FIRST_ERROR:
            break
    return ItemScore(_item_right(labels, accept, judged, mode, reason), reached, caught, sound, alarms)


def _item_right(
    labels: Labels, accept: Sequence[int], judged: Sequence[bool], mode: Mode, reason: FinishReason
) -> bool | None:
    if reason in CENSORED:
        return None
    if mode is Mode.FIRST_ERROR:
        return stop(labels, judged) in acceptable_stops(accept)
    scored = [(label, mask) for label, mask in zip(labels, accept, strict=True) if mask]
    return all(label is not None and accept_bit(label) & mask for label, mask in scored)
