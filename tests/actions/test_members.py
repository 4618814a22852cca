"""Inviting people, letting them in, and changing what they may."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from annotator.actions import members
from annotator.actions.access import Actor, NotAllowed, NotAMember
from annotator.actions.members import Changes, InvitationGone, NotYourself, UnknownMember
from annotator.models import Invitation, Membership, Project, Role
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def manager(project: Project) -> Actor:
    return make.actor(project, Role.MANAGER)


def invited(manager: Actor, role: Role = Role.ANNOTATOR, **fields: object) -> str:
    return members.invite(actor=manager, role=role, **fields).token  # type: ignore[arg-type]


def test_a_link_lets_one_person_in_with_the_role_and_skills_it_was_made_for(
    project: Project, manager: Actor
) -> None:
    token = invited(manager, Role.REVIEWER, skills=["algebra", " algebra ", ""])
    joined = members.accept(token=token, user_id=make.user().pk)

    assert (joined.project, joined.role, joined.skills) == (project, "reviewer", ["algebra"])


def test_a_link_works_once(manager: Actor) -> None:
    token = invited(manager)
    members.accept(token=token, user_id=make.user().pk)
    with pytest.raises(InvitationGone):
        members.accept(token=token, user_id=make.user().pk)


def test_an_expired_link_lets_nobody_in(manager: Actor) -> None:
    token = invited(manager)
    Invitation.objects.update(expires_at=Now() - timedelta(seconds=1))
    with pytest.raises(InvitationGone):
        members.accept(token=token, user_id=make.user().pk)


def test_a_revoked_link_lets_nobody_in(manager: Actor) -> None:
    made = members.invite(actor=manager, role=Role.ANNOTATOR)
    members.revoke(actor=manager, invitation_id=made.invitation.pk)
    with pytest.raises(InvitationGone):
        members.look_up(made.token)


def test_only_the_hash_of_a_link_is_kept(manager: Actor) -> None:
    token = invited(manager)
    assert token.encode() not in bytes(Invitation.objects.get().token_hash)


def test_a_link_gives_a_member_no_other_role(project: Project, manager: Actor) -> None:
    member = make.member(project)
    assert member.user_id is not None
    members.accept(token=invited(manager, Role.MANAGER), user_id=member.user_id)
    member.refresh_from_db()
    assert member.role == "annotator"


def test_a_removed_person_does_not_come_back_by_a_link(project: Project, manager: Actor) -> None:
    member = make.member(project, state=Membership.State.REMOVED)
    assert member.user_id is not None
    with pytest.raises(InvitationGone):
        members.accept(token=invited(manager), user_id=member.user_id)


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER])
def test_only_managers_look_after_members(project: Project, role: Role) -> None:
    actor, other = make.actor(project, role), make.member(project)
    with pytest.raises(NotAllowed):
        members.invite(actor=actor, role=Role.MANAGER)
    with pytest.raises(NotAllowed):
        members.change(actor=actor, member_id=other.pk, changes=Changes(role=Role.MANAGER))
    with pytest.raises(NotAllowed):
        members.remove(actor=actor, member_id=other.pk, reason="")
    with pytest.raises(NotAllowed):
        members.set_exam(actor=actor, member_id=other.pk, passed=True, reason="")


def test_nobody_changes_their_own_role_or_state(manager: Actor) -> None:
    with pytest.raises(NotYourself):
        members.change(actor=manager, member_id=manager.member, changes=Changes(role=Role.REVIEWER))
    with pytest.raises(NotYourself):
        members.remove(actor=manager, member_id=manager.member, reason="")


def test_nobody_changes_people_of_another_project(manager: Actor) -> None:
    foreign = make.member(make.project())
    with pytest.raises(UnknownMember):
        members.change(actor=manager, member_id=foreign.pk, changes=Changes(role=Role.MANAGER))
    with pytest.raises(UnknownMember):
        members.remove(actor=manager, member_id=foreign.pk, reason="")


def test_role_skills_and_cap_change_and_a_cap_of_none_is_the_projects(
    project: Project, manager: Actor
) -> None:
    member = make.member(project)
    members.change(
        actor=manager, member_id=member.pk, changes=Changes(role=Role.REVIEWER, skills=["b", "a"], cap=5)
    )
    member.refresh_from_db()
    assert (member.role, member.skills, member.cap_per_day) == ("reviewer", ["a", "b"], 5)

    members.change(actor=manager, member_id=member.pk, changes=Changes(cap=0))
    member.refresh_from_db()
    assert (member.role, member.cap_per_day) == ("reviewer", None)


def test_a_removed_person_finds_no_project_any_more(project: Project, manager: Actor) -> None:
    member = make.member(project)
    members.remove(actor=manager, member_id=member.pk, reason="left")
    with pytest.raises(NotAMember):
        make.as_actor(member)
