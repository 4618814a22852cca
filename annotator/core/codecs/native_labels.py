"""The labels of a native row: the file's own, its gold masks, and people's annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from annotator.core.codecs.base import Caps, InvalidRow
from annotator.core.codecs.fields import Fields, describe, is_whole
from annotator.core.labels import (
    NO_ERROR,
    FinishReason,
    InvalidLabels,
    Label,
    Mode,
    check_shape,
    finish_reason,
    from_first_error,
    stop,
)
from annotator.core.solutions import ImportedAnnotation

#: Every acceptable label: incorrect 1, neutral 2, correct 4.
_ALL_LABELS = 7
_WHOLE_OR_NULL = frozenset({int, type(None)})


class NativeLabels(NamedTuple):
    """What a row says of its labels, made consistent."""

    labels: tuple[int | None, ...] | None
    first_error: int | None
    accept: tuple[int, ...] | None


def read_labels(fields: Fields, judged: Sequence[bool]) -> NativeLabels:
    """Labels, first error, gold masks. Each of the first two is derived from the other where one is absent.

    Raises InvalidRow where they contradict each other.
    """
    labels = _labels(fields, "labels", judged)
    first_error = fields.whole("first_error")
    if first_error is not None and labels is None:
        try:
            labels = from_first_error(first_error, judged)
        except InvalidLabels:
            _bad_place(fields, judged)
    elif first_error is not None and labels is not None:
        _check_agreement(fields, labels, first_error, judged)
    elif labels is not None:
        first_error = stop(labels, judged)
    return NativeLabels(labels, first_error, _accept(fields, judged))


def read_annotations(
    fields: Fields, judged: Sequence[bool], mode: str | None, caps: Caps
) -> tuple[ImportedAnnotation, ...]:
    """People's labels. ``annotator`` and ``labels`` must be there; the finish reason is implied by them."""
    entries = fields.items("annotations") or []
    if len(entries) > caps.annotations:
        raise InvalidRow("annotations", f"expected at most {caps.annotations:,}; got {len(entries):,}")
    read = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise InvalidRow("annotations", f"entry {index + 1}: expected an object; got {describe(entry)}")
        read.append(_annotation(Fields(entry, f"annotations[{index}]"), judged, mode, caps))
    return tuple(read)


def _annotation(fields: Fields, judged: Sequence[bool], mode: str | None, caps: Caps) -> ImportedAnnotation:
    annotator = fields.identifier("annotator", caps.identifier_chars)
    if not annotator.strip():
        fields.fail("annotator", "the person's pseudonym")
    labels = _labels(fields, "labels", judged)
    if labels is None:
        fields.fail("labels", "a list with one label for each step")
    implied = finish_reason(labels, Mode(mode) if mode else Mode.FIRST_ERROR)
    seconds = fields.number("active_seconds")
    if seconds is not None and seconds < 0:
        fields.fail("active_seconds", "a number that is not negative, or null")
    counted = fields.flag("counted")
    return ImportedAnnotation(
        annotator=annotator,
        labels=labels,
        finish_reason=fields.choice("finish_reason", frozenset(FinishReason)) or implied.value,
        details=fields.mapping("details") or {},
        active_seconds=seconds,
        submitted_at=fields.time("submitted_at"),
        counted=True if counted is None else counted,
        guidelines=fields.whole("guidelines"),
    )


def _labels(fields: Fields, key: str, judged: Sequence[bool]) -> tuple[int | None, ...] | None:
    given = fields.items(key)
    if given is None:
        return None
    # All at once; only where one is something else, which.
    for index, label in enumerate(() if _WHOLE_OR_NULL.issuperset(map(type, given)) else given):
        if label is not None and not is_whole(label):
            expected = "expected -1, 0, 1 or null"
            raise InvalidRow(fields.name(key), f"step {index + 1}: {expected}; got {describe(label)}")
    try:
        check_shape(given, judged)
    except InvalidLabels as error:
        raise InvalidRow(fields.name(key), error.message) from None
    return tuple(given)


def _check_agreement(
    fields: Fields, labels: Sequence[int | None], first_error: int, judged: Sequence[bool]
) -> None:
    """Raise InvalidRow unless the first error can be where it is said to be, given these labels."""
    if first_error != NO_ERROR and not (0 <= first_error < len(judged) and judged[first_error]):
        _bad_place(fields, judged)
    marked = [index for index, label in enumerate(labels) if label == Label.INCORRECT]
    first_marked = marked[0] if marked else NO_ERROR
    if first_error == NO_ERROR:
        fits = not marked
    elif labels[first_error] is None:
        fits = not marked or first_marked > first_error
    else:
        fits = first_marked == first_error
    if not fits:
        shown = "none is -1" if first_marked == NO_ERROR else f"the first -1 is at index {first_marked}"
        raise InvalidRow("first_error", f"expected it to agree with labels, where {shown}; got {first_error}")


def _bad_place(fields: Fields, judged: Sequence[bool]) -> None:
    fields.fail("first_error", f"-1, null or the 0-based index of a judged step of {len(judged)}")


def _accept(fields: Fields, judged: Sequence[bool]) -> tuple[int, ...] | None:
    gold = fields.mapping("gold")
    if gold is None:
        return None
    inner = Fields(gold, "gold")
    accept = inner.items("accept")
    if accept is None or len(accept) != len(judged):
        inner.fail("accept", f"a list of {len(judged)} masks, one for each step")
    for index, (mask, takes_label) in enumerate(zip(accept, judged, strict=True)):
        if not is_whole(mask) or not 0 <= mask <= _ALL_LABELS:
            raise InvalidRow("gold.accept", f"step {index + 1}: expected 0 to 7; got {describe(mask)}")
        if mask and not takes_label:
            raise InvalidRow("gold.accept", f"step {index + 1} is context; expected 0, got {mask}")
    return tuple(accept)
