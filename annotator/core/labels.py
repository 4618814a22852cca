"""What a label means, and when a set of labels is complete.

Indices are 0-based over all steps, context included. "Not judged" is None, never 0 or -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, StrEnum

Labels = Sequence[int | None]

#: The stop of a solution in which no step is incorrect.
NO_ERROR = -1


class Label(IntEnum):
    """CORRECT: valid and useful. NEUTRAL: valid, adds nothing. INCORRECT: false, does not follow, or unverifiable."""

    INCORRECT = -1
    NEUTRAL = 0
    CORRECT = 1


class Mode(StrEnum):
    """FIRST_ERROR: judge up to and including the first incorrect step. ALL_STEPS: judge each."""

    FIRST_ERROR = "first_error"
    ALL_STEPS = "all_steps"


class FinishReason(StrEnum):
    """Why a person stopped judging. GIVE_UP and BAD_PROBLEM may be partial: they count as censored."""

    FOUND_ERROR = "found_error"
    SOLUTION = "solution"
    GIVE_UP = "give_up"
    BAD_PROBLEM = "bad_problem"


CENSORED = frozenset({FinishReason.GIVE_UP, FinishReason.BAD_PROBLEM})


class InvalidLabels(ValueError):
    """Labels that break a rule; ``step`` is the 0-based place, or None when it is about the whole."""

    def __init__(self, message: str, step: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.step = step


def stop(labels: Labels, judged: Sequence[bool]) -> int | None:
    """Index of the first incorrect step, -1 when every judged step is known and none is incorrect, else None.

    An unknown step before the first incorrect one makes the stop unknown.

    >>> stop([1, 0, -1, None], [True] * 4)
    2
    >>> stop([1, None, 1], [True, False, True])
    -1
    >>> stop([1, None, -1], [True] * 3) is None
    True
    """
    for index, (label, takes_label) in enumerate(zip(labels, judged, strict=True)):
        if not takes_label:
            continue
        if label is None:
            return None
        if label == Label.INCORRECT:
            return index
    return NO_ERROR


def from_first_error(first_error: int, judged: Sequence[bool]) -> tuple[int | None, ...]:
    """Labels that say no more than "the first error is here": +1 before it, -1 at it, None after it.

    Raises InvalidLabels when the place does not exist or takes no label.

    >>> from_first_error(1, [True, True, True])
    (1, -1, None)
    >>> from_first_error(-1, [True, False, True])
    (1, None, 1)
    """
    if first_error != NO_ERROR and not (0 <= first_error < len(judged) and judged[first_error]):
        raise InvalidLabels(f"first error {first_error} is not a judged step of {len(judged)}", first_error)
    labels: list[int | None] = []
    for index, takes_label in enumerate(judged):
        if not takes_label or (first_error != NO_ERROR and index > first_error):
            labels.append(None)
        else:
            labels.append(Label.INCORRECT.value if index == first_error else Label.CORRECT.value)
    return tuple(labels)


def check(labels: Labels, judged: Sequence[bool], mode: Mode, reason: FinishReason) -> None:
    """Raise InvalidLabels unless the labels are well-formed and complete for that mode and finish reason.

    >>> check([1, -1, None], [True] * 3, Mode.FIRST_ERROR, FinishReason.FOUND_ERROR)
    >>> check([1, None, 1], [True] * 3, Mode.ALL_STEPS, FinishReason.SOLUTION)
    Traceback (most recent call last):
    ...
    annotator.core.labels.InvalidLabels: step 2 has no label yet
    """
    check_shape(labels, judged)
    if mode is Mode.FIRST_ERROR:
        _nothing_after_the_stop(labels)
    if reason in CENSORED:
        return
    has_error = Label.INCORRECT in labels
    if mode is Mode.ALL_STEPS and reason is not FinishReason.SOLUTION:
        raise InvalidLabels("when every step is judged, the finish reason is 'solution'")
    if mode is Mode.FIRST_ERROR and has_error != (reason is FinishReason.FOUND_ERROR):
        raise InvalidLabels(
            "'found_error' goes with an incorrect step, 'solution' with none",
        )
    gap = missing(labels, judged, mode)
    if gap:
        raise InvalidLabels(f"step {gap[0] + 1} has no label yet", gap[0])


_PLAIN, _ALLOWED = frozenset({int, type(None)}), frozenset({-1, 0, 1, None})


def check_shape(labels: Labels, judged: Sequence[bool]) -> None:
    """Raise InvalidLabels unless there is one entry a step, each -1, 0, 1 or None, and context has none."""
    if len(labels) != len(judged):
        raise InvalidLabels(f"expected {len(judged)} labels, one for each step, got {len(labels)}")
    # All at once; only where something may be wrong, what.
    if _PLAIN.issuperset(map(type, labels)) and _ALLOWED.issuperset(labels) and all(judged):
        return
    for index, (label, takes_label) in enumerate(zip(labels, judged, strict=True)):
        if label is None:
            continue
        if isinstance(label, bool) or label not in (-1, 0, 1):
            raise InvalidLabels(f"step {index + 1}: a label is -1, 0, 1 or null, got {label!r}", index)
        if not takes_label:
            raise InvalidLabels(f"step {index + 1} is context and takes no label", index)


def missing(labels: Labels, judged: Sequence[bool], mode: Mode) -> list[int]:
    """Judged steps that still need a label, in order.

    >>> missing([1, None, -1, None], [True] * 4, Mode.FIRST_ERROR)
    [1]
    """
    gaps = []
    for index, (label, takes_label) in enumerate(zip(labels, judged, strict=True)):
        if takes_label and label is None:
            gaps.append(index)
        if mode is Mode.FIRST_ERROR and label == Label.INCORRECT:
            break
    return gaps


def finish_reason(labels: Labels, mode: Mode) -> FinishReason:
    """The reason that complete labels imply."""
    if mode is Mode.FIRST_ERROR and Label.INCORRECT in labels:
        return FinishReason.FOUND_ERROR
    return FinishReason.SOLUTION


def _nothing_after_the_stop(labels: Labels) -> None:
    seen = False
    for index, label in enumerate(labels):
        if seen and label is not None:
            raise InvalidLabels(
                f"step {index + 1} comes after the first incorrect step and takes no label", index
            )
        seen = seen or label == Label.INCORRECT


def accept_bit(label: int) -> int:
    """The bit of one label in a gold mask: incorrect 1, neutral 2, correct 4.

    >>> [accept_bit(label) for label in (-1, 0, 1)]
    [1, 2, 4]
    """
    return 1 << (label + 1)


#: A step that a neutral and a correct label both fit: neither calls it an error.
NOT_AN_ERROR = accept_bit(Label.NEUTRAL) | accept_bit(Label.CORRECT)


def accept_masks(labels: Labels) -> tuple[int, ...]:
    """Gold masks from labels: a known label accepts itself, but correct and neutral accept each other.

    In evaluation a neutral step is not an error. None becomes 0, not scored.

    >>> accept_masks([1, 0, -1, None])
    (6, 6, 1, 0)
    """
    return tuple(
        0 if label is None else accept_bit(label) if label == Label.INCORRECT else NOT_AN_ERROR
        for label in labels
    )


def acceptable_stops(accept: Sequence[int]) -> frozenset[int]:
    """Every stop that gold masks allow. A step of mask 0 is not scored, so nothing can stop there.

    >>> sorted(acceptable_stops([6, 7, 1, 0]))
    [1, 2]
    >>> sorted(acceptable_stops([6, 6]))
    [-1]
    """
    incorrect = accept_bit(Label.INCORRECT)
    stops = set()
    for index, mask in enumerate(accept):
        if mask & incorrect:
            stops.add(index)
        if mask and not mask & NOT_AN_ERROR:
            return frozenset(stops)
    return frozenset(stops | {NO_ERROR})
