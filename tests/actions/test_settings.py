"""Changing a project's settings and guidelines."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from annotator.actions import projects
from annotator.actions.access import NotAllowed
from annotator.actions.projects import Refused
from annotator.models import AuditEvent, Guidelines, Project, Role
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def test_only_what_changed_is_in_the_audit_log(project: Project) -> None:
    manager = make.actor(project, Role.MANAGER)
    projects.change_settings(actor=manager, values={"siblings": 2, "name": project.name})
    event = AuditEvent.objects.get(name="project:changed")
    assert (event.data["before"], event.data["after"]) == ({"siblings": 4}, {"siblings": 2})
    assert event.member_id == manager.member_id


def test_saving_without_a_change_is_no_event(project: Project) -> None:
    projects.change_settings(actor=make.actor(project, Role.MANAGER), values={"siblings": 4})
    assert not AuditEvent.objects.filter(name="project:changed").exists()


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER])
def test_others_change_nothing(project: Project, role: Role) -> None:
    actor = make.actor(project, role)
    with pytest.raises(NotAllowed):
        projects.change_settings(actor=actor, values={"siblings": 2})
    with pytest.raises(NotAllowed):
        projects.write_guidelines(actor=actor, text="Mine.")


@pytest.mark.parametrize("name", ["slug", "mode", "split_key"])
def test_what_would_make_labels_untrustworthy_cannot_be_changed(project: Project, name: str) -> None:
    with pytest.raises(Refused, match=name):
        projects.change_settings(actor=make.actor(project, Role.MANAGER), values={name: "x"})


def test_a_share_that_is_none_is_refused_with_its_field(project: Project) -> None:
    with pytest.raises(ValidationError) as refused:
        projects.change_settings(actor=make.actor(project, Role.MANAGER), values={"gold_rate": 1.5})
    assert "gold_rate" in refused.value.message_dict
    project.refresh_from_db()
    assert project.gold_rate == 0.0


def test_guidelines_are_numbered_and_the_same_text_again_is_no_version(project: Project) -> None:
    manager = make.actor(project, Role.MANAGER)
    versions = [projects.write_guidelines(actor=manager, text=text).version for text in ("a", "b", "b", "a")]
    assert versions == [1, 2, 2, 3]
    assert Guidelines.objects.count() == 3
