"""PRMBench, BIG-Bench-Mistake, MR-Ben, VersaPRM and RLHFlow: bases of indices, numbers in texts, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from annotator.core.codecs import CODECS
from annotator.core.codecs.base import ExportRow, InvalidRow, LeftOut, ReadOptions
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, NeutralPolicyNeeded, Policies
from annotator.core.solutions import ProblemText, SolutionRecord, Step


def read(name: str, **changes: Any) -> SolutionRecord:
    (record,) = CODECS[name].read({**CODECS[name].sample, **changes}, ReadOptions())
    return record


def refused(name: str, **changes: Any) -> InvalidRow:
    with pytest.raises(InvalidRow) as caught:
        read(name, **changes)
    return caught.value


def record(labels: Sequence[int | None], texts: Sequence[str] = (), **changes: Any) -> SolutionRecord:
    steps = tuple(Step(text) for text in texts or [f"s{index}" for index in range(1, len(labels) + 1)])
    return SolutionRecord(
        ProblemText("p"), steps, **{"labels": tuple(labels), "mode": "first_error", **changes}
    )


def written(name: str, source: SolutionRecord, **policies: Any) -> dict[str, Any]:
    (value,) = CODECS[name].write(ExportRow(source), Policies(**policies)).objects
    return value


# PRMBench


def test_prmbench_counts_from_one_and_judges_each_step_on_its_own() -> None:
    found = read("prmbench", modified_process=["a", "b", "c", "d"], error_steps=[2, 4])

    assert (found.labels, found.first_error, found.mode) == ((1, -1, 1, -1), 1, "all_steps")


def test_a_prmbench_row_is_one_solution_and_keeps_what_it_was_made_from() -> None:
    found = read("prmbench", modified_question="changed", original_question="before")

    assert found.problem.text == "changed"
    assert found.meta["original_question"] == "before"
    assert len(found.meta["original_process"]) == 2


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (["1. a", "2. b"], ["a", "b"]),
        (["Step 1. a", "Step 2. b"], ["a", "b"]),
        (["1. a", "3. b"], ["1. a", "3. b"]),
        (["1. a", "b"], ["1. a", "b"]),
        (["1. a", "Step 2. b"], ["1. a", "Step 2. b"]),
        (["1. ", "2. b"], ["1. ", "2. b"]),
    ],
)
def test_prmbench_numbers_are_taken_off_where_all_steps_have_them(given: list[str], texts: list[str]) -> None:
    found = read("prmbench", modified_process=given, error_steps=[])

    assert [step.text for step in found.steps] == texts
    assert written("prmbench", found)["modified_process"] == given


@pytest.mark.parametrize("errors", [[0], [4], ["1"], [True], None])
def test_prmbench_error_steps_that_do_not_exist_are_refused(errors: object) -> None:
    assert refused("prmbench", error_steps=errors).field == "error_steps"


def test_prmbench_lists_all_that_is_written_as_wrong() -> None:
    value = written("prmbench", record([1, -1, None]), after_first_error=AfterFirstErrorPolicy.INCORRECT)

    assert (value["modified_process"], value["error_steps"]) == (["s1", "s2", "s3"], [2, 3])


def test_what_another_format_kept_under_the_same_name_is_not_written() -> None:
    meta = {"question": {"pre_generated_steps": []}, "reason": 3, "source": ["x"], "Options": 4, "task": True}

    assert written("prmbench", record([1], meta=meta))["question"] == "p"
    assert written("prmbench", record([1], meta=meta))["reason"] == ""
    assert written("versaprm", record([1], meta=meta))["source"] is None
    assert written("math_shepherd", record([1], meta=meta))["task"] == ""
    assert "Options" not in written("mr_ben", record([1], meta=meta))


# BIG-Bench-Mistake


def test_bigbench_counts_from_zero_and_null_is_no_mistake() -> None:
    assert read("bigbench_mistake", mistake_index=0).labels == (-1, None, None)
    assert read("bigbench_mistake", mistake_index=None).first_error == -1


def test_bigbench_does_not_say_whether_the_answer_is_right() -> None:
    found = read("bigbench_mistake", target="10", answer="10")

    assert (found.problem.answer, found.final_answer, found.answer_correct) == ("10", "10", None)


@pytest.mark.parametrize("mistake", [-1, 3, "1", True, 1.0])
def test_bigbench_mistakes_out_of_range_are_refused(mistake: object) -> None:
    error = refused("bigbench_mistake", mistake_index=mistake)

    assert (error.field, "null or an integer from 0 to 2" in error.message) == ("mistake_index", True)


# MR-Ben: lists


def mr_ben(steps: object, named: str, **changes: Any) -> SolutionRecord:
    verdict = "correct" if named == "N/A" else "incorrect"
    return read(
        "mr_ben",
        Model_Solution_Steps=steps,
        Model_Solution_First_Error_Step=named,
        Model_Solution_Correctness=verdict,
        **changes,
    )


def test_mr_ben_numbers_count_numbered_steps_not_lines() -> None:
    found = mr_ben(["Here it is.", "", "Step 1: a", "", "Step 2: b", "more", "", "Solution: A"], "2")

    assert [step.text for step in found.steps] == [
        "Here it is.",
        "Step 1: a",
        "Step 2: b\nmore\n\nSolution: A",
    ]
    assert (found.labels, found.first_error) == ((1, 1, -1), 2)


def test_mr_ben_lines_without_numbers_are_steps() -> None:
    found = mr_ben(["a", "", "b"], "2")

    assert ([step.text for step in found.steps], found.first_error) == (["a", "b"], 1)


def test_mr_ben_takes_the_step_at_the_named_place_only_if_it_is_called_so() -> None:
    assert mr_ben(["Step 1: a", "Step 2: b", "Step 1: c"], "1").first_error == 0
    with pytest.raises(InvalidRow, match="step 3 can't be told: the numbered step at that place is called 1"):
        mr_ben(["Step 1: a", "Step 2: b", "Step 1: c"], "3")


@pytest.mark.parametrize("named", ["0", "3", "x", "-1", "1.5", "²", ""])
def test_mr_ben_numbers_out_of_range_are_refused(named: str) -> None:
    with pytest.raises(InvalidRow, match="expected a number from 1 to 2, as a text"):
        mr_ben(["Step 1: a", "Step 2: b"], named)


@pytest.mark.parametrize(
    ("verdict", "named"), [("correct", "1"), ("incorrect", "N/A"), (None, "N/A"), ("x", "1")]
)
def test_mr_ben_verdict_and_first_error_must_agree(verdict: object, named: str) -> None:
    error = refused("mr_ben", Model_Solution_Correctness=verdict, Model_Solution_First_Error_Step=named)

    assert error.field == "Model_Solution_Correctness"


def test_mr_ben_options_stand_below_the_question() -> None:
    found = mr_ben(["a"], "N/A", Question="Which?", Options="A: 1\nB: 2")

    assert found.problem.text == "Which?\n\nA: 1\nB: 2"
    assert written("mr_ben", found)["Question"] == "Which?"


@pytest.mark.parametrize(
    ("texts", "labels", "reason"),
    [
        (["Step 2: a", "b"], (1, -1), "read as other steps"),
        (["a", "Step 1: b"], (-1, None), "can't be named"),
    ],
)
def test_mr_ben_leaves_out_what_its_numbers_could_not_tell(
    texts: list[str], labels: tuple[int | None, ...], reason: str
) -> None:
    with pytest.raises(LeftOut, match=reason):
        written("mr_ben", record(labels, texts))


# MR-Ben: code

CODE = "def f():\n    x = 1\n\n    y = 2\n    return x"


def test_mr_ben_code_names_the_line_whatever_its_indentation() -> None:
    found = mr_ben(CODE, "y = 2")

    assert [step.text for step in found.steps] == ["def f():", "    x = 1", "    y = 2", "    return x"]
    assert {step.kind for step in found.steps} == {"code"}
    assert found.first_error == 2
    assert written("mr_ben", found)["Model_Solution_Steps"] == CODE


@pytest.mark.parametrize(
    ("code", "named", "count"), [(CODE, "z = 3", 0), (CODE + "\nx = 1", "x = 1", 2), (CODE + "\n", "", 2)]
)
def test_mr_ben_code_without_one_such_line_is_refused(code: str, named: str, count: int) -> None:
    with pytest.raises(InvalidRow, match=f"exactly one line of the code; got .*, which {count} lines have"):
        mr_ben(code, named)


def test_mr_ben_code_that_names_its_only_blank_line_has_no_labels() -> None:
    found = mr_ben(CODE, "")

    assert (len(found.steps), found.labels, found.first_error) == (4, None, None)


# VersaPRM


def test_versaprm_gives_a_solution_a_chain_and_keeps_further_candidates() -> None:
    codec = CODECS["versaprm"]
    chains = [{"steps": ["a"], "labels": [1], "augs": [{"aug_step": "b"}]}, {"steps": ["c"], "labels": [-1]}]

    found = codec.read({**codec.sample, "chain_of_thoughts": chains}, ReadOptions())

    assert [each.labels for each in found] == [(1,), (-1,)]
    assert found[0].meta["augs"] == [{"aug_step": "b"}]


@pytest.mark.parametrize(
    ("source", "answer", "solution"), [("prm800k_phase2", None, "10"), ("mmlu", "10", None)]
)
def test_versaprm_answers_from_prm800k_are_solutions(
    source: str, answer: str | None, solution: str | None
) -> None:
    found = read("versaprm", source=source)

    assert (found.problem.answer, found.problem.solution) == (answer, solution)
    assert written("versaprm", found)["answer"] == "10"


def test_versaprm_needs_a_policy_for_neutrals_since_its_trainer_takes_them_as_wrong() -> None:
    with pytest.raises(NeutralPolicyNeeded, match="correct, incorrect, drop"):
        written("versaprm", record([1, 0]))
    (chain,) = written("versaprm", record([1, 0]), neutral=NeutralPolicy.INCORRECT)["chain_of_thoughts"]
    assert chain["labels"] == [1, -1]


def test_versaprm_ends_with_the_first_error() -> None:
    (chain,) = written("versaprm", record([1, -1, 1]))["chain_of_thoughts"]

    assert chain["labels"] == [1, -1]


@pytest.mark.parametrize("labels", [[1], [1, 2], [1, True], [1, None], [1, 0.5], None])
def test_versaprm_labels_are_one_a_step(labels: object) -> None:
    error = refused("versaprm", chain_of_thoughts=[{"steps": ["a", "b"], "labels": labels}])

    assert error.field == "chain_of_thoughts[0].labels"


# RLHFlow


def turns(*texts: str) -> list[dict[str, str]]:
    return [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("first", "problem", "step"),
    [
        ("How\n\nmuch? Step 1: a", "How\n\nmuch?", "Step 1: a"),
        ("How much?\n\na", "How much?", "a"),
    ],
)
def test_rlhflow_both_joiners_are_read(first: str, problem: str, step: str) -> None:
    found = read("rlhflow", conversations=turns(first, "+", "b", "-"))

    assert (found.problem.text, [each.text for each in found.steps]) == (problem, [step, "b"])
    assert (found.labels, found.first_error) == ((1, -1), 1)


def test_rlhflow_writes_the_joiner_that_can_be_told_apart() -> None:
    assert written("rlhflow", record([1]))["conversations"][0]["content"] == "p\n\ns1"
    assert written("rlhflow", record([1], ["Step 1: a"]))["conversations"][0]["content"] == "p Step 1: a"


def test_rlhflow_counts_where_the_end_of_the_problem_is_lost() -> None:
    result = CODECS["rlhflow"].write(ExportRow(record([1], ["a\n\nb"])), Policies())

    assert result.lost == {"where the problem ends and the first step begins": 1}


@pytest.mark.parametrize(
    ("conversations", "message"),
    [
        (turns("How much? a", "+"), 'expected "Step 1:" or one blank line'),
        (turns("q\n\na\n\nb", "+"), "with 2 blank lines"),
        (turns("q\n\na"), "each with the assistant's answer after it"),
        (turns("q\n\na", "yes"), 'turn 2: expected + or -; got the text "yes"'),
        ([{"role": "system", "content": "x"}, *turns("q\n\na")], "turn 1: expected a text of role user"),
        (turns("\n\na", "+"), "one is blank"),
        ([], "a list of steps"),
    ],
)
def test_rlhflow_conversations_of_another_kind_are_refused(conversations: object, message: str) -> None:
    error = refused("rlhflow", conversations=conversations)

    assert error.field == "conversations"
    assert message in error.message


def test_conversations_about_an_image_are_another_format() -> None:
    assert not CODECS["rlhflow"].sniff({"conversations": [], "image": "x.png"})
