"""What hidden gold leads to: warning, targeted checks, pause, quarantine, and a manager's last word."""

from __future__ import annotations

import pytest

from annotator.actions import gold, standing
from annotator.actions.access import Actor, NotAllowed
from annotator.actions.members import NotYourself
from annotator.actions.standing import NoSuchMember
from annotator.core.screening import Override
from annotator.models import (
    Alert,
    Annotation,
    Consensus,
    Gold,
    Membership,
    Project,
    QueueRow,
    Role,
    StandingEvent,
)
from tests import factories as make
from tests.actions.flow import checked, claim, label, later, nothing, run_jobs

pytestmark = pytest.mark.django_db
#: Wrong answers until the first alarm, and from there until the second.
TO_WARNING, TO_PAUSE = 6, 4


@pytest.fixture
def project() -> Project:
    return make.project(gold_rate=0.05)


@pytest.fixture
def manager(project: Project) -> Actor:
    return make.actor(project, Role.MANAGER)


def warned(project: Project) -> Membership:
    member = make.member(project)
    checked(member, [False] * TO_WARNING)
    return member


def paused(project: Project) -> Membership:
    member = warned(project)
    checked(member, [False] * TO_PAUSE)
    return member


def counted(member: Membership) -> list[bool]:
    rows = Annotation.objects.filter(member=member, assignment__purpose="work").order_by("pk")
    return list(rows.values_list("counted", flat=True))


def test_the_first_alarm_warns_and_the_person_goes_on(project: Project) -> None:
    member = warned(project)
    assert (member.standing, member.state) == ("warned", "active")


def test_the_second_alarm_pauses_and_says_why(project: Project) -> None:
    member = paused(project)
    assert (member.standing, member.state) == ("paused", "paused")
    assert "hidden checks" in member.state_reason.lower()
    assert nothing(make.as_actor(member)) == "paused"


def test_a_project_may_leave_the_pause_to_its_managers(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(auto_pause=False)
    member = paused(project)
    assert (member.standing, member.state) == ("paused", "active")


def test_a_warned_person_who_does_well_is_clear_again(project: Project) -> None:
    member = warned(project)
    checked(member, [True] * 30)
    assert member.standing == "clear"


def test_labels_since_the_last_clear_check_stop_counting_and_their_slots_reopen(project: Project) -> None:
    before, since = make.work(project, priority=0.9), make.work(project, priority=0.1)
    member = make.member(project)
    actor = make.as_actor(member)
    label(actor)
    later(hours=2)
    checked(member, [True])
    later(hours=1)
    label(actor)
    checked(member, [False] * (TO_WARNING + TO_PAUSE))
    run_jobs()

    assert counted(member) == [True, False]
    taken = dict(QueueRow.objects.values_list("pk", "taken"))
    assert taken == {before.pk: 1, since.pk: 0}
    assert list(Consensus.objects.values_list("solution_id", flat=True)) == [before.pk]
    assert claim(make.actor(project)).solution_id == since.pk


def test_a_manager_clears_with_a_reason_and_the_labels_count_again(project: Project, manager: Actor) -> None:
    row = make.work(project)
    member = make.member(project)
    label(make.as_actor(member))
    checked(member, [False] * (TO_WARNING + TO_PAUSE))
    standing.override(
        actor=manager, member_id=member.pk, word=Override.CLEAR, reason="spoke with them", restore=True
    )

    member.refresh_from_db(), row.refresh_from_db()
    assert (member.state, member.standing, counted(member), row.taken) == ("active", "clear", [True], 1)
    assert StandingEvent.objects.get(kind="clear").reason == "spoke with them"


def test_what_somebody_else_has_labelled_meanwhile_stays_theirs(project: Project, manager: Actor) -> None:
    row = make.work(project)
    member = make.member(project)
    label(make.as_actor(member))
    checked(member, [False] * (TO_WARNING + TO_PAUSE))
    label(make.actor(project))
    standing.override(actor=manager, member_id=member.pk, word=Override.CLEAR, reason="", restore=True)

    row.refresh_from_db()
    assert (counted(member), row.taken) == ([False], 1)


def test_who_gave_up_takes_no_slot_when_labels_come_back(project: Project, manager: Actor) -> None:
    row = make.work(project)
    member = make.member(project)
    label(make.as_actor(member), None, None, None, reason="give_up", details={"reason": "hard"})
    checked(member, [False] * (TO_WARNING + TO_PAUSE))
    standing.override(actor=manager, member_id=member.pk, word=Override.CLEAR, reason="", restore=True)

    row.refresh_from_db()
    assert (counted(member), row.taken) == ([True], 0)


def test_after_a_managers_word_the_count_begins_anew(project: Project, manager: Actor) -> None:
    member = paused(project)
    standing.override(actor=manager, member_id=member.pk, word=Override.CLEAR, reason="")
    checked(member, [False] * (TO_WARNING - 1))
    assert member.standing == "clear"


def test_a_manager_pauses_whatever_gold_says(project: Project, manager: Actor) -> None:
    member = make.member(project)
    standing.override(actor=manager, member_id=member.pk, word=Override.PAUSE, reason="unreachable")
    member.refresh_from_db()
    assert (member.state, member.state_reason) == ("paused", "unreachable")


def test_nobody_clears_themselves(manager: Actor) -> None:
    with pytest.raises(NotYourself):
        standing.override(actor=manager, member_id=manager.member, word=Override.CLEAR, reason="")


def test_reviewers_and_other_projects_have_no_say(project: Project) -> None:
    member = make.member(project)
    with pytest.raises(NotAllowed):
        standing.override(
            actor=make.actor(project, Role.REVIEWER), member_id=member.pk, word=Override.PAUSE, reason=""
        )
    with pytest.raises(NoSuchMember):
        standing.override(
            actor=make.actor(make.project(), Role.MANAGER),
            member_id=member.pk,
            word=Override.PAUSE,
            reason="",
        )


def test_a_removed_person_is_not_brought_back_by_a_late_result(project: Project) -> None:
    member = warned(project)
    Membership.objects.filter(pk=member.pk).update(state="removed")
    checked(member, [False] * TO_PAUSE)
    assert (member.standing, member.state) == ("paused", "removed")


def test_gold_that_was_wrong_is_followed_anew_and_a_manager_decides(project: Project, manager: Actor) -> None:
    member = paused(project)
    for item in Gold.objects.all()[:TO_PAUSE]:
        gold.retire(actor=manager, solution_id=item.pk, reason="wrong key", wrong=True)
    run_jobs()

    member.refresh_from_db()
    assert (member.standing, member.state) == ("warned", "paused")
    assert Alert.objects.filter(kind="pause_in_doubt").count() == 1
