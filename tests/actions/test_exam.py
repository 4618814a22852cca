"""The exam before the first work."""

from __future__ import annotations

import pytest

from annotator.actions import gold, labeling, members
from annotator.models import Gold, Membership, Project, Role
from tests import factories as make
from tests.actions.flow import claim, hand_in, label, nothing

pytestmark = pytest.mark.django_db
RIGHT, WRONG = (1, -1, None), (1, 1, 1)


@pytest.fixture
def project() -> Project:
    """An exam of four items, passed with three right, and some work behind it."""
    made = make.project()
    Project.objects.filter(pk=made.pk).update(exam_size=4, exam_pass=0.75)
    items(made, 4)
    make.work(made), make.work(made)
    return made


def items(project: Project, n: int) -> None:
    for _ in range(n):
        Gold.objects.filter(pk=make.gold(project, RIGHT).pk).update(use="exam")


def sit(member: Membership, *answers: tuple[int | None, ...]) -> Membership:
    for answer in answers:
        assert label(make.as_actor(member), *answer).purpose == "exam"
    member.refresh_from_db()
    return member


def test_the_exam_comes_before_any_work_and_holds_no_slot(project: Project) -> None:
    first = claim(make.actor(project))
    assert (first.purpose, first.slot) == ("exam", None)


def test_who_passes_goes_on_to_work(project: Project) -> None:
    member = sit(make.member(project), RIGHT, RIGHT, WRONG, RIGHT)
    assert member.exam == "passed"
    assert claim(make.as_actor(member)).purpose == "work"


def test_who_fails_gets_no_work(project: Project) -> None:
    member = sit(make.member(project), RIGHT, WRONG, WRONG, RIGHT)
    assert member.exam == "failed"
    assert nothing(make.as_actor(member)) == "exam_failed"


def test_until_it_is_marked_the_person_is_told_to_wait(project: Project) -> None:
    member = sit(make.member(project), RIGHT, RIGHT, RIGHT)
    actor = make.as_actor(member)
    last = claim(actor)
    labeling.submit(actor=actor, assignment_id=last.pk, work=make.marked(*RIGHT))

    assert nothing(actor) == "exam_pending"


def test_a_skipped_item_is_asked_anew_rather_than_blocking_the_exam_for_ever(project: Project) -> None:
    items(project, 1)
    member = make.member(project)
    actor = make.as_actor(member)
    labeling.skip(actor=actor, assignment_id=claim(actor).pk, reason="too long")
    sit(member, RIGHT, RIGHT, RIGHT, RIGHT)

    assert member.exam == "passed"


def test_an_item_that_was_opened_again_counts_once(project: Project) -> None:
    member = make.member(project)
    actor = make.as_actor(member)
    first = label(actor, *WRONG)
    labeling.reopen(actor=actor, assignment_id=first.pk)
    hand_in(actor, first, *RIGHT)
    sit(member, RIGHT, WRONG)

    assert member.exam == "open"
    assert sit(member, RIGHT).exam == "passed"


def test_an_exam_with_too_few_items_says_that_it_is_not_ready(project: Project) -> None:
    Gold.objects.update(retired=True)
    assert nothing(make.actor(project)) == "exam_unready"


def test_a_manager_opens_the_exam_again_with_items_the_person_has_not_had(project: Project) -> None:
    member = sit(make.member(project), WRONG, WRONG, WRONG, WRONG)
    items(project, 4)
    members.set_exam(
        actor=make.actor(project, Role.MANAGER), member_id=member.pk, passed=False, reason="had a bad day"
    )

    assert sit(member, RIGHT, RIGHT, RIGHT, RIGHT).exam == "passed"


def test_a_manager_lets_somebody_work_without_it(project: Project) -> None:
    member = make.member(project)
    members.set_exam(
        actor=make.actor(project, Role.MANAGER),
        member_id=member.pk,
        passed=True,
        reason="wrote the guidelines",
    )
    assert claim(make.as_actor(member)).purpose == "work"


def test_an_item_whose_gold_was_wrong_is_asked_anew(project: Project) -> None:
    items(project, 1)
    member = sit(make.member(project), RIGHT, RIGHT, WRONG)
    bad = member.assignments.order_by("-claimed_at").first()
    assert bad is not None
    gold.retire(actor=make.actor(project, Role.MANAGER), solution_id=bad.solution_id, reason="", wrong=True)

    assert sit(member, RIGHT).exam == "open"
    assert sit(member, RIGHT).exam == "passed"
