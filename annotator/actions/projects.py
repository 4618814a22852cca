"""Making projects and the people in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.core.labels import Mode
from annotator.core.selection import SOUND_SHARE
from annotator.models import AuditEvent, Guidelines, Membership, Project, Role, Scorer

#: What a manager may change on the settings page.
CHANGEABLE = frozenset(
    {
        "name",
        "error_propagation",
        "gold_rate",
        "audit_rate",
        "holdout_rate",
        "lease_seconds",
        "error_types",
        "require_error_type",
        "require_comment",
        "correct_through",
        "aid_equations",
        "aid_reference",
        "aid_answer",
        "reopen_hours",
        "verify_minutes",
        "siblings",
        "macros",
        "labels_max",
        "cap_per_day",
        "gold_rate_start",
        "gold_start",
        "exam_size",
        "exam_pass",
        "calibration_size",
        "repeat_rate",
        "repeat_days",
        "cusum_p0",
        "auto_pause",
        "standing_shown",
        "low_posterior",
        "hourly_cost",
        "currency",
    }
)
#: A later import or scoring needs a scorer of this name; every project has it from the start.
BUILTIN = "builtin"


class AlreadyExists(Exception):
    """A project or a person of that name is there already."""


class Refused(ValueError):
    """A value that the rules don't allow; the message says which and why."""


@dataclass(frozen=True)
class NewProject:
    """What can be chosen. ``labels_per_solution`` None: 1 on train, 2 on the audit prefix, 3 on the holdout."""

    slug: str
    name: str = ""
    mode: Mode = Mode.FIRST_ERROR
    labels_per_solution: int | None = None
    gold_rate: float = 0.05
    guidelines: str = ""
    error_propagation: str = "conditional"
    error_free_floor: float = SOUND_SHARE


@transaction.atomic
def create(*, new: NewProject) -> Project:
    """Make a project with its first guidelines and the built-in scorer. Raises AlreadyExists, Refused."""
    if Project.objects.filter(slug=new.slug).exists():
        raise AlreadyExists(f"There is already a project '{new.slug}'.")
    project = Project(slug=new.slug, name=new.name or new.slug, mode=new.mode.value, gold_rate=new.gold_rate)
    project.error_propagation = new.error_propagation
    project.error_free_floor = new.error_free_floor
    if new.labels_per_solution is not None:
        if not 1 <= new.labels_per_solution <= 50:
            raise Refused("A solution needs between 1 and 50 labels.")
        project.labels_train = project.labels_audit = project.labels_holdout = new.labels_per_solution
    try:
        project.full_clean()
    except ValidationError as error:
        raise Refused(
            "; ".join(f"{field}: {' '.join(said)}" for field, said in error.message_dict.items())
        ) from error
    project.save()
    if new.guidelines:
        Guidelines.objects.create(project=project, version=1, text=new.guidelines)
    Scorer.objects.create(project=project, name=BUILTIN, kind=BUILTIN)
    AuditEvent.objects.record("project:created", f"project {new.slug}", project_id=project.pk, member_id=None)
    return project


@transaction.atomic
def change_settings(*, actor: Actor, values: Mapping[str, Any]) -> Project:
    """Change a project's settings, each change in the audit log. Raises NotAllowed, ValidationError per field."""
    access.require(actor, Verb.MANAGE)
    project = Project.objects.select_for_update().get(pk=actor.project_id)
    before = {name: getattr(project, name) for name in values}
    for name, value in values.items():
        if name not in CHANGEABLE:
            raise Refused(f"'{name}' can't be changed.")
        setattr(project, name, value)
    project.full_clean()
    project.save(update_fields=list(values))
    changed = [name for name in values if before[name] != values[name]]
    if changed:
        AuditEvent.objects.record(
            "project:changed",
            f"project {project.slug}",
            project_id=project.pk,
            member_id=actor.member_id,
            data={
                "before": {name: before[name] for name in changed},
                "after": {name: values[name] for name in changed},
            },
        )
    return project


@transaction.atomic
def write_guidelines(*, actor: Actor, text: str) -> Guidelines:
    """A new version of the guidelines, in force from now on; the same text again is no new version."""
    access.require(actor, Verb.MANAGE)
    Project.objects.select_for_update().get(pk=actor.project_id)
    last = Guidelines.objects.filter(project_id=actor.project_id).order_by("-version").first()
    if last is not None and last.text == text:
        return last
    version = last.version + 1 if last else 1
    made = Guidelines.objects.create(project_id=actor.project_id, version=version, text=text)
    AuditEvent.objects.record(
        "guidelines:written",
        f"guidelines {version}",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data={"before": {"version": last.version if last else None}, "after": {"version": version}},
    )
    return made


@transaction.atomic
def create_user(*, username: str, password: str, check_strength: bool = True) -> User:
    """Make a person who can sign in. Raises AlreadyExists, Refused for a weak password."""
    if User.objects.filter(username=username).exists():
        raise AlreadyExists(f"There is already a person '{username}'.")
    user = User(username=username)
    try:
        user.full_clean(exclude=["password"])
        if check_strength:
            validate_password(password, user)
    except ValidationError as error:
        raise Refused(" ".join(error.messages)) from error
    user.set_password(password)
    user.save()
    # No name in here: the log can't be changed, and a person can ask to be erased.
    AuditEvent.objects.record("user:created", f"user {user.pk}", project_id=None, member_id=None)
    return user


@transaction.atomic
def add_member(*, project: Project, user: User, role: Role) -> Membership:
    """Put a person into a project under the next free pseudonym. Raises AlreadyExists."""
    Project.objects.select_for_update().get(pk=project.pk)  # first, so that two at once are told apart
    if Membership.objects.filter(project=project, user=user).exists():
        raise AlreadyExists(f"'{user.username}' is already in '{project.slug}'.")
    member = Membership.objects.create(
        project=project, user=user, role=role, pseudonym=next_pseudonym(project)
    )
    AuditEvent.objects.record(
        "member:added",
        f"member {member.pseudonym}",
        project_id=project.pk,
        member_id=None,
        data={"role": role},
    )
    return member


def next_pseudonym(project: Project) -> str:
    """A name that tells nothing of the person: A1, A2, … The project row must be locked."""
    taken = set(Membership.objects.filter(project=project).values_list("pseudonym", flat=True))
    number = len(taken) + 1
    while f"A{number}" in taken:
        number += 1
    return f"A{number}"
