"""The people of a project: invite, let in, pause, resume, remove, and what each may get."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from annotator.actions import access, queueing
from annotator.actions.access import Actor, Verb
from annotator.actions.projects import create_user, next_pseudonym
from annotator.jobs import enqueue_many
from annotator.models import Assignment, AuditEvent, Invitation, Membership, Project, Role

DAYS = 7


class InvitationGone(Exception):
    """The link was never valid, has expired, was revoked or used; from outside these look the same."""


class UnknownMember(Exception):
    """No such member in this project."""


class NotYourself(Exception):
    """Nobody changes their own role or state: somebody else has to."""


@dataclass(frozen=True)
class NewInvitation:
    """``token`` is shown once; only its hash is kept."""

    invitation: Invitation
    token: str


@dataclass(frozen=True)
class Changes:
    """What a manager changes of a member; None leaves as it is. ``cap`` 0 means: the project's."""

    role: Role | None = None
    skills: Sequence[str] | None = None
    cap: int | None = None


@transaction.atomic
def invite(*, actor: Actor, role: Role, skills: Sequence[str] = (), days: int = DAYS) -> NewInvitation:
    """A link that lets one person in, for ``days`` days. Raises NotAllowed."""
    access.require(actor, Verb.MANAGE)
    token = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        project_id=actor.project_id,
        token_hash=_hash(token),
        role=role,
        skills=_clean_skills(skills),
        created_by_id=actor.member_id,
        expires_at=Now() + timedelta(days=min(max(days, 1), 90)),
    )
    _record(
        "member:invited",
        f"invitation {invitation.pk}",
        actor,
        {"after": {"role": role.value, "skills": invitation.skills}},
    )
    return NewInvitation(invitation, token)


@transaction.atomic
def revoke(*, actor: Actor, invitation_id: int) -> None:
    """Make an unused link worthless. Raises NotAllowed; an unknown id is no error."""
    access.require(actor, Verb.MANAGE)
    rows = Invitation.objects.filter(pk=invitation_id, project_id=actor.project_id, used_at=None)
    if rows.filter(revoked_at=None).update(revoked_at=Now()):
        _record("invitation:revoked", f"invitation {invitation_id}", actor, {})


def look_up(token: str) -> Invitation:
    """The invitation behind a link that is still good. Raises InvitationGone."""
    good = Invitation.objects.filter(
        token_hash=_hash(token), used_at=None, revoked_at=None, expires_at__gt=Now()
    )
    invitation = good.select_related("project").first()
    if invitation is None:
        raise InvitationGone
    return invitation


@transaction.atomic
def accept(*, token: str, user_id: int) -> Membership:
    """Use a link once. Somebody who is a member already stays what they are. Raises InvitationGone."""
    found = look_up(token)
    invitation = Invitation.objects.select_for_update().get(pk=found.pk)
    if invitation.used_at is not None or invitation.revoked_at is not None:
        raise InvitationGone
    project = Project.objects.select_for_update(no_key=True).get(pk=invitation.project_id)
    member = Membership.objects.filter(project=project, user_id=user_id).first()
    if member is None:
        member = Membership.objects.create(
            project=project,
            user_id=user_id,
            role=invitation.role,
            skills=invitation.skills,
            pseudonym=next_pseudonym(project),
        )
    elif member.state == Membership.State.REMOVED:
        raise InvitationGone
    Invitation.objects.filter(pk=invitation.pk).update(used_by=member, used_at=Now())
    AuditEvent.objects.record(
        "member:joined",
        f"member {member.pseudonym}",
        project_id=project.pk,
        member_id=member.pk,
        data={"invitation": invitation.pk, "after": {"role": member.role}},
    )
    return member


@transaction.atomic
def join_anew(*, token: str, username: str, password: str) -> Membership:
    """Make an account and use the link with it. Raises InvitationGone, AlreadyExists, Refused; then neither happens."""
    look_up(token)
    user = create_user(username=username.strip(), password=password)
    return accept(token=token, user_id=user.pk)


@transaction.atomic
def change(*, actor: Actor, member_id: int, changes: Changes) -> Membership:
    """Change role, skills or cap. Raises NotAllowed, NotYourself (a role of one's own), UnknownMember."""
    access.require(actor, Verb.MANAGE)
    member = _locked(actor, member_id)
    before = {"role": member.role, "skills": member.skills, "cap": member.cap_per_day}
    if changes.role is not None and changes.role != member.role:
        if member.pk == actor.member_id:
            raise NotYourself("Ask another manager to change your role.")
        member.role = changes.role
    if changes.skills is not None:
        member.skills = _clean_skills(changes.skills)
    if changes.cap is not None:
        member.cap_per_day = changes.cap or None
    member.save(update_fields=["role", "skills", "cap_per_day"])
    after = {"role": member.role, "skills": member.skills, "cap": member.cap_per_day}
    if before != after:
        _record("member:changed", f"member {member.pseudonym}", actor, {"before": before, "after": after})
    return member


@transaction.atomic
def remove(*, actor: Actor, member_id: int, reason: str) -> Membership:
    """Take a person out: no more access, live work goes back, labels stay. Raises NotAllowed, NotYourself."""
    access.require(actor, Verb.MANAGE)
    member = _locked(actor, member_id)
    if member.pk == actor.member_id:
        raise NotYourself("Ask another manager to remove you.")
    before = member.state
    if before != Membership.State.REMOVED:
        set_state(member, Membership.State.REMOVED, reason.strip()[:300])
        data = {"reason": member.state_reason, "before": {"state": before}, "after": {"state": member.state}}
        _record("member:removed", f"member {member.pseudonym}", actor, data)
    return member


@transaction.atomic
def set_exam(*, actor: Actor, member_id: int, passed: bool, reason: str) -> Membership:
    """Let a person work without (more of) the exam, or open it again with items they haven't had.

    Raises NotAllowed, NotYourself, UnknownMember.
    """
    access.require(actor, Verb.MANAGE)
    member = _locked(actor, member_id)
    if member.pk == actor.member_id:
        raise NotYourself("Ask another manager about your exam.")
    before = member.exam
    member.exam = Membership.Exam.PASSED if passed else Membership.Exam.OPEN
    member.save(update_fields=["exam"])
    if not passed:
        Membership.objects.filter(pk=member.pk).update(exam_since=Now())
    data = {"reason": reason.strip()[:300], "before": {"exam": before}, "after": {"exam": member.exam}}
    _record("exam:set", f"member {member.pseudonym}", actor, data)
    return member


def set_state(member: Membership, state: Membership.State, reason: str) -> None:
    """Change a locked member's state; whoever stops being active gives their live work back."""
    member.state, member.state_reason = state, reason
    member.save(update_fields=["state", "state_reason"])
    if state == Membership.State.ACTIVE:
        return
    live = Assignment.objects.select_for_update(of=("self",)).select_related("project")
    for assignment in live.filter(member=member, state=Assignment.State.LIVE).order_by("solution_id"):
        queueing.release(assignment, Assignment.State.EXPIRED, "assignment:released")


def recount(project_id: int, solution_ids: Iterable[int]) -> None:
    """Have the consensus of these solutions computed anew, in jobs."""
    wanted = {f"solution {pk}": {"solution_id": pk} for pk in sorted(set(solution_ids))}
    enqueue_many(kind="consensus.update", project_id=project_id, wanted=wanted, wake_ups=1)


def _locked(actor: Actor, member_id: int) -> Membership:
    # No key lock: a submit that has locked its assignment must still be able to point here.
    rows = Membership.objects.select_for_update(no_key=True)
    member = rows.filter(pk=member_id, project_id=actor.project_id).first()
    if member is None:
        raise UnknownMember
    return member


def _clean_skills(skills: Sequence[str]) -> list[str]:
    return sorted({skill.strip()[:60] for skill in skills if skill.strip()})


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _record(name: str, subject: str, actor: Actor, data: Mapping[str, object]) -> None:
    AuditEvent.objects.record(
        name, subject, project_id=actor.project_id, member_id=actor.member_id, data=data
    )
