"""Keeping preferences."""

from __future__ import annotations

import pytest

from annotator.actions import preferences
from annotator.core.preferences import InvalidPreference
from annotator.models import Preferences
from tests import factories as make

pytestmark = pytest.mark.django_db


def test_changes_are_merged_and_the_whole_comes_back() -> None:
    user = make.user()
    preferences.save(user_id=user.pk, changes={"theme": "dark"})
    assert preferences.save(user_id=user.pk, changes={"size": "small"}) == {"theme": "dark", "size": "small"}
    assert Preferences.objects.get(user=user).data == {"theme": "dark", "size": "small"}


def test_a_refused_change_changes_nothing() -> None:
    user = make.user()
    preferences.save(user_id=user.pk, changes={"theme": "dark"})
    with pytest.raises(InvalidPreference):
        preferences.save(user_id=user.pk, changes={"theme": "light", "contrast": "extreme"})
    assert Preferences.objects.get(user=user).data == {"theme": "dark"}


def test_two_keys_can_change_places_in_one_change() -> None:
    kept = preferences.save(user_id=make.user().pk, changes={"keys": {"correct": "3", "incorrect": "1"}})
    assert kept["keys"] == {"correct": "3", "incorrect": "1"}


def test_keys_as_they_came_leave_nothing_behind() -> None:
    user = make.user()
    preferences.save(user_id=user.pk, changes={"keys": {"skip": "w"}})
    assert preferences.save(user_id=user.pk, changes={"keys": {"skip": "s"}})["keys"] == {}
