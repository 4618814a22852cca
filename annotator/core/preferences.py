"""How a person may set up the workbench: keys, size, contrast, hints. Plain rules, checked before anything is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Command → its key. A person may give each another one.
DEFAULT_KEYS: Mapping[str, str] = {
    "correct": "1",
    "neutral": "2",
    "incorrect": "3",
    "next": "j",
    "previous": "k",
    "undo": "u",
    "error_type": "e",
    "comment": "c",
    "unsure": "f",
    "submit": "Enter",
    "skip": "s",
    "give_up": "x",
    "bad_problem": "b",
    "guidelines": "g",
    "source": "r",
    "keys": "?",
    "question": "q",
    "segmentation": "m",
    "recovered": "v",
    "aids": "a",
    "scratch": "n",
}
#: Keys with a fixed meaning, which nobody can give away.
FIXED_KEYS = frozenset(
    {"ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Escape", "Tab", " ", "Shift", "Control"}
)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "theme": ("system", "light", "dark"),
    "contrast": ("normal", "high"),
    "size": ("small", "normal", "large", "larger"),
}
FLAGS = frozenset({"tour_seen", "key_hints"})


class InvalidPreference(ValueError):
    """A preference that can't be kept; the message says which and why."""


def clean(data: Mapping[str, Any]) -> dict[str, Any]:
    """The preferences that differ from the defaults. Raises InvalidPreference.

    >>> clean({"theme": "dark", "keys": {"skip": "k", "previous": "s"}})
    {'theme': 'dark', 'keys': {'previous': 's', 'skip': 'k'}}
    >>> clean({"keys": {"skip": "1"}})
    Traceback (most recent call last):
    ...
    annotator.core.preferences.InvalidPreference: '1' would mean both correct and skip
    """
    kept: dict[str, Any] = {}
    for name, value in data.items():
        if name in CHOICES:
            if value not in CHOICES[name]:
                raise InvalidPreference(f"{name} is one of {', '.join(CHOICES[name])}")
            kept[name] = value
        elif name in FLAGS:
            if not isinstance(value, bool):
                raise InvalidPreference(f"{name} is yes or no")
            kept[name] = value
        elif name == "keys":
            kept[name] = clean_keys(value)
        else:
            raise InvalidPreference(f"there is no preference '{name}'")
    return kept


def clean_keys(value: Any) -> dict[str, str]:
    """The remapped keys alone; a key that two commands would share is refused."""
    if not isinstance(value, dict):
        raise InvalidPreference("keys are an object: command to key")
    for command, key in value.items():
        if command not in DEFAULT_KEYS:
            raise InvalidPreference(f"there is no command '{command}'")
        if not isinstance(key, str) or not (key == "Enter" or (len(key) == 1 and key.isprintable())):
            raise InvalidPreference(f"the key for {_said(command)} must be one sign, or Enter")
        if key in FIXED_KEYS:
            raise InvalidPreference(f"{key!r} keeps its meaning and can't be given to {_said(command)}")
    owners: dict[str, str] = {}
    for command, key in ({**DEFAULT_KEYS, **{name: _lower(key) for name, key in value.items()}}).items():
        if key in owners:
            raise InvalidPreference(f"'{key}' would mean both {_said(owners[key])} and {_said(command)}")
        owners[key] = command
    changed = {command: _lower(key) for command, key in value.items()}
    return {
        command: changed[command]
        for command in DEFAULT_KEYS
        if changed.get(command, "") not in {"", DEFAULT_KEYS[command]}
    }


def _said(command: str) -> str:
    return command.replace("_", " ")


def _lower(key: str) -> str:
    return key.lower() if len(key) == 1 else key
