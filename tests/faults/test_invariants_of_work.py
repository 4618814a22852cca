"""What the database itself refuses of slots, assignments, jobs, projects and members, whoever asks."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests import factories as make
from tests.faults.sql import World, insert, new_world, refused, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return new_world()


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
    member = {"project_id": world.project.pk, "user_id": world.member.user_id}
    with refused("member_once_per_project"):
        insert("membership", member, pseudonym="twin")


def test_two_members_never_share_a_pseudonym(world: World) -> None:
    with refused("pseudonym_once_per_project"):
        insert("membership", {"project_id": world.project.pk, "pseudonym": world.member.pseudonym})


def test_any_number_of_members_may_have_no_user(world: World) -> None:
    for pseudonym in ("imported:ann", "imported:bob"):
        insert("membership", {"project_id": world.project.pk, "pseudonym": pseudonym})

    assert run("SELECT 1 FROM annotator_membership WHERE user_id IS NULL") == 2


def test_a_role_is_one_of_three(world: World) -> None:
    with refused("member_role"):
        run("UPDATE annotator_membership SET role = 'root'")


def test_erasing_a_person_keeps_their_labels_under_the_pseudonym(world: World) -> None:
    insert("annotation", world.annotation())
    assert world.member.user is not None
    world.member.user.delete()

    world.member.refresh_from_db()
    assert (world.member.user_id, run("SELECT 1 FROM annotator_annotation")) == (None, 1)
