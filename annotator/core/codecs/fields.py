"""Typed access to the values of a row, with errors that name the field and say what was expected."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from annotator.core.codecs.base import Caps, InvalidRow

_MISSING = object()


def describe(value: object) -> str:
    """A value in words, short enough for a message.

    >>> describe(["a"]), describe(True), describe(2.5)
    ('a list of 1', 'true', '2.5')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        shown = value if len(value) <= 40 else value[:39] + "…"
        return f'the text "{shown}"' if value.strip() else "a blank text"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, dict):
        return "an object"
    return str(value)


def is_whole(value: object) -> bool:
    """Whether a JSON value is an integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object. Methods that return None do so for a field that is absent or null."""

    values: Mapping[str, Any]
    path: str = ""

    def fail(self, key: str, expected: str) -> NoReturn:
        """Raise InvalidRow that names the field, what it should hold and what it does."""
        value = self.values.get(key, _MISSING)
        found = "the field is missing" if value is _MISSING else f"got {describe(value)}"
        raise InvalidRow(self.name(key), f"expected {expected}; {found}")

    def name(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def require(self, *keys: str) -> None:
        """Raise InvalidRow for the first field that is not there; null is there."""
        for key in keys:
            if key not in self.values:
                raise InvalidRow(self.name(key), "the field is missing")

    def text(self, key: str, at_most: int) -> str:
        """A text that must be there and not be blank."""
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            self.fail(key, "a text that is not blank")
        return self._short(key, value, at_most)

    def optional_text(self, key: str, at_most: int) -> str | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self.fail(key, "a text or null")
        return self._short(key, value, at_most)

    def identifier(self, key: str, at_most: int) -> str:
        """A text or an integer, as text; "" where there is none."""
        value = self.values.get(key)
        if value is None:
            return ""
        if not isinstance(value, str) and not is_whole(value):
            self.fail(key, "a text or an integer")
        return self._short(key, str(value), at_most)

    def flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            self.fail(key, "true, false or null")
        return value

    def whole(self, key: str) -> int | None:
        value = self.values.get(key)
        if value is not None and not is_whole(value):
            self.fail(key, "an integer or null")
        return value

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(key, "a number or null")
        return value

    def items(self, key: str) -> list[Any] | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, list):
            self.fail(key, "a list")
        return value

    def mapping(self, key: str) -> Mapping[str, Any] | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, dict):
            self.fail(key, "an object")
        return value

    def choice(self, key: str, choices: Collection[str]) -> str | None:
        value = self.values.get(key)
        if value is not None and (not isinstance(value, str) or value not in choices):
            self.fail(key, f"one of {', '.join(sorted(choices))}")
        return value

    def time(self, key: str) -> str | None:
        """An ISO 8601 time, kept as it was written."""
        value = self.optional_text(key, 64)
        if value is None:
            return None
        try:
            datetime.fromisoformat(value)
        except ValueError:
            self.fail(key, "an ISO 8601 time or null")
        return value

    def rest(self, known: Collection[str]) -> dict[str, Any]:
        """The fields that are not among these."""
        return {key: value for key, value in self.values.items() if key not in known}

    def texts(self, key: str, caps: Caps) -> list[str]:
        """A list of steps' texts: not empty, none blank."""
        entries = self.entries(key, caps)
        for index, entry in enumerate(entries):
            if not isinstance(entry, str) or not entry.strip():
                raise InvalidRow(
                    self.name(key),
                    f"step {index + 1}: expected a text that is not blank; got {describe(entry)}",
                )
            check_length(self.name(key), f"step {index + 1}: ", entry, caps.step_chars)
        return entries

    def entries(self, key: str, caps: Caps) -> list[Any]:
        """A list of steps of any shape: not empty, not too long."""
        entries = self.values.get(key)
        if not isinstance(entries, list) or not entries:
            self.fail(key, "a list of at least one step")
        check_count(self.name(key), len(entries), caps)
        return entries

    def _short(self, key: str, value: str, at_most: int) -> str:
        if len(value) > at_most:
            check_length(self.name(key), "", value, at_most)
        return value


def check_length(field_name: str, place: str, value: str, at_most: int) -> None:
    """Raise InvalidRow for a text of more characters than that."""
    if len(value) > at_most:
        raise InvalidRow(field_name, f"{place}expected at most {at_most:,} characters; got {len(value):,}")


def check_count(field_name: str, n_steps: int, caps: Caps) -> None:
    """Raise InvalidRow for more steps than may be."""
    if n_steps > caps.steps:
        raise InvalidRow(field_name, f"expected at most {caps.steps:,} steps; got {n_steps:,}")


def check_cut(field_name: str, texts: Sequence[str], caps: Caps) -> None:
    """Raise InvalidRow for steps, cut out of one text, that are too many or too long."""
    check_count(field_name, len(texts), caps)
    for index, text in enumerate(texts):
        check_length(field_name, f"step {index + 1}: ", text, caps.step_chars)
