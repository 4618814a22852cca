"""How often hidden gold comes, to whom, and what becomes of gold that is wrong."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from annotator.actions import gold, screening, standing
from annotator.actions.access import Actor, NotAllowed
from annotator.actions.gold import NoSuchGold, Refused
from annotator.actions.hidden_checks import gold_share
from annotator.models import Alert, Assignment, Gold, Membership, Project, Role
from tests import factories as make
from tests.actions.flow import CHECK, checked, claim, label

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(gold_rate=0.05)


@pytest.fixture
def manager(project: Project) -> Actor:
    return make.actor(project, Role.MANAGER)


def claims(member: Membership, n: int, purpose: str = "work") -> None:
    for _ in range(n):
        row = make.solution(member.project)
        Assignment.objects.create(
            project=member.project,
            solution=row,
            member=member,
            purpose=purpose,
            state="submitted",
            lease_expires_at=row.created_at,
        )


def test_a_fifth_of_the_first_fifty_claims_are_checks_then_one_in_twenty(project: Project) -> None:
    member = make.member(project)
    claims(member, 49)
    before = gold_share(member, project)
    claims(member, 1)
    assert (before, gold_share(member, project)) == (0.2, 0.05)


def test_practice_and_exam_are_no_claims_of_the_first_fifty(project: Project) -> None:
    member = make.member(project)
    claims(member, 30, "practice"), claims(member, 30, "exam")
    assert gold_share(member, project) == 0.2


def test_a_project_without_hidden_gold_has_none_at_the_start_either() -> None:
    project = make.project()
    assert gold_share(make.member(project), project) == 0.0


def test_a_warned_person_is_checked_four_times_as_often(project: Project) -> None:
    member = make.member(project, standing="warned")
    claims(member, 50)
    assert gold_share(member, project) == pytest.approx(0.2)


def test_the_share_holds_in_the_flow(project: Project) -> None:
    for _ in range(70):
        make.gold(project)
    for _ in range(60):
        make.work(project)
    actor, chance, got = make.actor(project), random.Random(5), Counter[str]()
    for _ in range(50):
        assignment = claim(actor, chance)
        Assignment.objects.filter(pk=assignment.pk).update(state="submitted")
        got[assignment.purpose] += 1

    assert 4 <= got["gold"] <= 18  # 10 expected; outside with a chance below 1 %


def test_retired_and_suspect_gold_is_not_handed_out(project: Project, manager: Actor) -> None:
    make.work(project)
    retired, suspect = make.gold(project), make.gold(project)
    gold.retire(actor=manager, solution_id=retired.pk, reason="unclear")
    Gold.objects.filter(pk=suspect.pk).update(suspect=True)

    assert claim(make.actor(project), CHECK).purpose == "work"


def fail(item: Gold, n: int) -> None:
    for _ in range(n):
        checked(make.member(item.project), [False], item)


def test_gold_that_most_good_people_fail_is_flagged_and_a_manager_told(project: Project) -> None:
    item = make.gold(project)
    fail(item, 12)

    item.refresh_from_db()
    assert item.suspect
    assert Alert.objects.filter(kind="suspect_gold", closed_at=None).count() == 1


def test_once_cleared_only_new_failures_raise_the_suspicion_again(project: Project, manager: Actor) -> None:
    item = make.gold(project)
    fail(item, 12)
    gold.clear(actor=manager, solution_id=item.pk)
    fail(item, 1)
    item.refresh_from_db()
    assert not item.suspect

    fail(item, 12)
    item.refresh_from_db()
    assert item.suspect


def test_gold_that_was_wrong_counts_against_nobody(project: Project, manager: Actor) -> None:
    member = make.member(project)
    item = make.gold(project)
    checked(member, [False], item)
    gold.retire(actor=manager, solution_id=item.pk, reason="the key was wrong", wrong=True)

    assert standing.events_of(member.pk) == []
    gold.bring_back(actor=manager, solution_id=item.pk)
    assert [event.outcome for event in standing.events_of(member.pk)] == [False]


def test_gold_retired_for_another_reason_still_counts(project: Project, manager: Actor) -> None:
    member = make.member(project)
    item = make.gold(project)
    checked(member, [False], item)
    gold.retire(actor=manager, solution_id=item.pk, reason="too easy")
    assert [event.outcome for event in standing.events_of(member.pk)] == [False]


def test_a_manager_is_told_before_somebody_runs_out_of_checks(project: Project) -> None:
    for _ in range(screening.ENOUGH):
        make.gold(project)
    make.work(project)
    label(make.actor(project), chance=CHECK)

    assert Alert.objects.get().kind == "gold_runs_out"


def test_what_was_shown_in_practice_never_checks_anybody(project: Project, manager: Actor) -> None:
    item = make.gold(project)
    gold.set_use(actor=manager, solution_id=item.pk, use=Gold.Use.PRACTICE)
    claims_of = make.member(project)
    Assignment.objects.create(
        project=project,
        solution_id=item.pk,
        member=claims_of,
        purpose="practice",
        state="submitted",
        lease_expires_at=item.created_at,
    )
    with pytest.raises(Refused):
        gold.set_use(actor=manager, solution_id=item.pk, use=Gold.Use.HIDDEN)


def test_gold_is_looked_after_by_managers_of_its_project(project: Project) -> None:
    item = make.gold(project)
    calls = [
        lambda actor: gold.retire(actor=actor, solution_id=item.pk, reason=""),
        lambda actor: gold.bring_back(actor=actor, solution_id=item.pk),
        lambda actor: gold.clear(actor=actor, solution_id=item.pk),
        lambda actor: gold.set_use(actor=actor, solution_id=item.pk, use=Gold.Use.EXAM),
    ]
    for call in calls:
        with pytest.raises(NotAllowed):
            call(make.actor(project, Role.REVIEWER))
        with pytest.raises(NoSuchGold):
            call(make.actor(make.project(), Role.MANAGER))
