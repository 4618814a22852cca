"""The rules of what is said beside the labels."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.core.details import ERROR_TYPES, MAX_TEXT, clean, require
from annotator.core.labels import InvalidLabels

FULL: dict[str, Any] = {
    "unsure": [0, 2],
    "implied": [1],
    "comments": {"0": "why?"},
    "error_types": {"2": "calculation"},
    "recovered_at": {"1": 2},
    "segmentation": {"0": {"is": "coarse", "at": 12}, "1": {"is": "fine", "merge": "next"}},
    "step_seconds": {"0": 3.5},
    "aids": ["equations"],
    "reason": "too long",
}


def test_everything_known_is_kept_as_it_is() -> None:
    assert clean(FULL, 3) == FULL


def test_empty_parts_are_dropped() -> None:
    assert clean({"unsure": [], "comments": {"0": "  "}, "reason": " ", "error_types": {}}, 3) == {}


def test_steps_are_sorted_and_named_once() -> None:
    assert clean({"unsure": [2, 0, 2]}, 3) == {"unsure": [0, 2]}


def test_the_scratchpad_lives_in_drafts_and_is_never_handed_in() -> None:
    assert clean({"scratch": "3x = 12"}, 3, draft=True) == {"scratch": "3x = 12"}
    assert clean({"scratch": "3x = 12"}, 3) == {}


@pytest.mark.parametrize(
    "details",
    [
        {"mood": "good"},
        {"unsure": [3]},
        {"unsure": [-1]},
        {"unsure": [True]},
        {"unsure": "0"},
        {"comments": []},
        {"comments": {"3": "x"}},
        {"comments": {"-1": "x"}},
        {"comments": {"01": "x"}},
        {"comments": {"٠": "x"}},
        {"comments": {"9" * 5_000: "x"}},
        {"comments": {"0": 7}},
        {"comments": {"0": "x" * (MAX_TEXT + 1)}},
        {"comments": {"0": "nul \0"}},
        {"comments": {"0": "half \ud800"}},
        {"recovered_at": {"0": 3}},
        {"recovered_at": {"0": "1"}},
        {"segmentation": {"0": {"is": "coarse", "at": -1}}},
        {"segmentation": {"0": {"is": "coarse", "more": 1}}},
        {"segmentation": {"0": {"is": "fine"}}},
        {"segmentation": {"0": {"is": "fine", "merge": "both"}}},
        {"segmentation": {"0": {"is": "fine", "merge": []}}},
        {"segmentation": {"0": "coarse"}},
        {"step_seconds": {"0": -1}},
        {"step_seconds": {"0": True}},
        {"step_seconds": {"0": float("nan")}},
        {"step_seconds": {"0": 1e9}},
        {"aids": ["scores"]},
        {"aids": "equations"},
        {"reason": ["x"]},
    ],
)
def test_what_nothing_reads_or_nobody_could_mean_is_refused(details: dict[str, Any]) -> None:
    with pytest.raises(InvalidLabels):
        clean(details, 3)


def checked(labels: list[int | None], details: dict[str, Any], *, need: str = "") -> None:
    require(
        labels, details, error_types=ERROR_TYPES, need_type=need == "type", need_comment=need == "comment"
    )


def test_where_nothing_is_asked_for_nothing_is_missing() -> None:
    checked([1, -1, None], {})


def test_an_error_type_belongs_to_an_incorrect_step() -> None:
    with pytest.raises(InvalidLabels, match="step 1 has an error type but is not marked incorrect"):
        checked([1, -1], {"error_types": {"0": "calculation"}})


def test_an_error_type_is_one_of_the_projects() -> None:
    with pytest.raises(InvalidLabels, match="no error type 'typo'"):
        checked([-1], {"error_types": {"0": "typo"}})


@pytest.mark.parametrize(
    ("need", "details"),
    [("type", {"error_types": {"1": "calculation"}}), ("comment", {"comments": {"1": "x"}})],
)
def test_what_is_asked_for_is_missed_and_then_enough(need: str, details: dict[str, Any]) -> None:
    with pytest.raises(InvalidLabels, match="step 2") as missing:
        checked([1, -1, None], {}, need=need)
    assert missing.value.step == 1
    checked([1, -1, None], details, need=need)
