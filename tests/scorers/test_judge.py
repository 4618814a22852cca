"""A chat model as a judge: one JSON object at the end, by the project's kinds of error."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from annotator.scorers import judge
from tests.scorers.stub import Stub, failure, run, scored, solution

THREE = solution("One.", "Two.", "Three.")
TYPES = ["calculation", "misread problem"]
MakeScorer = Callable[..., judge.JudgeScorer]


def ruling(*labels: str, kind: str | None = None, why: str = "so") -> str:
    steps = [
        {"step": k, "label": label, "error_type": kind if label == "incorrect" else None, "why": why}
        for k, label in enumerate(labels, start=1)
    ]
    return "I checked it.\n" + json.dumps({"steps": steps})


@pytest.fixture
def make(stub: Stub) -> MakeScorer:
    def made(**config: Any) -> judge.JudgeScorer:
        told = {"url": stub.url, "timeout": 5, "error_types": TYPES, **config}
        return judge.make(told, allowed_hosts=stub.hosts)

    return made


def test_labels_become_values_and_a_neutral_step_is_no_error(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[ruling("correct", "neutral", "incorrect", kind="Calculation")])
    result = scored(run(make(), THREE))
    assert result.values == (1.0, 1.0, 0.0)
    assert result.error_types == (None, None, "calculation")
    assert result.rationale == "Step 1: correct. so\nStep 2: neutral. so\nStep 3: incorrect. so"


def test_several_votes_are_averaged(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[ruling("correct", "correct", "correct"), ruling("correct", "incorrect", "correct")])
    result = scored(run(make(votes=2), THREE))
    assert (result.values, result.spread) == ((1.0, 0.5, 1.0), (0.0, 0.5, 0.0))


def test_the_rubric_names_the_projects_kinds_of_error(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[ruling("correct", "correct", "correct")])
    run(make(), THREE)
    assert (
        "Kinds of error: calculation; misread problem."
        in stub.seen("/chat")[0]["body"]["messages"][0]["content"]
    )


@pytest.mark.parametrize(
    "answer",
    [
        "All is well.",
        '{"steps": []}',
        ruling("correct", "correct"),
        ruling("correct", "correct", "correct", "correct"),
        ruling("correct", "correct", "splendid"),
        ruling("correct", "correct", "correct") + "\nBut I am not sure.",
        '{"steps": [{"step": 1}]}',
        '{"steps": "none"}',
    ],
)
def test_an_answer_of_another_shape_is_no_ruling(make: MakeScorer, stub: Stub, answer: str) -> None:
    stub.tell(answers=[answer])
    assert "Only 0 of 1 answers ended with the JSON object" in failure(run(make(), THREE)).message


def test_a_fence_around_the_object_does_no_harm(make: MakeScorer, stub: Stub) -> None:
    inner = ruling("correct", "correct", "incorrect").rpartition("\n")[2]
    stub.tell(answers=[f"Checked.\n```json\n{inner}\n```"])
    assert scored(run(make(), THREE)).values == (1.0, 1.0, 0.0)


def test_some_unreadable_answers_are_counted_and_left_out(make: MakeScorer, stub: Stub) -> None:
    stub.tell(answers=[ruling("correct", "correct", "incorrect"), "Hm."])
    result = scored(run(make(votes=2), THREE))
    assert result.values == (1.0, 1.0, 0.0)
    assert result.usage is not None
    assert (result.usage["votes"], result.usage["unparsed"]) == (2, 1)


def test_a_ruling_that_a_step_quotes_is_not_the_answer(make: MakeScorer, stub: Stub) -> None:
    quoted = ruling("correct").rpartition("\n")[2]
    stub.tell(answers=[f"The step says {quoted} and more.\n" + ruling("incorrect").rpartition("\n")[2]])
    assert scored(run(make(), solution(quoted))).values == (0.0,)


def test_what_no_database_takes_is_not_kept_of_a_reason(make: MakeScorer, stub: Stub) -> None:
    """Escaped in the model's own JSON, it gets through the server's."""
    stub.tell(answers=[ruling("correct", "correct", "correct", why="so\0")])
    assert (
        scored(run(make(), THREE)).rationale
        == "Step 1: correct. so\nStep 2: correct. so\nStep 3: correct. so"
    )
