"""What the database itself refuses, whoever asks: each test speaks plain SQL, past every action."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from annotator.models import Membership, Project, Scorer, ScorerVersion, Solution
from tests import factories as make

pytestmark = pytest.mark.django_db


@contextmanager
def refused(rule: str) -> Iterator[None]:
    """The database refuses what is inside, and names this rule."""
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        yield


def run(sql: str, *values: Any) -> int:
    """Execute one statement; returns how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.rowcount


def insert(table: str, values: dict[str, Any], /, **changes: Any) -> None:
    row = values | changes
    columns, marks = ", ".join(f'"{name}"' for name in row), ", ".join(["%s"] * len(row))
    run(f"INSERT INTO annotator_{table} ({columns}) VALUES ({marks})", *row.values())


@dataclass(frozen=True)
class World:
    """A project with one person, one solution of three steps and one scorer version."""

    project: Project
    member: Membership
    solution: Solution
    version: ScorerVersion

    def annotation(self, **changes: Any) -> dict[str, Any]:
        row = {
            "solution_id": self.solution.pk,
            "member_id": self.member.pk,
            "n_steps": 3,
            "version": 1,
            "current": True,
            "labels": [1, 1, 1],
            "finish_reason": "solution",
            "details": "{}",
            "counted": True,
            "uncounted_reason": "",
            "source": "human",
        }
        return row | changes

    def per_step(self, table: str) -> dict[str, Any]:
        """A valid row of a table whose arrays have one entry a step."""
        common = {"solution_id": self.solution.pk, "n_steps": 3}
        rest: dict[str, dict[str, Any]] = {
            "annotation": self.annotation(),
            "referencelabels": {"labels": [1, -1, None]},
            "consensus": {
                "labels": [1, -1, None],
                "method": "plurality",
                "state": "agreed",
                "n_annotations": 1,
            },
            "adjudication": {"labels": [1, -1, None], "member_id": self.member.pk, "reason": ""},
            "gold": {"accept": [6, 1, 0], "project_id": self.project.pk, "source": "import"},
            "score": {
                "values": [0.5, 0.5, None],
                "spread": [0.0, 0.1, None],
                "version_id": self.version.pk,
                "priority": 0.1,
                "tiebreak": 0.1,
                "predicted_stop": -1,
            },
        }
        return common | rest[table]

    def assignment(self, **changes: Any) -> dict[str, Any]:
        row = {
            "id": uuid.uuid4(),
            "project_id": self.project.pk,
            "solution_id": self.solution.pk,
            "member_id": self.member.pk,
            "round": 1,
            "purpose": "work",
            "state": "live",
            "slot": 0,
            "lease_expires_at": "2030-01-01",
            "draft": "{}",
            "draft_version": 0,
            "selection": "{}",
            "skip_reason": "",
        }
        return row | changes

    def someone_else(self) -> int:
        return make.member(self.project).pk


@pytest.fixture
def world() -> World:
    project = make.project()
    version = ScorerVersion.objects.create(
        scorer=Scorer.objects.get(project=project), version="v1", measures="correctness", threshold=0.5
    )
    return World(project, make.member(project), make.solution(project), version)


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


def test_a_solution_is_never_taken_more_often_than_wanted() -> None:
    row = make.work(make.project(), wanted=2)
    run("UPDATE annotator_queuerow SET taken = 2 WHERE solution_id = %s", row.pk)
    with refused("queue_never_over"):
        run("UPDATE annotator_queuerow SET taken = 3 WHERE solution_id = %s", row.pk)


def test_a_slot_is_held_by_one_live_assignment(world: World) -> None:
    insert("assignment", world.assignment())
    with refused("assignment_slot_once"):
        insert("assignment", world.assignment(member_id=world.someone_else()))


def test_a_submitted_assignment_keeps_its_slot(world: World) -> None:
    insert("assignment", world.assignment(state="submitted"))
    with refused("assignment_slot_once"):
        insert("assignment", world.assignment(member_id=world.someone_else()))


@pytest.mark.parametrize("state", ["skipped", "expired"])
def test_a_slot_that_was_let_go_is_free_for_somebody_else(world: World, state: str) -> None:
    insert("assignment", world.assignment(state=state))
    insert("assignment", world.assignment(member_id=world.someone_else()))

    assert run("SELECT 1 FROM annotator_assignment WHERE slot = 0") == 2


def test_live_work_holds_a_slot(world: World) -> None:
    with refused("live_work_holds_a_slot"):
        insert("assignment", world.assignment(slot=None))


def test_live_gold_holds_none(world: World) -> None:
    insert("assignment", world.assignment(slot=None, purpose="gold"))

    assert run("SELECT 1 FROM annotator_assignment WHERE slot IS NULL") == 1


def test_a_person_gets_a_solution_once_a_round(world: World) -> None:
    insert("assignment", world.assignment(state="skipped", slot=None))
    with refused("assignment_once_per_round"):
        insert("assignment", world.assignment(slot=1))


def test_a_person_may_get_a_solution_again_in_a_later_round(world: World) -> None:
    insert("assignment", world.assignment(state="submitted"))
    insert("assignment", world.assignment(slot=1, round=2, purpose="repeat"))

    assert run("SELECT 1 FROM annotator_assignment") == 2


def job(**changes: Any) -> dict[str, Any]:
    row = {
        "kind": "scoring.score_batch",
        "subject": "scorer 1",
        "queue": "scoring",
        "payload": "{}",
        "state": "queued",
        "attempts": 0,
        "error": "",
    }
    return row | changes


CLAIM = {"state": "claimed", "lease_expires_at": "2030-01-01", "claim_token": uuid.uuid4()}


def test_a_job_is_queued_once() -> None:
    insert("job", job())
    with refused("job_once_while_queued"):
        insert("job", job())


@pytest.mark.parametrize("state", [CLAIM, {"state": "failed"}])
def test_a_job_may_be_queued_beside_one_that_runs_or_failed(state: dict[str, Any]) -> None:
    insert("job", job(), **state)
    insert("job", job())

    assert run("SELECT 1 FROM annotator_job") == 2


@pytest.mark.parametrize("missing", ["lease_expires_at", "claim_token"])
def test_a_claim_has_a_lease_and_a_token(missing: str) -> None:
    with refused("job_claim_has_a_lease"):
        insert("job", job(), **CLAIM | {missing: None})


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("labels_train = 0", "project_wants_labels"),
        ("labels_train = 3, labels_audit = 2", "project_wants_labels"),
        ("gold_rate = 1.5", "project_rates_are_shares"),
        ("gold_rate = 'NaN'", "project_rates_are_shares"),
        ("audit_rate = 0.6, holdout_rate = 0.6", "project_rates_are_shares"),
    ],
)
def test_a_projects_numbers_make_sense(change: str, rule: str) -> None:
    make.project()
    with refused(rule):
        run(f"UPDATE annotator_project SET {change}")


def test_a_problem_is_on_one_of_two_sides(world: World) -> None:
    with refused("problem_split"):
        run("UPDATE annotator_problem SET split = 'both'")


def test_a_person_is_a_member_once(world: World) -> None:
    with refused("member_once_per_project"):
        run(
            "INSERT INTO annotator_membership (project_id, user_id, pseudonym, role, state) "
            "SELECT project_id, user_id, 'twin', role, state FROM annotator_membership"
        )


def test_two_members_never_share_a_pseudonym(world: World) -> None:
    with refused("pseudonym_once_per_project"):
        run(
            "INSERT INTO annotator_membership (project_id, user_id, pseudonym, role, state) "
            "SELECT project_id, NULL, pseudonym, role, state FROM annotator_membership"
        )


def test_a_role_is_one_of_three(world: World) -> None:
    with refused("member_role"):
        run("UPDATE annotator_membership SET role = 'root'")


def test_erasing_a_person_keeps_their_labels_under_the_pseudonym(world: World) -> None:
    insert("annotation", world.annotation())
    assert world.member.user is not None
    world.member.user.delete()

    world.member.refresh_from_db()
    assert (world.member.user_id, run("SELECT 1 FROM annotator_annotation")) == (None, 1)
