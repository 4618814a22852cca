"""Making projects and the people in them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from annotator.actions import projects
from annotator.actions.projects import AlreadyExists, NewProject, Refused
from annotator.core.labels import Mode
from annotator.models import AuditEvent, Membership, Project, Role, Scorer
from tests import factories as make

pytestmark = pytest.mark.django_db

PASSWORD = "quite-a-long-secret-17"


def create(**new: Any) -> Project:
    return projects.create(new=NewProject(**{"slug": "algebra", **new}))


def test_a_project_starts_with_the_built_in_scorer_and_its_name_in_the_audit_log() -> None:
    project = create()

    assert list(Scorer.objects.filter(project=project).values_list("name", "kind")) == [
        ("builtin", "builtin")
    ]
    assert AuditEvent.objects.get(project=project).name == "project:created"


def test_the_defaults_are_those_of_the_design() -> None:
    project = create()

    assert (project.mode, project.name) == ("first_error", "algebra")
    assert (project.labels_train, project.labels_audit, project.labels_holdout) == (1, 2, 3)
    assert (project.gold_rate, project.audit_rate, project.holdout_rate) == (0.05, 0.1, 0.1)


def test_one_number_of_labels_holds_for_all_routes() -> None:
    project = create(labels_per_solution=4)

    assert (project.labels_train, project.labels_audit, project.labels_holdout) == (4, 4, 4)


def test_the_first_guidelines_are_version_one() -> None:
    project = create(guidelines="Judge each step.", mode=Mode.ALL_STEPS)

    assert [(each.version, each.text) for each in project.guidelines.all()] == [(1, "Judge each step.")]


def test_two_projects_draw_their_holdout_with_different_keys() -> None:
    assert create().split_key != create(slug="geometry").split_key


def test_a_slug_is_used_once() -> None:
    create()
    with pytest.raises(AlreadyExists, match="algebra"):
        create()


@pytest.mark.parametrize(
    "new",
    [
        {"slug": "two words"},
        {"slug": ""},
        {"slug": "x" * 61},
        {"name": "x" * 201},
        {"labels_per_solution": 0},
        {"labels_per_solution": 51},
        {"gold_rate": -0.1},
        {"gold_rate": 1.1},
        {"gold_rate": float("nan")},
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_made(new: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        create(**new)

    assert not Project.objects.exists()


def test_a_person_can_sign_in_with_their_password() -> None:
    projects.create_user(username="ann", password=PASSWORD)

    user = User.objects.get(username="ann")
    assert user.check_password(PASSWORD)
    assert (user.is_staff, user.is_superuser) == (False, False)


@pytest.mark.parametrize("password", ["short", "password123", "annabelle-1"])
def test_a_weak_password_is_refused(password: str) -> None:
    with pytest.raises(Refused):
        projects.create_user(username="annabelle", password=password)

    assert not User.objects.exists()


def test_a_name_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(Refused):
        projects.create_user(username="two words", password=PASSWORD)


def test_a_name_is_used_once() -> None:
    projects.create_user(username="ann", password=PASSWORD)
    with pytest.raises(AlreadyExists, match="ann"):
        projects.create_user(username="ann", password=PASSWORD)


def test_members_get_pseudonyms_that_tell_nothing() -> None:
    project = make.project()
    for name in ("ann", "bob"):
        projects.add_member(project=project, user=make.user(name), role=Role.ANNOTATOR)

    assert set(Membership.objects.values_list("pseudonym", flat=True)) == {"A1", "A2"}


def test_a_pseudonym_is_never_used_again() -> None:
    project = make.project()
    first, second = make.member(project), make.member(project)
    Membership.objects.filter(pk=first.pk).delete()

    assert make.member(project).pseudonym not in {second.pseudonym}


def test_a_person_is_a_member_once() -> None:
    project, user = make.project(), make.user()
    projects.add_member(project=project, user=user, role=Role.ANNOTATOR)
    with pytest.raises(AlreadyExists):
        projects.add_member(project=project, user=user, role=Role.MANAGER)


def test_who_was_added_and_as_what_is_in_the_audit_log() -> None:
    project = make.project()
    projects.add_member(project=project, user=make.user(), role=Role.MANAGER)

    event = AuditEvent.objects.get(name="member:added")
    assert (event.subject, event.data) == ("member A1", {"role": "manager"})
