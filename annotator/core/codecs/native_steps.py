"""The steps of a native row: a list of texts or objects, or one text to be segmented."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotator.core.codecs.base import Caps, InvalidRow, ReadOptions
from annotator.core.codecs.fields import Fields, check_cut, check_length, describe
from annotator.core.segmentation import SegmentationError, steps
from annotator.core.solutions import CONTEXT_KINDS, JUDGED_KINDS, KINDS, Step, StoredSteps

_STEP = frozenset({"text", "kind", "judged", "sep", "alternatives"})
_MAX_SEP = 10_000
_ALWAYS = 4
_USUALLY_JUDGED = {kind: kind in JUDGED_KINDS for kind in KINDS}

#: For each unknown field of a step: the index of the step (as text) → its value.
Unknown = dict[str, dict[str, Any]]


def read_steps(fields: Fields, options: ReadOptions) -> tuple[Sequence[Step], Unknown]:
    """The steps, and the steps' unknown fields. A list is never cut again, whatever the segmentation rule."""
    values = fields.values
    if values.get("steps") is None and values.get("solution") is not None:
        return _segmented(fields, options), {}
    if values.get("solution") is not None:
        raise InvalidRow("solution", 'expected either "steps" or "solution"; got both')
    if "steps" not in values:
        raise InvalidRow("steps", 'the field is missing; expected "steps", or "solution" with the whole text')
    if isinstance(values["steps"], str):
        fields.fail("steps", 'a list of steps (one text to be segmented goes under "solution")')
    entries = fields.entries("steps", options.caps)
    if (usual := _usual(entries, options.caps)) is not None:
        return usual, {}
    return checked_steps(entries, options.caps)


def checked_steps(entries: Sequence[object], caps: Caps) -> tuple[Sequence[Step], Unknown]:
    """Each step, whatever is wrong or rare about it. Raises InvalidRow."""
    unknown: Unknown = {}
    return tuple(_checked(entry, index, caps, unknown) for index, entry in enumerate(entries)), unknown


def _segmented(fields: Fields, options: ReadOptions) -> tuple[Step, ...]:
    text = fields.text("solution", options.caps.line_bytes)
    try:
        found = steps(text, options.segment_rule)
    except SegmentationError as error:
        raise InvalidRow("solution", str(error)) from None
    check_cut("solution", [step.text for step in found], options.caps)
    for index, step in enumerate(found):
        check_length("solution", f"the space after step {index + 1}: ", step.sep, _MAX_SEP)
    return found


def _usual(entries: Sequence[object], caps: Caps) -> StoredSteps | None:
    """Steps with nothing wrong or rare about any, or None: what nearly all rows of a large file are. They are kept as
    they came, since to make each and to take it apart again took a fifth of the reading."""
    stored, said = [], []
    for entry in entries:
        step = _filled(entry)
        if step is None:
            return None
        text, kind, judged, sep = step.get("text"), step.get("kind"), step.get("judged"), step.get("sep")
        if type(text) is not str or type(kind) is not str or type(sep) is not str:
            return None
        if type(judged) is not bool or judged is not _USUALLY_JUDGED.get(kind):
            return None
        if not text or text.isspace() or len(text) > caps.step_chars or len(sep) > _MAX_SEP:
            return None
        stored.append(step)
        said.append((text, kind, judged, sep))
    return StoredSteps(stored, said)


def _filled(entry: object) -> dict[str, Any] | None:
    """The step with the four fields that are stored, or None where it is anything else. One of four fields is as it is:
    those that it lacks then are found missing."""
    if type(entry) is not dict:
        return None
    if len(entry) == _ALWAYS:
        return entry
    if not _STEP.issuperset(entry) or entry.get("alternatives", []) != []:
        return None
    kind = entry.get("kind", "reasoning")
    judged = entry.get("judged", type(kind) is str and _USUALLY_JUDGED.get(kind))
    return {"text": entry.get("text"), "kind": kind, "judged": judged, "sep": entry.get("sep", "")}


def _checked(entry: object, index: int, caps: Caps, unknown: Unknown) -> Step:
    """A step, whatever is wrong with it named. Raises InvalidRow."""
    place = f"step {index + 1}: "
    if isinstance(entry, str):
        entry = {"text": entry}
    if not isinstance(entry, dict):
        raise InvalidRow("steps", f"{place}expected a text or an object; got {describe(entry)}")
    for key in entry.keys() - _STEP:
        unknown.setdefault(key, {})[str(index)] = entry[key]
    text, kind = entry.get("text"), entry.get("kind", "reasoning")
    if not isinstance(text, str) or not text.strip():
        raise InvalidRow("steps", f'{place}expected a "text" that is not blank; got {describe(text)}')
    check_length("steps", place, text, caps.step_chars)
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidRow(
            "steps", f"{place}expected a kind of {', '.join(sorted(KINDS))}; got {describe(kind)}"
        )
    return Step(text, kind, _judged(entry, kind, place), *_rest(entry, place))


def _judged(entry: dict[str, Any], kind: str, place: str) -> bool:
    judged = entry.get("judged", kind in JUDGED_KINDS)
    if not isinstance(judged, bool):
        raise InvalidRow("steps", f'{place}expected "judged" to be true or false; got {describe(judged)}')
    if judged and kind in CONTEXT_KINDS:
        raise InvalidRow("steps", f"{place}a step of kind {kind} is context and can't be judged")
    return judged


def _rest(entry: dict[str, Any], place: str) -> tuple[str, tuple[Any, ...]]:
    sep, alternatives = entry.get("sep", ""), entry.get("alternatives")
    if not isinstance(sep, str):
        raise InvalidRow("steps", f'{place}expected "sep" to be a text; got {describe(sep)}')
    check_length("steps", f"{place}sep: ", sep, _MAX_SEP)
    if alternatives is not None and not isinstance(alternatives, list):
        raise InvalidRow(
            "steps", f'{place}expected "alternatives" to be a list; got {describe(alternatives)}'
        )
    return sep, tuple(alternatives or ())
