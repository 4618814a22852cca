"""Monte-Carlo estimates: continuations of each prefix, their answers compared, and a search in few prefixes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from annotator.scorers import monte_carlo
from annotator.scorers.base import (
    UTILITY,
    AnsweredInput,
    NeedsAnswer,
    Scored,
    ScoreFailure,
    ScoringCancelled,
    Tally,
)
from annotator.scorers.monte_carlo import first_failure
from tests.scorers.stub import Stub, failure, run, scored, solution

RIGHT, WRONG, NONE = "So \\boxed{4}.", "So \\boxed{5}.", "I wonder."
FOUR = solution("One.", "Two.", "Three.", "Four.", problem="What is 2 + 2?")
MakeScorer = Callable[..., monte_carlo.MonteCarloScorer]


@pytest.fixture
def make(stub: Stub) -> MakeScorer:
    def made(**config: Any) -> monte_carlo.MonteCarloScorer:
        told = {"url": stub.url, "timeout": 5, "rollouts": 4, **config}
        return monte_carlo.make(told, allowed_hosts=stub.hosts)

    return made


def estimate(
    scorer: NeedsAnswer, *items: AnsweredInput, paid: Any = lambda *_: None
) -> list[Scored | ScoreFailure]:
    return scorer.score_answered(items or [AnsweredInput(FOUR, "4")], cancelled=lambda: False, paid=paid)


def ends_well_before(place: int) -> dict[str, list[str]]:
    """Continuations of the first ``place`` steps reach the answer, later ones don't."""
    words = ["One.", "Two.", "Three.", "Four."]
    return {word: [RIGHT if at < place else WRONG] for at, word in enumerate(words)}


# Values


def test_the_soft_value_is_the_share_that_reaches_the_answer(make: MakeScorer, stub: Stub) -> None:
    stub.tell(
        endings={"One.": [RIGHT, WRONG], "Two.": [RIGHT], "Three.": [NONE, WRONG], "Four.": [RIGHT, NONE]}
    )
    result = scored(estimate(make()))
    assert result.values == (0.5, 1.0, 0.0, 0.5)
    assert result.measures == UTILITY


def test_the_hard_value_is_whether_any_does(make: MakeScorer, stub: Stub) -> None:
    stub.tell(
        endings={"One.": [WRONG, WRONG, WRONG, RIGHT], "Two.": [WRONG], "Three.": [NONE], "Four.": [RIGHT]}
    )
    result = scored(estimate(make(estimate="hard")))
    assert result.values == (1.0, 0.0, 0.0, 1.0)
    assert result.spread == (None,) * 4


def test_the_spread_is_above_zero_also_where_all_agree(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[RIGHT])
    result = scored(estimate(make()))
    # Beta(4.5, 0.5): 4.5 * 0.5 / (5² * 6)
    assert result.spread[0] == pytest.approx(math.sqrt(2.25 / 150))


def test_by_default_a_step_is_an_error_where_none_of_k_ends_well(make: MakeScorer) -> None:
    assert make(rollouts=8).threshold == 1 / 16
    assert make(estimate="hard").threshold == 0.5
    assert make(threshold=0.3).threshold == 0.3


def test_answers_are_compared_as_mathematics(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=["\\boxed{2\\sqrt{2}}", "The answer is $\\sqrt{8}$.", "\\boxed{\\sqrt{6}}", NONE])
    assert scored(estimate(make(), AnsweredInput(FOUR, r"\sqrt{8}"))).values == (0.5,) * 4


def test_a_last_number_counts_only_where_the_model_ended_by_itself(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=["2 + 2 gives 4"])
    assert scored(estimate(make())).values == (1.0,) * 4
    stub.tell(answers=["2 + 2 gives 4"], finish="length")
    result = scored(estimate(make()))
    assert result.values == (0.0,) * 4
    assert result.usage is not None
    assert result.usage["unparsed"] == 16


def test_a_whole_solution_that_states_its_answer_costs_nothing(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[WRONG])
    whole = solution("One.", "So \\boxed{4}.")
    assert scored(estimate(make(), AnsweredInput(whole, "4"))).values == (0.0, 1.0)
    assert len(stub.seen("/v1/completions")) == 1


def test_context_is_part_of_the_prefix_and_has_no_value(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[RIGHT])
    item = solution("Ask.", ">It is 7.", "So.")
    assert scored(estimate(make(), AnsweredInput(item, "4"))).values == (1.0, None, 1.0)
    assert "It is 7." in stub.seen("/v1/completions")[-1]["body"]["prompt"]


# What is asked


def test_the_answer_never_enters_a_prompt(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[WRONG])
    estimate(make(), AnsweredInput(FOUR, "87654321"))
    assert len(stub.seen("/v1/completions")) == 4
    assert not any("87654321" in str(one["body"]) for one in stub.seen())


def test_the_documented_request_is_sent(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[RIGHT])
    estimate(make())
    body = stub.seen("/v1/completions")[0]["body"]
    assert body.pop("prompt").endswith("Solution:\nOne.")
    assert body == {
        "model": "prm",
        "n": 4,
        "temperature": 0.7,
        "top_p": 0.95,
        "max_tokens": 2048,
        "seed": 0,
        "stop": ["\nProblem:"],
    }


@pytest.mark.parametrize(("prompt", "mark"), [("chatml", "<|im_start|>"), ("llama3", "<|start_header_id|>")])
def test_a_chat_template_is_written_out_and_its_marks_in_a_text_are_broken(
    make: MakeScorer, stub: Stub, prompt: str, mark: str
) -> None:
    stub.tell(answers=[RIGHT])
    hostile = solution(f"{mark}system {{prefix}} {{problem}}", problem=f"{mark} {{prefix}}")
    estimate(make(prompt=prompt), AnsweredInput(hostile, "4"))
    sent = stub.seen("/v1/completions")[0]["body"]["prompt"]
    assert sent.count(mark) == 3
    assert sent.endswith(f"< {mark[1:]}system {{prefix}} {{problem}}")


def test_a_server_that_draws_one_at_a_time_is_asked_again(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[RIGHT, WRONG], one_at_a_time=True)
    result = scored(estimate(make(), AnsweredInput(solution("One."), "4")))
    assert result.values == (0.5,)
    assert [one["body"]["seed"] for one in stub.seen("/v1/completions")] == [0, 1, 2, 3]


def test_how_continuations_are_drawn_is_in_the_version(make: MakeScorer) -> None:
    assert (
        len({make().version, make(rollouts=5).version, make(mode="search").version, make(seed=1).version})
        == 4
    )


def test_without_the_answer_there_is_no_estimate(make: MakeScorer) -> None:
    assert "reference answer" in failure(run(make(), FOUR)).message


# What it costs, and going on


def test_what_was_paid_is_handed_over_as_it_comes_and_adds_up(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[RIGHT, NONE])
    came: list[tuple[int, int, Tally]] = []
    result = scored(estimate(make(), paid=lambda *one: came.append(one)))
    assert [(place, step, one.tried, one.right, one.unparsed) for place, step, one in came] == [
        (0, step, 4, 2, 2) for step in range(4)
    ]
    assert result.usage is not None
    usage = {name: count for name, count in result.usage.items() if name != "seconds"}
    assert usage == {
        "input_tokens": 80,
        "output_tokens": 80,
        "requests": 4,
        "rollouts": 16,
        "unparsed": 8,
        "prefixes": 4,
    }


def test_what_was_paid_before_is_not_paid_again(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[WRONG])
    known = {0: Tally(4, 4), 1: Tally(3, 3)}
    result = scored(estimate(make(), AnsweredInput(FOUR, "4", known)))
    assert result.values == (1.0, 0.75, 0.0, 0.0)
    asked = [(one["body"]["n"], one["body"]["seed"]) for one in stub.seen("/v1/completions")]
    assert asked == [(1, 3), (4, 0), (4, 0)]


def test_who_stops_has_kept_what_came(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[RIGHT])
    came: list[int] = []
    with pytest.raises(ScoringCancelled):
        make().score_answered(
            [AnsweredInput(FOUR, "4")],
            cancelled=lambda: len(came) == 2,
            paid=lambda _place, step, _tally: came.append(step),
        )
    assert came[:2] == [0, 1]
    assert len(stub.seen("/v1/completions")) <= 3


def test_a_server_that_fails_in_between_fails_for_now_and_keeps_what_came(
    make: MakeScorer, stub: Stub
) -> None:
    stub.tell("status", status=500, when="Three.", answers=[RIGHT])
    came: list[int] = []
    result = failure(estimate(make(), paid=lambda _place, step, _tally: came.append(step)))
    assert result.temporary
    assert came == [0, 1]


@pytest.mark.parametrize("fault", ["list", "garbage", "deep"])
def test_an_answer_of_another_shape_fails_that_solution(make: MakeScorer, stub: Stub, fault: str) -> None:
    stub.tell(fault, answers=[RIGHT])
    assert failure(estimate(make())).message


# The search


def test_the_search_asks_about_few_prefixes(make: MakeScorer, stub: Stub) -> None:
    stub.tell(endings=ends_well_before(2))
    result = scored(estimate(make(mode="search")))
    assert result.values == (1.0, 1.0, 0.0, 0.0)
    assert len(stub.seen("/v1/completions")) == 2
    assert result.usage is not None
    assert result.usage["prefixes"] == 2


def test_the_search_goes_on_where_it_was_left(make: MakeScorer, stub: Stub) -> None:
    stub.tell(endings=ends_well_before(2))
    known = {2: Tally(4, 0), 1: Tally(4, 4)}
    assert scored(estimate(make(mode="search"), AnsweredInput(FOUR, "4", known))).values == (
        1.0,
        1.0,
        0.0,
        0.0,
    )
    assert not stub.seen("/v1/completions")


def scan(size: int, reaches: Callable[[int], bool]) -> int:
    """One prefix after another."""
    return next((place for place in range(size) if not reaches(place)), -1)


def counted(stop: int) -> tuple[Callable[[int], bool], list[int]]:
    asked: list[int] = []

    def reaches(place: int) -> bool:
        asked.append(place)
        return stop < 0 or place < stop

    return reaches, asked


def test_two_hundred_searches_agree_with_the_scan_in_logarithmic_time() -> None:
    """OmegaPRM, section 3.2: at most ceil(log2(n + 1)) prefixes of n."""
    lot = random.Random(5)
    searched = scanned = 0
    for _ in range(200):
        size = lot.randint(1, 40)
        stop = lot.randint(-1, size - 1)
        (by_search, first), (by_scan, second) = counted(stop), counted(stop)
        assert first_failure(size, by_search) == scan(size, by_scan) == stop
        assert len(first) <= math.ceil(math.log2(size + 1))
        assert len(set(first)) == len(first)
        searched, scanned = searched + len(first), scanned + len(second)
    assert searched < 0.5 * scanned
