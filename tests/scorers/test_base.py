"""The door to every scorer refuses scores that do not fit their solution."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from annotator.core.solutions import Step
from annotator.scorers import FOLDERS, KINDS, REMOTE, UnknownScorer, make
from annotator.scorers.base import InvalidScores, Scored, checked
from annotator.scorers.chat import tokens_told
from annotator.scorers.http import BadReply
from annotator.scorers.remote import good_share, token_counts

STEPS = (Step("a"), Step("b", kind="tool", judged=False), Step("c"))
GOOD = Scored(values=(0.9, None, 0.2), spread=(0.1, None, None))


def test_scores_that_fit_pass_unchanged() -> None:
    assert checked(GOOD, STEPS) is GOOD


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": (0.9, 0.2)}, "3 steps, but 2 values"),
        ({"spread": (0.1,)}, "3 steps, but 1 spread"),
        ({"error_types": ("sign",)}, "3 steps, but 1 error types"),
        ({"values": (math.nan, None, 0.2)}, "step 1: a score lies between"),
        ({"values": (0.9, None, 1.2)}, "step 3: a score lies between"),
        ({"values": (None, None, 0.2), "spread": (None,) * 3}, "step 1 has no score"),
        ({"values": (0.9, 0.5, 0.2)}, "step 2 is context"),
        ({"spread": (math.inf, None, None)}, "step 1: a spread"),
        ({"spread": (-0.1, None, None)}, "step 1: a spread"),
        ({"spread": (0.1, 0.1, 0.1)}, "step 2: a spread"),
        ({"measures": "happiness"}, "scores measure one of"),
    ],
)
def test_scores_that_do_not_fit_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidScores, match=message):
        checked(replace(GOOD, **change), STEPS)  # type: ignore[arg-type]


def test_every_kind_makes_a_scorer_that_names_itself() -> None:
    for kind in KINDS - FOLDERS.keys():  # test_local_kind.py
        config = {"url": "http://gpu1:8000"} if kind in REMOTE else {}
        assert make(kind, config, allowed_hosts=["gpu1:8000"]).name == kind


def test_an_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(UnknownScorer, match="oracle"):
        make("oracle")


@pytest.mark.parametrize("count", [math.nan, math.inf, -1, 10**400, "5", True])
def test_a_count_of_tokens_that_is_none_is_left_out(count: object) -> None:
    assert token_counts({"usage": {"prompt_tokens": count, "completion_tokens": 3}}) == {
        "completion_tokens": 3.0
    }


def test_odds_of_four_hundred_digits_are_not_told() -> None:
    told = {"token": "1", "top_logprobs": [{"token": "1", "logprob": -(10**400)}]}
    assert tokens_told({"logprobs": {"content": [told]}}) == []


def test_a_number_of_four_hundred_digits_is_no_probability() -> None:
    with pytest.raises(BadReply, match="step 2: two probabilities were expected"):
        good_share([10**400, 0], 1, "step 2")
