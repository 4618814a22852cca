"""The rules of preferences."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.core.preferences import (
    CHOICES,
    DEFAULT_KEYS,
    FIXED_KEYS,
    InvalidPreference,
    clean,
    clean_keys,
)


def test_no_two_commands_come_with_the_same_key() -> None:
    assert len(set(DEFAULT_KEYS.values())) == len(DEFAULT_KEYS)


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in CHOICES for value in CHOICES[name]])
def test_every_offered_choice_is_kept(name: str, value: str) -> None:
    assert clean({name: value}) == {name: value}


@pytest.mark.parametrize(
    "data",
    [
        {"theme": "pink"},
        {"size": 3},
        {"contrast": None},
        {"theme": ["dark"]},
        {"tour_seen": "yes"},
        {"key_hints": 1},
        {"colour": "red"},
        {"keys": []},
        {"keys": None},
    ],
)
def test_what_is_not_offered_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(InvalidPreference):
        clean(data)


def test_a_key_of_another_command_is_refused_and_both_are_named() -> None:
    with pytest.raises(InvalidPreference, match="'k' would mean both previous and skip"):
        clean_keys({"skip": "k"})


def test_a_key_that_its_owner_gave_away_is_free() -> None:
    assert clean_keys({"skip": "k", "previous": "p"}) == {"previous": "p", "skip": "k"}


def test_upper_and_lower_case_are_one_key() -> None:
    with pytest.raises(InvalidPreference, match="'k' would mean"):
        clean_keys({"skip": "K"})


def test_two_new_keys_may_not_be_the_same() -> None:
    with pytest.raises(InvalidPreference):
        clean_keys({"skip": "w", "give_up": "w"})


@pytest.mark.parametrize("key", [*sorted(FIXED_KEYS), "F5", "", "ab", "\n", "\x00", 7, None])
def test_keys_with_a_meaning_of_their_own_or_none_are_refused(key: Any) -> None:
    with pytest.raises(InvalidPreference):
        clean_keys({"skip": key})


@pytest.mark.parametrize("key", ["ö", "й", "ع", ";", "Enter"])
def test_keys_of_other_keyboards_are_fine(key: str) -> None:
    free = {"submit": "w"} if key == "Enter" else {}
    assert clean_keys({"skip": key, **free})["skip"] == key


def test_unknown_commands_are_refused() -> None:
    with pytest.raises(InvalidPreference, match="no command 'explode'"):
        clean_keys({"explode": "w"})


def test_only_what_differs_from_the_defaults_is_kept() -> None:
    assert clean_keys(dict(DEFAULT_KEYS)) == {}
