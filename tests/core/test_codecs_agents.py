"""Agents' messages: what is judged and what is context, in both shapes."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.core.codecs.agent_messages import AgentMessages
from annotator.core.codecs.base import ExportRow, InvalidRow, LeftOut, ReadOptions
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, NeutralPolicyNeeded, Policies
from annotator.core.solutions import ProblemText, SolutionRecord, Step

CODEC = AgentMessages()
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How many?"},
    {"role": "assistant", "content": "I count."},
    {"role": "tool", "content": "2"},
    {"role": "assistant", "content": "3."},
]


def read(value: dict[str, Any]) -> SolutionRecord:
    (record,) = CODEC.read(value, ReadOptions())
    return record


def row(**changes: Any) -> dict[str, Any]:
    return {"messages": MESSAGES, "step_labels": {"2": 1, "4": -1}, "final_label": -1, **changes}


def written(record: SolutionRecord, **policies: Any) -> dict[str, Any]:
    (value,) = CODEC.write(ExportRow(record), Policies(**policies)).objects
    return value


# AgentProcessBench


def test_assistants_are_judged_and_all_else_is_context() -> None:
    found = read(row())

    assert [(step.kind, step.judged) for step in found.steps] == [
        ("system", False), ("user", False), ("message", True), ("tool", False), ("message", True),
    ]  # fmt: skip
    assert (found.labels, found.first_error, found.mode) == ((None, None, 1, None, -1), 4, "all_steps")


def test_without_a_question_the_first_user_message_is_the_problem() -> None:
    assert read(row()).problem.text == "How many?"
    assert read(row(question="Count.")).problem.text == "Count."


def test_uncertain_is_no_label_but_is_written_back() -> None:
    value = row(step_labels={"2": 0, "4": -1})

    found = read(value)

    assert (found.labels, found.first_error) == ((None, None, None, None, -1), None)
    assert found.meta["uncertain"] == [2]
    assert written(found) == value


@pytest.mark.parametrize(
    ("final", "correct"), [(1, True), (-1, False), (0, None), (True, True), (None, None)]
)
def test_the_final_label_says_whether_the_answer_is_right(final: object, correct: bool | None) -> None:
    assert read(row(final_label=final)).answer_correct is correct


def test_a_message_without_text_shows_its_calls_or_that_it_is_empty() -> None:
    calls = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "count"}}]}
    value = row(messages=[*MESSAGES, calls, {"role": "tool", "content": ""}])

    found = read(value)

    assert (found.steps[5].kind, '"count"' in found.steps[5].text) == ("action", True)
    assert found.steps[6].text == "(empty message)"
    assert written(found) == value


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"step_labels": {"3": 1}}, "step_labels", 'indices of assistant messages; got the text "3"'),
        ({"step_labels": {"9": 1}}, "step_labels", "indices of assistant messages"),
        ({"step_labels": {"02": 1}}, "step_labels", "indices of assistant messages"),
        ({"step_labels": {"2": 2}}, "step_labels", "message 2: expected 1, 0 or -1; got 2"),
        ({"step_labels": [1]}, "step_labels", "an object"),
        ({"messages": [{"content": "x"}]}, "messages", 'message 0: expected a "role"'),
        ({"messages": ["x"]}, "messages", "message 0: expected an object"),
        ({"messages": []}, "messages", "at least one step"),
        ({"messages": MESSAGES[2:], "step_labels": {}}, "question", "in a message of role user"),
    ],
)
def test_a_broken_row_names_its_field(changes: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(InvalidRow) as caught:
        read(row(**changes))
    assert caught.value.field == field
    assert message in caught.value.message


def record(*labels: int | None, mode: str = "all_steps") -> SolutionRecord:
    steps = tuple(Step(f"s{index}", "reasoning") for index in range(len(labels)))
    return SolutionRecord(ProblemText("p"), steps, labels=labels, mode=mode)


@pytest.mark.parametrize(
    ("source", "policies", "labels", "messages"),
    [
        (record(1, -1, 1), {}, {"0": 1, "1": -1, "2": 1}, 3),
        (record(1, -1, None, mode="first_error"), {}, {"0": 1, "1": -1}, 2),
        (record(1, -1, 1), {"after_first_error": AfterFirstErrorPolicy.MASK}, {"0": 1, "1": -1}, 3),
        (record(1, 0, 1), {"neutral": NeutralPolicy.DROP}, {"0": 1, "2": 1}, 3),
        (record(1, 0, 1), {"neutral": NeutralPolicy.CORRECT}, {"0": 1, "1": 1, "2": 1}, 3),
        (record(1, None, 1), {}, {"0": 1, "2": 1}, 3),
    ],
)
def test_other_solutions_become_messages_with_their_question(
    source: SolutionRecord, policies: dict[str, Any], labels: dict[str, int], messages: int
) -> None:
    value = written(source, **policies)

    assert (value["question"], value["step_labels"], len(value["messages"])) == ("p", labels, messages)


def test_a_problem_that_is_asked_only_after_the_first_error_is_written_as_the_question() -> None:
    steps = (Step("Three."), Step("Four."), Step("p", "user", judged=False))
    late = SolutionRecord(ProblemText("p"), steps, labels=(-1, None, None), mode="first_error")

    value = written(late)

    assert (len(value["messages"]), value["question"], read(value).problem.text) == (1, "p", "p")


def test_our_neutral_is_not_their_zero() -> None:
    with pytest.raises(NeutralPolicyNeeded):
        written(record(1, 0))


# Who&When

HISTORY = [
    {"content": "plan", "role": "assistant", "name": "Planner"},
    {"content": "2", "role": "user", "name": "Computer_terminal"},
    {"content": "3.", "role": "user", "name": "Solver"},
]


def who(**changes: Any) -> dict[str, Any]:
    blame = {"mistake_agent": "Solver", "mistake_step": "2", "mistake_reason": "It counts itself."}
    return {
        "is_correct": False,
        "question": "How many?",
        "question_ID": "q",
        "ground_truth": "2",
        "history": HISTORY,
        **blame,
        **changes,
    }


def test_agents_are_judged_by_name_not_by_role() -> None:
    found = read(who())

    assert [step.judged for step in found.steps] == [True, False, True]
    assert (found.labels, found.first_error) == ((1, None, -1), 2)
    assert (found.problem.answer, found.answer_correct) == ("2", False)


def test_in_logs_without_names_the_role_is_the_agent() -> None:
    history = [{"content": "q", "role": "human"}, {"content": "a", "role": "Orchestrator (thought)"}]

    found = read(who(history=history, mistake_agent="Orchestrator", mistake_step="1"))

    assert ([step.judged for step in found.steps], found.first_error) == ([False, True], 1)


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        (
            {"mistake_agent": "Planner"},
            "mistake_agent",
            'message 2, the text "Solver"; got the text "Planner"',
        ),
        ({"mistake_step": "1"}, "mistake_step", "said by an agent"),
        ({"mistake_step": "3"}, "mistake_step", "one of 3 messages"),
        ({"mistake_step": "two"}, "mistake_step", "as a text"),
        ({"mistake_step": None}, "mistake_step", "as a text"),
        ({"history": [{"content": "x"}]}, "history", 'message 0: expected a "name" or a "role"'),
    ],
)
def test_a_mistake_nobody_made_is_refused(changes: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(InvalidRow) as caught:
        read(who(**changes))
    assert caught.value.field == field
    assert message in caught.value.message


def test_another_mistake_is_written_with_its_agent_and_without_the_old_reason() -> None:
    found = read(who())
    moved = SolutionRecord(found.problem, found.steps, labels=(-1, None, None), meta=found.meta)

    value = written(moved)

    assert (value["mistake_agent"], value["mistake_step"], value["mistake_reason"]) == ("Planner", "0", None)


def test_a_history_without_a_mistake_is_left_out() -> None:
    found = read(who())

    with pytest.raises(LeftOut, match="no mistake to name"):
        written(SolutionRecord(found.problem, found.steps, labels=(1, None, 1), meta=found.meta))
