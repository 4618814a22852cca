"""PRM800K: the path that was chosen, what was offered beside it, and whose labels these are."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.core.codecs.base import ExportRow, InvalidRow, LeftOut, ReadOptions
from annotator.core.codecs.policies import Policies
from annotator.core.codecs.prm800k import Prm800k
from annotator.core.solutions import ImportedAnnotation, ProblemText, SolutionRecord, Step

CODEC = Prm800k()


def completion(text: str, rating: int | None = 1, **more: Any) -> dict[str, Any]:
    return {"text": text, "rating": rating, "flagged": False, **more}


def step(*offered: dict[str, Any], chosen: int | None = None, human: str | None = None) -> dict[str, Any]:
    own = human and {"text": human, "rating": None, "source": "human", "flagged": False}
    return {"completions": list(offered), "human_completion": own, "chosen_completion": chosen}


def row(*steps: dict[str, Any], reason: str | None = "solution", **changes: Any) -> dict[str, Any]:
    label = {"steps": list(steps), "total_time": 1500, "finish_reason": reason}
    return {
        "labeler": "p-1",
        "timestamp": "2022-07-30T23:23:32.118856",
        "generation": None,
        "is_quality_control_question": False,
        "is_initial_screening_question": False,
        "question": {"problem": "p", "ground_truth_answer": "29"},
        "label": label,
        **changes,
    }


def read(value: dict[str, Any]) -> SolutionRecord:
    (record,) = CODEC.read(value, ReadOptions())
    return record


def written(record: SolutionRecord, **more: Any) -> dict[str, Any]:
    (value,) = CODEC.write(ExportRow(record, **more), Policies()).objects
    return value


# The path


def test_the_trajectory_is_what_was_chosen_and_the_rest_are_alternatives_with_their_ratings() -> None:
    record = read(row(step(completion("a", 0), completion("b", 1), completion("c", -1), chosen=1)))

    assert [each.text for each in record.steps] == ["b"]
    assert record.labels == (1,)
    assert [(each["text"], each["rating"], each["place"]) for each in record.steps[0].alternatives] == [
        ("a", 0, 0),
        ("c", -1, 2),
    ]


def test_a_text_of_the_labelers_own_is_context_since_nobody_rated_it() -> None:
    record = read(row(step(completion("a", -1), human="mine"), step(completion("b"), chosen=0)))

    assert [(each.text, each.judged) for each in record.steps] == [("mine", False), ("b", True)]
    assert record.labels == (None, 1)
    assert record.first_error == -1


def test_where_the_labeler_stopped_the_solution_goes_on_as_it_was_generated() -> None:
    question = {"problem": "p", "ground_truth_answer": "1", "pre_generated_steps": ["a", "wrong", "more"]}
    stopped = step(completion("other", 1), completion("wrong", -1))

    record = read(row(step(completion("a"), chosen=0), stopped, reason="found_error", question=question))

    assert [each.text for each in record.steps] == ["a", "wrong"]
    assert record.labels == (1, -1)
    assert record.first_error == 1
    assert record.meta["question"] == {"pre_generated_steps": ["a", "wrong", "more"]}


def test_in_phase_1_it_goes_on_with_the_first_that_was_offered() -> None:
    record = read(row(step(completion("a", -1), completion("b", -1)), reason="found_error"))

    assert (record.steps[0].text, record.labels) == ("a", (-1,))


def test_a_completion_without_a_rating_is_not_judged() -> None:
    assert read(row(step(completion("a", None), chosen=0))).labels == (None,)


def test_a_last_step_where_nothing_was_offered_is_no_step_but_is_not_lost() -> None:
    end = {"completions": None, "human_completion": None, "chosen_completion": None}
    value = row(step(completion("a"), chosen=0), end, reason="give_up")

    record = read(value)

    assert len(record.steps) == 1
    assert written(record) == value


def test_a_wrong_step_that_was_chosen_at_the_end_is_told_from_one_where_the_labeler_stopped() -> None:
    chosen, stopped = row(step(completion("a", -1), chosen=0)), row(step(completion("a", -1)))

    assert written(read(chosen)) == chosen
    assert written(read(stopped)) == stopped


# The person


def test_the_labeler_is_an_annotation_with_reason_and_seconds() -> None:
    (annotation,) = read(row(step(completion("a"), chosen=0))).annotations

    assert (annotation.annotator, annotation.labels, annotation.finish_reason) == ("p-1", (1,), "solution")
    assert annotation.active_seconds == 1.5
    assert annotation.submitted_at == "2022-07-30T23:23:32.118856"
    assert annotation.counted


@pytest.mark.parametrize("mark", ["is_quality_control_question", "is_initial_screening_question"])
def test_checks_and_tests_do_not_count_and_keep_their_marks(mark: str) -> None:
    record = read(row(step(completion("a"), chosen=0), generation=-1, **{mark: True}))

    assert not record.annotations[0].counted
    assert (record.meta[mark], record.meta["generation"]) == (True, -1)


@pytest.mark.parametrize("reason", ["give_up", "bad_problem"])
def test_who_gave_up_did_not_say_that_there_is_no_error(reason: str) -> None:
    assert read(row(step(completion("a"), chosen=0), reason=reason)).first_error is None
    assert read(row(step(completion("a", -1), chosen=0), reason=reason)).first_error == 0


def test_a_flag_is_kept_by_step() -> None:
    value = row(step(completion("a", flagged=True), chosen=0), step(completion("b", flagged=None), chosen=0))

    record = read(value)

    assert record.annotations[0].details == {"0": {"flagged": True}, "1": {"flagged": None}}
    assert written(record) == value


# What is refused


@pytest.mark.parametrize(
    ("value", "field", "message"),
    [
        (row(), "label.steps", "at least one step"),
        (row(step()), "label.steps", "step 1: expected a completion; there is none"),
        (row(step(completion("a")), step(completion("b"), chosen=0)), "label.steps[0].chosen_completion", "follow"),
        (row(step(completion("a"), chosen=1)), "label.steps[0].chosen_completion", "an index among 1"),
        (row(step(completion("a", 2), chosen=0)), "label.steps[0].completions", "ratings of -1, 0, 1 or null; got 2"),
        (row(step(completion(" "), chosen=0)), "label.steps[0].chosen_completion", "not blank"),
        (row(step({"rating": 1}, chosen=0)), "label.steps[0].completions", 'objects with a "text"'),
        (row(step(completion("a"), chosen=0), reason="tired"), "label.finish_reason", "one of bad_problem"),
        (row(step(completion("a"), chosen=0), labeler=None), "labeler", "pseudonym"),
        (row(step(completion("a"), chosen=0), timestamp="noon"), "timestamp", "ISO 8601"),
        (row(step(completion("a"), chosen=0), question={}), "question.problem", "not blank"),
    ],
)  # fmt: skip
def test_a_broken_record_names_its_field(value: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(InvalidRow) as caught:
        read(value)
    assert caught.value.field == field
    assert message in caught.value.message


@pytest.mark.parametrize("milliseconds", [-1, 1e300, "1500", True])
def test_a_time_that_can_not_be_is_refused(milliseconds: object) -> None:
    value = row(step(completion("a"), chosen=0))
    value["label"]["total_time"] = milliseconds

    with pytest.raises(InvalidRow) as caught:
        read(value)
    assert caught.value.field == "label.total_time"


# Solutions from elsewhere


def record(*labels: int | None, **changes: Any) -> SolutionRecord:
    steps = tuple(Step(f"s{index}") for index in range(len(labels)))
    return SolutionRecord(ProblemText("p"), steps, labels=labels, **changes)


def test_what_follows_the_first_error_is_kept_as_the_pre_generated_solution() -> None:
    value = written(record(1, -1, None))

    assert [each["chosen_completion"] for each in value["label"]["steps"]] == [0, None]
    assert value["question"]["pre_generated_steps"] == ["s0", "s1", "s2"]
    assert value["label"]["finish_reason"] == "found_error"


def test_without_a_person_the_source_of_the_labels_stands_for_one() -> None:
    assert written(record(1), label_source="consensus")["labeler"] == "consensus"


def test_the_person_whose_labels_are_written_is_named() -> None:
    people = (
        ImportedAnnotation("a-1", (1, 1), "solution", active_seconds=1),
        ImportedAnnotation("a-2", (1, -1), "found_error", active_seconds=2.5),
    )

    value = written(record(1, -1, annotations=people))

    assert (value["labeler"], value["label"]["total_time"]) == ("a-2", 2500)


def test_comments_do_not_leave_with_the_labels() -> None:
    people = (ImportedAnnotation("a-1", (1,), "solution", details={"0": {"comment": "hm", "flagged": True}}),)

    (offered,) = written(record(1, annotations=people))["label"]["steps"][0]["completions"]

    assert offered == {"text": "s0", "rating": 1, "flagged": True}


def test_a_tools_result_joins_the_next_step_and_what_is_lost_is_counted() -> None:
    steps = (Step("seen", "tool", judged=False, sep="\n"), Step("a", alternatives=("b", 3)))
    source = SolutionRecord(
        ProblemText("p"), (*steps, Step("end", "tool", judged=False)), labels=(None, 1, None)
    )

    result = CODEC.write(ExportRow(source), Policies())

    (only,) = result.objects[0]["label"]["steps"]
    assert [each["text"] for each in only["completions"]] == ["seen\na", "b"]
    assert result.lost == {"context after the last judged step": 1, "alternatives without a text": 1}


def test_a_solution_without_labels_is_left_out() -> None:
    with pytest.raises(LeftOut, match="no labels"):
        written(record(None))
