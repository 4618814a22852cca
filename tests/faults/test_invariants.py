"""What the database itself refuses of labels, scores and records, whoever asks."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories as make
from tests.faults.sql import World, insert, new_world, refused, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return new_world()


PER_STEP = [
    ("annotation", "labels"),
    ("referencelabels", "labels"),
    ("consensus", "labels"),
    ("adjudication", "labels"),
    ("gold", "accept"),
    ("score", "values"),
    ("score", "spread"),
]
LABELLED = [table for table, column in PER_STEP if column == "labels"]


@pytest.mark.parametrize("table", sorted({table for table, _ in PER_STEP}))
def test_a_row_with_one_entry_a_step_is_taken(world: World, table: str) -> None:
    insert(table, world.per_step(table))

    assert run(f"SELECT 1 FROM annotator_{table} WHERE solution_id = %s", world.solution.pk) == 1


@pytest.mark.parametrize(("table", "column"), PER_STEP)
def test_an_array_that_is_shorter_than_the_solution_is_refused(world: World, table: str, column: str) -> None:
    row = world.per_step(table)
    with refused(f"annotator_{table}_{column}"):
        insert(table, row, **{column: row[column][:2]})


@pytest.mark.parametrize("table", sorted({table for table, _ in PER_STEP}))
def test_an_array_and_a_count_that_agree_but_are_not_the_solutions_are_refused(
    world: World, table: str
) -> None:
    row = world.per_step(table)
    shorter = {column: row[column][:2] for of, column in PER_STEP if of == table}
    with refused(f"annotator_{table}_steps"):
        insert(table, row, n_steps=2, **shorter)


@pytest.mark.parametrize("table", LABELLED)
@pytest.mark.parametrize("labels", [[1, 2, 1], [1, -2, None]])
def test_a_label_is_minus_one_zero_or_one(world: World, table: str, labels: list[int | None]) -> None:
    with refused(f"annotator_{table}_labels"):
        insert(table, world.per_step(table), labels=labels)


@pytest.mark.parametrize("table", LABELLED)
def test_context_and_what_was_not_judged_stay_null(world: World, table: str) -> None:
    insert(table, world.per_step(table), labels=[None, 1, None])

    assert run(f"SELECT 1 FROM annotator_{table} WHERE labels[1] IS NULL") == 1


@pytest.mark.parametrize("accept", [[6, 8, 0], [6, -1, 0], [6, None, 0]])
def test_a_gold_mask_is_zero_to_seven(world: World, accept: list[int | None]) -> None:
    with refused("annotator_gold_accept"):
        insert("gold", world.per_step("gold"), accept=accept)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.5, -0.1])
def test_a_score_is_a_probability(world: World, value: float) -> None:
    with refused("annotator_score_values"):
        insert("score", world.per_step("score"), values=[0.5, value, None])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1])
def test_a_spread_is_finite_and_not_negative(world: World, value: float) -> None:
    with refused("annotator_score_spread"):
        insert("score", world.per_step("score"), spread=[0.5, value, None])


def test_a_solution_has_one_score_a_version(world: World) -> None:
    insert("score", world.per_step("score"))
    with refused("score_once_per_version"):
        insert("score", world.per_step("score"))


def test_a_person_has_one_current_annotation_of_a_solution(world: World) -> None:
    insert("annotation", world.annotation())
    with refused("annotation_one_current"):
        insert("annotation", world.annotation(version=2))


def test_a_second_version_stands_beside_one_that_is_no_longer_current(world: World) -> None:
    insert("annotation", world.annotation(current=False))
    insert("annotation", world.annotation(version=2))

    assert run("SELECT 1 FROM annotator_annotation") == 2


def test_a_version_is_used_once(world: World) -> None:
    insert("annotation", world.annotation(current=False))
    with refused("annotation_version_once"):
        insert("annotation", world.annotation(current=False))


def test_an_uncounted_annotation_says_why(world: World) -> None:
    with refused("annotation_uncounted_says_why"):
        insert("annotation", world.annotation(counted=False, uncounted_reason=""))


def test_a_counted_annotation_has_no_reason_why_not(world: World) -> None:
    with refused("annotation_uncounted_says_why"):
        insert("annotation", world.annotation(counted=True, uncounted_reason="late"))


@pytest.mark.parametrize(
    "change",
    [
        "labels = '{-1,NULL,NULL}'",
        "stop = 0",
        "finish_reason = 'give_up'",
        "member_id = NULL",
        """details = '{"reason": "x"}'""",
    ],
)
def test_what_a_person_said_is_never_changed(world: World, change: str) -> None:
    insert("annotation", world.annotation())
    with refused("append-only: UPDATE"):
        run(f"UPDATE annotator_annotation SET {change}")


def test_an_annotation_is_never_deleted(world: World) -> None:
    insert("annotation", world.annotation())
    with refused("append-only: DELETE"):
        run("DELETE FROM annotator_annotation")


def test_whether_an_annotation_counts_may_change(world: World) -> None:
    insert("annotation", world.annotation())

    changed = run(
        "UPDATE annotator_annotation SET current = false, counted = false, uncounted_reason = 'removed'"
    )

    assert changed == 1


@pytest.mark.parametrize(
    "change", ["steps = '[1, 2, 3]'", "steps = '[1, 2]', n_steps = 2", "problem_id = problem_id + 1"]
)
def test_a_solutions_steps_are_never_changed(world: World, change: str) -> None:
    with refused("annotator_solution is append-only: UPDATE"):
        run(f"UPDATE annotator_solution SET {change}")


def test_what_is_known_about_a_solution_may_change(world: World) -> None:
    assert run("UPDATE annotator_solution SET answer_correct = true, meta = '{}', external_id = 'x'") == 1


def test_a_solution_counts_its_steps_rightly(world: World) -> None:
    with refused("solution_n_steps"):
        insert("solution", solution_like(world), n_steps=2)


def test_a_solution_has_steps(world: World) -> None:
    with refused("solution_has_steps"):
        insert("solution", solution_like(world), steps="[]", n_steps=0)


def test_a_solution_is_in_a_project_once(world: World) -> None:
    with refused("solution_once_per_project"):
        insert("solution", solution_like(world), content_hash=bytes(world.solution.content_hash))


def test_a_solution_is_in_the_project_of_its_problem(world: World) -> None:
    with refused("annotator_solution_in_project"):
        insert("solution", solution_like(world), project_id=make.project(slug="other").pk)


def test_a_queue_row_is_in_the_project_of_its_solution(world: World) -> None:
    row = {"solution_id": world.solution.pk, "holdout": False, "shuffle": 0.5, "wanted": 1, "audit_owed": 0}
    with refused("annotator_queuerow_in_project"):
        insert("queuerow", row, project_id=make.project(slug="other").pk)


def solution_like(world: World) -> dict[str, Any]:
    return {
        "project_id": world.project.pk,
        "problem_id": world.solution.problem_id,
        "batch_id": world.solution.batch_id,
        "external_id": "",
        "steps": '[{"text": "a"}, {"text": "b"}, {"text": "c"}]',
        "n_steps": 3,
        "content_hash": b"another",
        "generator": "{}",
        "derived_reason": "",
        "meta": "{}",
    }


def append_only(world: World, table: str) -> None:
    rows = {
        "auditevent": {"name": "a:b", "subject": "x", "data": "{}"},
        "guidelines": {"project_id": world.project.pk, "version": 1, "text": "Judge each step."},
        "adjudication": world.per_step("adjudication"),
    }
    insert(table, rows[table])


@pytest.mark.parametrize(
    ("table", "change"),
    [("auditevent", "name = 'c:d'"), ("guidelines", "text = 'Guess.'"), ("adjudication", "reason = 'y'")],
)
def test_events_guidelines_and_adjudications_are_never_changed(world: World, table: str, change: str) -> None:
    append_only(world, table)
    with refused(f"annotator_{table} is append-only: UPDATE"):
        run(f"UPDATE annotator_{table} SET {change}")


@pytest.mark.parametrize("table", ["auditevent", "guidelines", "adjudication", "solution"])
def test_events_guidelines_adjudications_and_solutions_are_never_deleted(world: World, table: str) -> None:
    if table != "solution":
        append_only(world, table)
    with refused(f"annotator_{table} is append-only: DELETE"):
        run(f"DELETE FROM annotator_{table}")
