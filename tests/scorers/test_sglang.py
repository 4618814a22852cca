"""PRMs behind SGLang's scoring interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from annotator.scorers import sglang
from annotator.scorers.base import Scored
from tests.scorers.stub import Stub, failure, run, scored, solution

THREE = solution("One.", "Two.", "Three.")
MakeScorer = Callable[..., sglang.SglangScorer]


@pytest.fixture
def make(stub: Stub) -> MakeScorer:
    def made(**config: Any) -> sglang.SglangScorer:
        return sglang.make({"url": stub.url, "timeout": 5, **config}, allowed_hosts=stub.hosts)

    return made


def test_each_judged_step_gets_the_first_label_tokens_share(make: MakeScorer) -> None:
    assert scored(run(make(), THREE)).values == (0.9, 0.8, 0.7)


def test_the_documented_request_is_sent(make: MakeScorer, stub: Stub) -> None:
    run(make(), THREE)
    (request,) = stub.seen("/v1/score")
    assert request["body"] == {
        "model": "prm",
        "query": "What is 1 + 1? ",
        "items": ["Step 1: One. ки\nStep 2: Two. ки\nStep 3: Three. ки"],
        "label_token_ids": [648, 387],
        "apply_softmax": True,
        "score_extraction_token": "ки",
    }


def test_steps_that_number_themselves_are_numbered_once(make: MakeScorer, stub: Stub) -> None:
    run(make(), solution("Step 1: One.", "step 2. Two, as Step 1: said."))
    (item,) = stub.seen("/v1/score")[0]["body"]["items"]
    assert item == "Step 1: One. ки\nStep 2: Two, as Step 1: said. ки"


def test_context_is_in_the_prompt_and_takes_no_score(make: MakeScorer, stub: Stub) -> None:
    result = scored(run(make(), solution(">Given.", "One.", ">Told.", "Two.")))
    assert result.values == (None, 0.9, None, 0.8)
    (item,) = stub.seen("/v1/score")[0]["body"]["items"]
    assert item == "Given.\nStep 1: One. ки\nTold.\nStep 2: Two. ки"


def test_the_tag_in_a_text_is_broken(make: MakeScorer, stub: Stub) -> None:
    result = scored(run(make(), solution("One ки + more.", "Яблоки.", problem="Problem ки -")))
    assert result.values == (0.9, 0.8)
    body = stub.seen("/v1/score")[0]["body"]
    assert "ки" not in body["query"]
    assert body["items"][0].count("ки") == 2


def test_another_tokenizers_ids_can_be_named_and_are_in_the_version(make: MakeScorer, stub: Stub) -> None:
    other = make(good_token=10, bad_token=12)
    run(other, THREE)
    assert stub.seen("/v1/score")[0]["body"]["label_token_ids"] == [10, 12]
    assert other.version != make().version
    assert other.version.startswith("sglang:math_shepherd/1:")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("short", "but 2 scores came back"),
        ("long", "but 4 scores came back"),
        ("nan", "not a number"),
        ("out_of_range", "not two probabilities"),
        ("list", "documented shape"),
        ("garbage", "not JSON"),
    ],
)
def test_an_answer_that_does_not_fit_fails_that_solution_alone(
    make: MakeScorer, stub: Stub, fault: str, message: str
) -> None:
    stub.tell(fault, when="Bad.")
    first, second = run(make(), THREE, solution("Bad.", "Two.", "Three."))
    assert isinstance(first, Scored)
    assert message in failure([second]).message


def test_a_time_out_fails_that_solution_alone(make: MakeScorer, stub: Stub) -> None:
    stub.tell("hang", when="Bad.", seconds=4)
    first, second = run(make(timeout=1), THREE, solution("Bad."))
    assert isinstance(first, Scored)
    assert failure([second]).temporary
