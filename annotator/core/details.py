"""What a person may say beside the labels: errors by type, comments, doubt, and more.

Details are a JSON object. Steps are keys in decimal ("3"), 0-based over all steps. Whatever a key is not known for is
refused, so that nothing is stored that nothing reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from annotator.core.labels import InvalidLabels, Label, Labels

#: The default taxonomy, after PRMBench, StepVerify and what annotators of PRM800K wrote.
ERROR_TYPES = (
    "calculation",
    "wrong formula or theorem",
    "condition not verified",
    "misread problem",
    "missing case",
    "unjustified jump",
    "contradicts an earlier step",
    "circular",
    "redundant",
    "notation or unit",
    "invented fact",
    "code does not do what it says",
)
AIDS = frozenset({"equations", "reference", "answer"})
MAX_TEXT = 4_000
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
MAX_STEP_SECONDS = 6 * 3600.0


def clean(details: Mapping[str, Any], n_steps: int, *, draft: bool = False) -> dict[str, Any]:
    """The details without their empty parts. Raises InvalidLabels for what is unknown or malformed.

    ``draft`` allows the scratchpad, which is never handed in.
    """
    known = _READERS if draft else {key: read for key, read in _READERS.items() if key != "scratch"}
    unknown = set(details) - set(_READERS)
    if unknown:
        raise InvalidLabels(f"unknown detail '{min(unknown)}'")
    kept = {key: read(details[key], n_steps) for key, read in known.items() if key in details}
    return {key: value for key, value in kept.items() if value}


def require(
    labels: Labels,
    details: Mapping[str, Any],
    *,
    error_types: Sequence[str],
    need_type: bool,
    need_comment: bool,
) -> None:
    """Raise InvalidLabels unless the details fit the labels and say what the project asks for.

    >>> require([1, -1], {}, error_types=["calculation"], need_type=True, need_comment=False)
    Traceback (most recent call last):
    ...
    annotator.core.labels.InvalidLabels: say what kind of error step 2 has
    """
    types, comments = details.get("error_types", {}), details.get("comments", {})
    for index, label in enumerate(labels):
        wrong, key = label == Label.INCORRECT, str(index)
        if key in types and not wrong:
            raise InvalidLabels(f"step {index + 1} has an error type but is not marked incorrect", index)
        if key in types and types[key] not in error_types:
            raise InvalidLabels(f"this project has no error type '{types[key]}'", index)
        if wrong and need_type and key not in types:
            raise InvalidLabels(f"say what kind of error step {index + 1} has", index)
        if wrong and need_comment and key not in comments:
            raise InvalidLabels(f"say in a comment what is wrong with step {index + 1}", index)


def is_text(value: Any) -> bool:
    """Whether a value is text that can be stored: not too long, no NUL, no half of a surrogate pair."""
    return isinstance(value, str) and len(value) <= MAX_TEXT and not _UNSTORABLE.search(value)


def _steps(value: Any, n_steps: int) -> list[int]:
    if not isinstance(value, list) or not all(type(step) is int and 0 <= step < n_steps for step in value):
        raise InvalidLabels("expected a list of step numbers")
    return sorted(set(value))


def _text(value: Any, n_steps: int) -> str:
    if not is_text(value):
        raise InvalidLabels(f"expected text of at most {MAX_TEXT:,} characters")
    return str(value).strip()


def _by_step(read: Callable[[Any, int], Any]) -> Callable[[Any, int], dict[str, Any]]:
    def read_all(value: Any, n_steps: int) -> dict[str, Any]:
        if not isinstance(value, dict) or not all(_is_step(key, n_steps) for key in value):
            raise InvalidLabels("expected an object whose keys are step numbers")
        kept = {key: read(each, n_steps) for key, each in value.items()}
        return {key: each for key, each in sorted(kept.items(), key=lambda item: int(item[0])) if each != ""}

    return read_all


def _is_step(key: Any, n_steps: int) -> bool:
    return (
        isinstance(key, str)
        and key.isascii()
        and key.isdecimal()
        and len(key) <= len(str(n_steps))  # before int: a long row of digits is no number to Python
        and str(int(key)) == key
        and int(key) < n_steps
    )


def _step(value: Any, n_steps: int) -> int:
    if type(value) is not int or not 0 <= value < n_steps:
        raise InvalidLabels("expected a step number")
    return value


def _seconds(value: Any, n_steps: int) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_STEP_SECONDS:
        raise InvalidLabels("expected seconds")
    return round(float(value), 1)


def _aids(value: Any, n_steps: int) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(aid, str) and aid in AIDS for aid in value):
        raise InvalidLabels(f"aids are a list of {', '.join(sorted(AIDS))}")
    return sorted(set(value))


def _cut(value: Any, n_steps: int) -> dict[str, Any]:
    """{"is": "coarse", "at": character} where to split, or {"is": "fine", "merge": "previous" | "next"}."""
    if isinstance(value, dict) and value.get("is") == "coarse" and set(value) <= {"is", "at"}:
        at = value.get("at")
        if at is None or (type(at) is int and at >= 0):
            return dict(value)
    if isinstance(value, dict) and value.get("is") == "fine" and value.get("merge") in ("previous", "next"):
        return {"is": "fine", "merge": value["merge"]}
    raise InvalidLabels("expected where the step should be split or what it should be merged with")


_READERS: dict[str, Callable[[Any, int], Any]] = {
    "unsure": _steps,
    "implied": _steps,
    "comments": _by_step(_text),
    "error_types": _by_step(_text),
    "recovered_at": _by_step(_step),
    "segmentation": _by_step(_cut),
    "step_seconds": _by_step(_seconds),
    "aids": _aids,
    "reason": _text,
    "scratch": _text,
}
