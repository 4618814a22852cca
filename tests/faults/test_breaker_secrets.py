"""What an annotator can see tells no hidden gold from work: what is left, and the order in which things come."""

from __future__ import annotations

import random

import pytest

from annotator.actions import labeling, queueing
from annotator.actions.access import Actor
from annotator.models import Assignment, Membership, Project
from annotator.queries.home import projects_of
from annotator.queries.workbench import progress
from tests import factories as make

pytestmark = pytest.mark.django_db


class Draws(random.Random):
    """A source of chance that draws gold, or the priority route."""

    def __init__(self, *, gold: bool) -> None:
        super().__init__()
        self._draws = [0.0 if gold else 1.0, 1.0]

    def random(self) -> float:
        return self._draws.pop(0)


@pytest.fixture
def project() -> Project:
    # Gold is drawn where the draw lies below this rate.
    return make.project(gold_rate=0.5)


def claim(actor: Actor, *, gold: bool) -> Assignment:
    claimed = queueing.next_assignment(actor=actor, chance=Draws(gold=gold))
    assert claimed.purpose == (Assignment.Purpose.GOLD if gold else Assignment.Purpose.WORK)
    return claimed


def hand_in(actor: Actor, assignment: Assignment) -> None:
    labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(1, -1, None))


def left_on_the_bench(member: Membership) -> int:
    return progress(member_id=member.pk, project_id=member.project_id).left


def left_at_home(member: Membership) -> tuple[int, int]:
    assert member.user_id is not None
    (card,) = projects_of(member.user_id)
    return card.left, card.labelled


@pytest.mark.parametrize("wanted", [1, 3])
def test_every_claim_takes_one_off_what_is_left_be_it_gold_or_work(project: Project, wanted: int) -> None:
    for _ in range(4):
        make.work(project, wanted=wanted)
        make.gold(project)
    member = make.member(project)
    actor = make.as_actor(member)
    seen = [(left_on_the_bench(member), *left_at_home(member))]

    for gold in (False, True, True, False, True):
        assignment = claim(actor, gold=gold)
        seen.append((left_on_the_bench(member), *left_at_home(member)))
        hand_in(actor, assignment)

    assert seen == [(8 - n, 8 - n, n) for n in range(6)]


def test_skipping_changes_nothing_of_what_is_left_be_it_gold_or_work(project: Project) -> None:
    make.work(project), make.work(project), make.gold(project), make.gold(project)
    member = make.member(project)
    actor = make.as_actor(member)

    for gold in (False, True):
        assignment = claim(actor, gold=gold)
        before = left_on_the_bench(member), left_at_home(member)
        labeling.skip(actor=actor, assignment_id=assignment.pk, reason="not mine")
        assert (left_on_the_bench(member), left_at_home(member)) == before


def test_nothing_is_left_when_only_gold_remains(project: Project) -> None:
    make.gold(project)
    member = make.member(project)

    assert (left_on_the_bench(member), left_at_home(member)[0]) == (0, 0)


def test_a_manager_sees_what_the_project_wants(project: Project) -> None:
    make.work(project, wanted=2)
    make.gold(project)
    manager = make.member(project, make.Role.MANAGER)

    claim(make.as_actor(manager), gold=False)

    assert left_at_home(manager) == (1, 0)


def test_gold_ends_a_run_of_siblings_instead_of_interrupting_it(project: Project) -> None:
    first = make.work(project, priority=0.9)
    for priority in (0.1, 0.2):
        make.work(project, priority=priority, problem=first.solution.problem)
    other = make.work(project, priority=0.5)
    make.gold(project)
    actor = make.actor(project)
    hand_in(actor, claim(actor, gold=False))
    hand_in(actor, claim(actor, gold=False))
    hand_in(actor, claim(actor, gold=True))

    following = claim(actor, gold=False)

    assert following.solution_id == other.pk
