"""Who may do what."""

from __future__ import annotations

import pytest

from annotator.actions import access
from annotator.actions.access import NotAllowed, NotAMember, Verb
from annotator.models import Membership, Project, Role
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def rights(project: Project, role: Role) -> set[Verb]:
    actor = make.actor(project, role)
    return {verb for verb in Verb if access.may(actor, verb)}


def test_a_manager_may_do_everything(project: Project) -> None:
    assert rights(project, Role.MANAGER) == set(Verb)


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER])
def test_an_annotator_labels_and_sees_nothing_that_could_sway_them(project: Project, role: Role) -> None:
    assert Verb.LABEL in rights(project, role)
    assert not {Verb.SEE_QUEUE, Verb.IMPORT, Verb.EXPORT, Verb.SCORE} & rights(project, role)


def test_what_is_not_allowed_raises(project: Project) -> None:
    with pytest.raises(NotAllowed):
        access.require(make.actor(project), Verb.EXPORT)


def test_a_stranger_cannot_tell_a_project_from_none(project: Project) -> None:
    stranger = make.user()
    with pytest.raises(NotAMember):
        access.enter(user_id=stranger.pk, slug=project.slug)
    with pytest.raises(NotAMember):
        access.enter(user_id=stranger.pk, slug="no-such-project")


def test_nobody_is_nobodys_member(project: Project) -> None:
    """Imported annotators have no user either: being nobody must not let one in as them."""
    Membership.objects.create(project=project, pseudonym="imported:ann", role=Role.MANAGER)
    with pytest.raises(NotAMember):
        access.enter(user_id=None, slug=project.slug)


def test_a_manager_elsewhere_is_a_stranger_here(project: Project) -> None:
    elsewhere = make.member(make.project(), Role.MANAGER)
    with pytest.raises(NotAMember):
        access.enter(user_id=elsewhere.user_id, slug=project.slug)


def test_a_person_may_have_another_role_in_another_project(project: Project) -> None:
    user = make.user()
    make.member(project, Role.ANNOTATOR, user=user)
    other = make.project()
    make.member(other, Role.MANAGER, user=user)

    assert not access.may(access.enter(user_id=user.pk, slug=project.slug), Verb.EXPORT)
    assert access.may(access.enter(user_id=user.pk, slug=other.slug), Verb.EXPORT)


def test_a_superuser_is_no_member_by_that(project: Project) -> None:
    root = make.user(is_superuser=True, is_staff=True)
    with pytest.raises(NotAMember):
        access.enter(user_id=root.pk, slug=project.slug)


def test_a_paused_member_still_enters_and_is_known_as_paused(project: Project) -> None:
    paused = make.member(project, state=Membership.State.PAUSED)

    assert make.as_actor(paused).state == Membership.State.PAUSED


def test_a_removed_member_is_a_stranger(project: Project) -> None:
    removed = make.member(project, state=Membership.State.REMOVED)
    with pytest.raises(NotAMember):
        make.as_actor(removed)


def test_the_operator_of_the_server_manages_but_does_not_label(project: Project) -> None:
    operator = access.operator(project)

    assert access.may(operator, Verb.EXPORT)
    with pytest.raises(NotAllowed):
        _ = operator.member
