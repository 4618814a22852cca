"""Rows that nobody thought of: each format writes back what it read, and reads back what it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.core.codecs import CODECS
from annotator.core.codecs.base import ExportRow, LeftOut, ReadOptions
from annotator.core.codecs.policies import Policies
from annotator.core.codecs.rlhflow import LOST_BORDER
from annotator.core.labels import Mode, stop
from annotator.core.solutions import ProblemText, SolutionRecord, Step, judged_mask
from tests.core.said import NEUTRAL_AS_CORRECT, said

TAG = "ки"
Row = dict[str, Any]

lines = st.text("abeπ$ .:-+12", min_size=1, max_size=20).map(str.strip).filter(bool)
texts = st.text("abeπ$ \n.:-+12", min_size=1, max_size=20).map(str.strip).filter(bool)
free = st.none() | st.booleans() | st.integers(-9, 9) | lines


def solutions(text: st.SearchStrategy[str] = texts) -> st.SearchStrategy[list[tuple[str, bool]]]:
    """Steps and whether they are correct, also after the first that is not."""
    return st.lists(st.tuples(text, st.booleans()), min_size=1, max_size=6)


def first_errors() -> st.SearchStrategy[list[tuple[str, bool]]]:
    """Steps and whether they are correct; none follows the first that is not."""
    correct = st.lists(st.tuples(texts, st.just(True)), min_size=1, max_size=5)
    wrong = st.lists(st.tuples(texts, st.just(False)), max_size=1)
    return st.builds(lambda steps, error: steps + error, correct, wrong)


def numbered(steps: Sequence[tuple[str, bool]], marks: dict[bool, str]) -> str:
    return "\n".join(f"Step {k}: {text} {marks[ok]}" for k, (text, ok) in enumerate(steps, start=1))


def math_shepherd(problem: str, steps: list[tuple[str, bool]], task: str) -> Row:
    return {
        "input": f"{problem} {numbered(steps, {True: TAG, False: TAG})}",
        "label": f"{problem} {numbered(steps, {True: '+', False: '-'})}",
        "task": task,
    }


def openrlhf(problem: str, steps: list[tuple[str, bool]]) -> Row:
    return {
        "input": f"{problem} {numbered(steps, {True: TAG, False: TAG})}",
        "value": ["+" if ok else "-" for _, ok in steps],
    }


def openr(problem: str, steps: list[tuple[str, bool]]) -> Row:
    process = "\n".join(f"{text} {TAG}" for text, _ in steps)
    return {"question": problem, "process": process, "label": [int(ok) for _, ok in steps]}


def rlhflow(problem: str, steps: list[tuple[str, bool]], number: bool) -> Row:
    said_by_user = [f"Step {k}: {text}" if number else text for k, (text, _) in enumerate(steps, start=1)]
    said_by_user[0] = problem + (" " if number else "\n\n") + said_by_user[0]
    turns: list[Row] = []
    for text, (_, ok) in zip(said_by_user, steps, strict=True):
        turns += [{"role": "user", "content": text}, {"role": "assistant", "content": "+" if ok else "-"}]
    return {"conversations": turns}


def versaprm(problem: str, steps: list[tuple[str, bool]], source: str, augs: list[Row]) -> Row:
    chain = {
        "steps": [text for text, _ in steps],
        "labels": [1 if ok else -1 for _, ok in steps],
        "augs": augs,
    }
    return {
        "domain": "math",
        "source": source,
        "question": problem,
        "answer": "10",
        "chain_of_thoughts": [chain],
    }


def prmbench(problem: str, steps: list[str], wrong: set[int], head: str, original: list[str]) -> Row:
    errors = sorted(number for number in wrong if number <= len(steps))
    return {
        "original_question": problem,
        "modified_question": problem,
        "original_process": original,
        "modified_process": [head.replace("k", str(k)) + text for k, text in enumerate(steps, start=1)],
        "modified_steps": errors,
        "error_steps": errors,
        "reason": "",
        "idx": "x-1",
        "question": problem,
        "classification": "circular",
    }


def bigbench_mistake(problem: str, steps: list[str], mistake: int | None, answer: str) -> Row:
    place = None if mistake is None else mistake % len(steps)
    return {"input": problem, "steps": steps, "target": "10", "answer": answer, "mistake_index": place}


def mr_ben(problem: str, steps: list[str], error: int | None, shape: str, blanks: int, options: str) -> Row:
    gap = [""] * blanks
    if shape == "numbered":
        steps = [f"Step {k}: {text}" for k, text in enumerate(steps, start=1)]
    if shape == "code":
        steps = [f"    {text}  # {k}" for k, text in enumerate(steps, start=1)]
    listed = [line for step in steps for line in (step, *gap)]
    place = None if error is None else error % len(steps)
    named = "N/A" if place is None else steps[place] if shape == "code" else str(place + 1)
    return {
        "Question_UUID": "u",
        "Subject": "s",
        "Question": problem,
        **({"Options": options} if options else {}),
        "Ground_Truth_Answer": "A",
        "Sampled_Model": "m",
        "Model_Solution_Steps": "\n".join(listed) if shape == "code" else listed,
        "Model_Solution_Correctness": "correct" if place is None else "incorrect",
        "Model_Solution_First_Error_Step": named,
        "Model_Solution_Error_Reason": "N/A",
        "Model_Solution_Rectified_First_Error_Step": "N/A",
    }


def message(role: str, content: str | None, labelled: int | None, calls: bool) -> tuple[Row, int | None]:
    found: Row = {"role": role, "content": content}
    if role == "assistant" and calls:
        found["tool_calls"] = [{"function": {"name": "f"}}]
    return found, labelled if role == "assistant" else None


def agent_messages(question: str, turns: list[tuple[Row, int | None]], final: object) -> Row:
    said_first = {"role": "assistant", "content": "I begin."}
    return {
        "question": question,
        "messages": [said_first, *(turn for turn, _ in turns)],
        "step_labels": {"0": 1}
        | {str(index): label for index, (_, label) in enumerate(turns, start=1) if label is not None},
        "final_label": final,
    }


def who_and_when(question: str, said_by: list[tuple[str, str]], mistake: int) -> Row:
    history = [{"content": text, "role": "user", "name": name} for name, text in [("A", "a"), *said_by]]
    agents = [index for index, turn in enumerate(history) if turn["name"] != "Computer_terminal"]
    index = agents[mistake % len(agents)]
    return {
        "is_correct": False,
        "question": question,
        "question_ID": "q",
        "ground_truth": "10",
        "history": history,
        "mistake_agent": history[index]["name"],
        "mistake_step": str(index),
        "mistake_reason": "because",
    }


completion = st.fixed_dictionaries(
    {"text": texts, "rating": st.sampled_from([-1, 0, 1, None]), "flagged": st.none() | st.booleans()}
)
human = st.fixed_dictionaries(
    {"text": texts, "rating": st.none(), "source": st.just("human"), "flagged": st.none() | st.booleans()}
)


@st.composite
def prm800k(draw: st.DrawFn) -> Row:
    steps: list[Row] = []
    for _ in range(draw(st.integers(0, 4))):
        offered = draw(st.lists(completion, max_size=3))
        own = draw(human) if not offered else draw(st.none() | human)
        place = None if not offered else draw(st.integers(0, len(offered) - 1))
        if place is not None and own is not None and draw(st.booleans()):
            place = None
        steps.append({"completions": offered, "human_completion": own, "chosen_completion": place})
    rated = draw(completion) | {"rating": draw(st.sampled_from([-1, 0, 1]))}
    stopped = {
        "completions": [rated],
        "human_completion": None,
        "chosen_completion": draw(st.sampled_from([0, None])),
    }
    question: Row = {"problem": draw(texts), "ground_truth_answer": draw(st.none() | lines)}
    if draw(st.booleans()):
        question = {"problem": question["problem"], "ground_truth_solution": "s", "ground_truth_answer": "10"}
        question |= {"pre_generated_steps": draw(st.lists(texts, max_size=3)), "pre_generated_answer": "9"}
    # Labels that went on after an error make a complete record only where nobody calls it the end.
    return {
        "labeler": "p-1",
        "timestamp": "2025-01-31T12:00:00",
        "generation": draw(st.sampled_from([None, -1, 6])),
        "is_quality_control_question": draw(st.booleans()),
        "is_initial_screening_question": draw(st.booleans()),
        "question": question,
        "label": {
            "steps": [*steps, stopped],
            "total_time": draw(st.none() | st.integers(0, 10**9)),
            "finish_reason": draw(st.sampled_from(["found_error", "solution", "give_up", "bad_problem"])),
        },
    }


ROWS: dict[str, st.SearchStrategy[Row]] = {
    "math_shepherd": st.builds(math_shepherd, texts, solutions(), st.sampled_from(["GSM8K", ""])),
    "openrlhf": st.builds(openrlhf, texts, solutions()),
    "openr": st.builds(openr, texts, solutions()),
    "rlhflow": st.builds(rlhflow, lines, solutions(lines), st.booleans()),
    "versaprm": st.builds(
        versaprm,
        texts,
        first_errors(),
        st.sampled_from(["prm800k_x", "mmlu"]),
        st.lists(st.just({"aug_idx": 1})),
    ),
    "prmbench": st.builds(
        prmbench,
        texts,
        st.lists(texts, min_size=1, max_size=5),
        st.sets(st.integers(1, 5)),
        st.sampled_from(["", "k. ", "Step k. "]),
        st.lists(texts),
    ),
    "bigbench_mistake": st.builds(
        bigbench_mistake, texts, st.lists(texts, min_size=1), st.none() | st.integers(0, 9), lines
    ),
    "mr_ben": st.builds(
        mr_ben,
        texts,
        st.lists(lines, min_size=1, max_size=5),
        st.none() | st.integers(0, 9),
        st.sampled_from(["numbered", "plain", "code"]),
        st.integers(0, 2),
        st.just("") | lines,
    ),
    "agent_messages": st.builds(
        agent_messages,
        texts,
        st.lists(
            st.builds(
                message,
                st.sampled_from(["assistant", "tool", "user", "system", "function"]),
                st.none() | st.just("") | texts,
                st.sampled_from([None, -1, 0, 1]),
                st.booleans(),
            )
        ),
        st.sampled_from([None, -1, 0, 1]),
    )
    | st.builds(
        who_and_when,
        texts,
        st.lists(st.tuples(st.sampled_from(["A", "B", "Computer_terminal"]), texts)),
        st.integers(0, 9),
    ),
    "prm800k": prm800k(),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_written_back_as_it_was_read(name: str) -> None:
    codec = CODECS[name]

    @settings(max_examples=60, deadline=None)
    @given(ROWS[name])
    def check(row: Row) -> None:
        (record,) = codec.read(row, ReadOptions())
        (value,) = codec.write(ExportRow(record), Policies()).objects
        assert orjson.dumps(value, option=orjson.OPT_SORT_KEYS) == orjson.dumps(
            row, option=orjson.OPT_SORT_KEYS
        )

    check()


@st.composite
def records(draw: st.DrawFn) -> SolutionRecord:
    """A solution with context, neutral steps and gaps, labelled in either mode."""
    kinds = st.sampled_from(["reasoning", "action", "tool", "user"])
    steps = tuple(
        Step(text, kind, judged=kind in ("reasoning", "action"), sep=draw(st.sampled_from(["", "\n", " "])))
        for text, kind in draw(st.lists(st.tuples(texts, kinds), min_size=1, max_size=6))
    )
    mode = draw(st.sampled_from(list(Mode)))
    labels: list[int | None] = []
    for step in steps:
        ended = mode is Mode.FIRST_ERROR and -1 in labels
        choices = [1, 1, 0, -1, None] if step.judged and not ended else [None]
        labels.append(draw(st.sampled_from(choices)))
    return SolutionRecord(
        ProblemText(draw(texts)),
        steps,
        labels=tuple(labels),
        first_error=stop(labels, judged_mask(steps)),
        mode=mode.value,
    )


@pytest.mark.parametrize("name", CODECS)
def test_a_solution_that_is_written_is_read_back_with_all_the_format_can_say(name: str) -> None:
    codec = CODECS[name]

    @settings(max_examples=60, deadline=None)
    @given(records())
    def check(record: SolutionRecord) -> None:
        try:
            written = codec.write(ExportRow(record), NEUTRAL_AS_CORRECT)
        except LeftOut:
            return
        if LOST_BORDER in written.lost:
            return
        again = [
            replace(each, mode=record.mode)
            for value in written.objects
            for each in codec.read(value, ReadOptions())
        ]
        assert [list(said(each, codec)) for each in again] == [list(said(record, codec))]

    check()
