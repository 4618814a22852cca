"""PRMs behind vLLM, against a server that speaks its shapes: what is asked, what is read, what goes wrong."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from annotator.scorers import vllm
from annotator.scorers.base import Scored, ScoreFailure, ScoringCancelled
from annotator.scorers.breaker import Circuit
from annotator.scorers.endpoint import EndpointRefused
from annotator.scorers.http import ServerUnavailable
from annotator.scorers.remote import VERSION_LENGTH, InvalidSettings, RemoteScorer
from tests.scorers.stub import Stub, failure, run, scored, solution

THREE = solution("One.", "Two.", "Three.")
MakeScorer = Callable[..., vllm.VllmScorer]


@pytest.fixture
def make(stub: Stub) -> MakeScorer:
    def made(**config: Any) -> vllm.VllmScorer:
        settings = {"url": stub.url, "timeout": 5, "attempts": 2, **config}
        return vllm.make(settings, allowed_hosts=stub.hosts, allowed_keys=("PRM_KEY",))

    return made


# What is asked and read


def test_each_judged_step_gets_the_probability_at_its_tag(make: MakeScorer) -> None:
    result = scored(run(make(), THREE))
    assert result.values == (0.9, 0.8, 0.7)
    assert result.spread == (None, None, None)
    assert result.measures == "correctness"


def test_the_documented_request_is_sent(make: MakeScorer, stub: Stub) -> None:
    run(make(), THREE)
    (request,) = stub.seen("/pooling")
    assert request["body"] == {
        "model": "prm",
        "task": "token_classify",
        "encoding_format": "float",
        "messages": [
            {
                "role": "system",
                "content": "Please reason step by step, and put your final answer within \\boxed{}.",
            },
            {"role": "user", "content": "What is 1 + 1?"},
            {"role": "assistant", "content": "One.<extra_0>Two.<extra_0>Three.<extra_0>"},
        ],
        "add_generation_prompt": False,
    }


def test_context_is_in_the_prompt_and_takes_no_score(make: MakeScorer, stub: Stub) -> None:
    result = scored(run(make(), solution("Ask.", ">The tool says 7.", "So 7.")))
    assert result.values == (0.9, None, 0.8)
    said = stub.seen("/pooling")[0]["body"]["messages"][2]["content"]
    assert said == "Ask.<extra_0>The tool says 7.\n\nSo 7.<extra_0>"


@pytest.mark.parametrize(
    "text", ["a <extra_0> b", "<|im_end|>\n<|im_start|>system", "<|endoftext|>", "<tool_call>"]
)
def test_special_tokens_in_a_text_are_broken(make: MakeScorer, stub: Stub, text: str) -> None:
    result = scored(run(make(), solution("One.", text, problem=f"Problem {text}")))
    assert result.values == (0.9, 0.8)
    _, user, assistant = stub.seen("/pooling")[0]["body"]["messages"]
    assert text not in user["content"] + assistant["content"]
    assert "< " in user["content"]


def test_comparisons_and_html_are_left_as_they_are() -> None:
    text = "if x<y and <b>z</b> then a <= b"
    assert vllm.FAMILIES["qwen_prm"].escape(text) == text


def test_all_pooling_is_masked_to_the_tags_on_our_side(make: MakeScorer, stub: Stub) -> None:
    texts = solution("One <extra_0> more.", ">Given.", "Two.")
    result = scored(run(make(pooling="all"), texts))
    assert result.values == (0.9, None, 0.8)
    assert "messages" not in stub.seen("/pooling")[0]["body"]
    assert stub.seen("/pooling")[0]["body"]["input"].count(151651) == 2


def test_all_pooling_needs_a_row_for_each_token(make: MakeScorer, stub: Stub) -> None:
    stub.tell("short")
    assert "rows came back; is pooling ALL?" in failure(run(make(pooling="all"), THREE)).message


def test_a_solution_longer_than_the_model_takes_is_refused_before_it_is_cut(
    make: MakeScorer, stub: Stub
) -> None:
    stub.tell(max_model_len=5)
    assert "the model takes 5" in failure(run(make(pooling="all"), THREE)).message


def test_cost_and_time_are_told(make: MakeScorer) -> None:
    usage = scored(run(make(), THREE)).usage or {}
    assert usage["prompt_tokens"] == 9
    assert 0 < usage["seconds"] < 5


# The version


def test_the_version_names_model_family_and_prompt(make: MakeScorer) -> None:
    version = make().version
    assert version.startswith("vllm:qwen_prm/1:")
    assert version.endswith(":org/prm-7b")
    assert make().version == version


@pytest.mark.parametrize("change", [{"threshold": 0.4}, {"pooling": "all"}])
def test_what_decides_a_score_is_in_the_version(make: MakeScorer, change: dict[str, Any]) -> None:
    assert make(**change).version != make().version


def test_another_model_behind_the_same_name_is_another_version(make: MakeScorer, stub: Stub) -> None:
    before = make().version
    stub.tell(root="org/prm-7b-finetuned")
    assert make().version != before


def test_a_long_model_name_still_makes_a_version_that_fits(make: MakeScorer, stub: Stub) -> None:
    stub.tell(root="a" * 300)
    first = make().version
    stub.tell(root="a" * 301)
    assert len(first) == len(make().version) == VERSION_LENGTH
    assert make().version != first


def test_a_model_replaced_while_we_score_mixes_with_nothing(
    make: MakeScorer, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.scorers.remote.RECHECK_SECONDS", 0.0)
    scorer = make()
    scored(run(scorer, THREE))
    stub.tell(root="org/prm-8b")

    result = failure(run(scorer, THREE))
    assert "now serves org/prm-8b instead of org/prm-7b" in result.message
    assert result.temporary


def test_among_several_models_one_must_be_named(make: MakeScorer, stub: Stub) -> None:
    stub.tell(others=[{"id": "other"}])
    with pytest.raises(ServerUnavailable, match=r"several models \(prm, other"):
        _ = make().version
    assert make(model="other").version.endswith(":other")


def test_a_model_that_is_not_served_is_told(make: MakeScorer) -> None:
    with pytest.raises(ServerUnavailable, match="does not serve gpt; it serves prm"):
        _ = make(model="gpt").version


# Faults: one solution's failure is its own


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("short", "3 steps to score, but 2 scores came back"),
        ("long", "3 steps to score, but 4 scores came back"),
        ("nan", "step 1: the server's score is not a number"),
        ("out_of_range", "step 1: .* not two probabilities of sum 1"),
        ("words", "step 1: two probabilities were expected"),
        ("list", "not of the documented shape"),
        ("garbage", "not JSON"),
    ],
)
def test_an_answer_that_does_not_fit_fails_that_solution_alone(
    make: MakeScorer, stub: Stub, fault: str, message: str
) -> None:
    stub.tell(fault, when="Bad.")
    first, second, third = run(make(), THREE, solution("Bad.", "Two.", "Three."), THREE)

    assert isinstance(first, Scored)
    assert isinstance(third, Scored)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(failure([second]).message)
    assert not failure([second]).temporary


@pytest.mark.parametrize(("fault", "message"), [("hang", "did not answer"), ("drip", "did not answer")])
def test_a_solution_that_takes_too_long_fails_alone_and_may_be_tried_again(
    make: MakeScorer, stub: Stub, fault: str, message: str
) -> None:
    stub.tell(fault, when="Bad.", seconds=4)
    first, second = run(make(timeout=1), THREE, solution("Bad."))

    assert isinstance(first, Scored)
    assert message in failure([second]).message
    assert failure([second]).temporary


def test_a_slow_server_is_waited_for(make: MakeScorer, stub: Stub) -> None:
    stub.tell("slow", seconds=0.5)
    assert scored(run(make(), THREE)).values == (0.9, 0.8, 0.7)


def test_a_refused_solution_fails_with_the_servers_words(make: MakeScorer, stub: Stub) -> None:
    stub.tell("status", status=400, says="maximum context length is 4096 tokens")
    result = failure(run(make(), THREE))
    assert "maximum context length is 4096 tokens" in result.message
    assert not result.temporary


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 503}, {"status": 401}, {"status": 404}])
def test_what_the_server_does_to_everybody_is_temporary(
    make: MakeScorer, stub: Stub, fault: dict[str, Any]
) -> None:
    stub.tell("status", **fault)
    assert failure(run(make(), THREE)).temporary


def test_a_solution_without_judged_steps_is_not_sent(make: MakeScorer, stub: Stub) -> None:
    assert "no steps" in failure(run(make(), solution(">Only context."))).message
    assert stub.seen("/pooling") == []


def test_text_that_json_cannot_carry_fails_alone(make: MakeScorer) -> None:
    first, second = run(make(), solution("lone \ud800 surrogate"), THREE)
    assert "JSON cannot carry" in failure([first]).message
    assert isinstance(second, Scored)


def test_an_empty_batch_asks_nobody(make: MakeScorer, stub: Stub) -> None:
    assert run(make()) == []
    assert stub.seen() == []


# Faults: the server's life


def test_a_dead_server_opens_the_circuit_and_a_restarted_one_closes_it(
    make: MakeScorer, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = make(attempts=1, concurrency=1)
    scored(run(scorer, THREE))
    stub.kill()
    results = run(scorer, *[THREE] * 12)
    assert all(isinstance(one, ScoreFailure) and one.temporary for one in results)
    assert scorer.state.circuit is Circuit.OPEN
    assert "connection" in (scorer.state.last_error or "")
    assert "left alone" in failure(results[-1:]).message

    monkeypatch.setattr(scorer.client.breaker, "_until", 0.0)
    restarted = Stub(stub.port)
    try:
        assert scored(run(scorer, THREE)).values == (0.9, 0.8, 0.7)
        assert scorer.state.circuit is Circuit.CLOSED
    finally:
        restarted.kill()


def test_a_server_that_dies_in_the_middle_keeps_what_it_had_answered(make: MakeScorer, stub: Stub) -> None:
    stub.tell("die", when="Bad.")
    first, second = run(make(concurrency=1), THREE, solution("Bad."))
    assert isinstance(first, Scored)
    assert failure([second]).temporary


def test_a_server_that_is_dead_from_the_start_fails_all_in_words(make: MakeScorer, stub: Stub) -> None:
    stub.kill()
    results = run(make(attempts=1), THREE, THREE)
    assert ["connection refused" in failure([one]).message for one in results] == [True, True]


def test_scoring_is_cancelled_between_requests(make: MakeScorer, stub: Stub) -> None:
    stub.tell("slow", seconds=0.2)
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    began = time.monotonic()

    with pytest.raises(ScoringCancelled):
        make(concurrency=1).score([THREE] * 100, cancelled=stop.is_set)
    assert time.monotonic() - began < 2
    time.sleep(0.5)
    assert len(stub.seen("/pooling")) < 6


def test_a_cancelled_batch_sends_nothing(make: MakeScorer, stub: Stub) -> None:
    with pytest.raises(ScoringCancelled):
        make().score([THREE], cancelled=lambda: True)
    assert stub.seen() == []


def test_results_come_in_the_order_of_the_batch(make: MakeScorer, stub: Stub) -> None:
    stub.tell("slow", seconds=0.3, when="Slow.")
    results = run(make(), solution("Slow.", "Two."), solution("One."), THREE)
    assert [len(one.values) for one in results if isinstance(one, Scored)] == [2, 1, 3]


# Settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"url": None}, "'url' is missing"),
        ({"pooling": "mean"}, "'pooling' is one of all, step"),
        ({"family": "unknown"}, "'family' is one of qwen_prm"),
        ({"timeout": "long"}, "'timeout' is a number"),
        ({"timeout": math.nan}, "'timeout' is a number"),
        ({"concurrency": 1.5}, "'concurrency' is a whole number"),
        ({"concurrency": True}, "'concurrency' is a number"),
        ({"threshold": 2}, "'threshold' is a number from 0 to 1"),
        ({"key_env": "sk-very-secret"}, "the name of an environment variable"),
        ({"adress": "x"}, "Unknown settings: adress"),
        ({"model": 3}, "'model' is a line of text"),
    ],
)
def test_settings_that_do_not_fit_are_refused(make: MakeScorer, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidSettings, match=message):
        make(**change)


def test_only_listed_variables_are_given_to_scorers(make: MakeScorer) -> None:
    """Else whoever manages a project could send any secret of the installation to a server."""
    with pytest.raises(EndpointRefused, match="SECRET_KEY is not among the variables"):
        make(key_env="SECRET_KEY")
    assert isinstance(make(key_env="PRM_KEY"), RemoteScorer)


def test_only_listed_hosts_are_asked(stub: Stub) -> None:
    with pytest.raises(EndpointRefused, match="not among the hosts"):
        vllm.make({"url": stub.url})
