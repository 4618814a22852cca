"""The people of a project, for those who look after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q
from django.utils import timezone

from annotator.models import Annotation, Assignment, Invitation, Membership

SHOWN = 200


@dataclass(frozen=True)
class Person:
    """One member. ``quarantined`` labels wait for a manager's word; ``held`` solutions are with them now."""

    id: int
    pseudonym: str
    username: str
    role: str
    state: str
    state_reason: str
    standing: str
    exam: str
    skills: Sequence[str]
    cap: int | None
    total: int
    today: int
    quarantined: int
    last_at: datetime | None
    held: int
    is_self: bool

    @property
    def skills_text(self) -> str:
        return ", ".join(self.skills)


@dataclass(frozen=True)
class Invited:
    """An invitation that is still good."""

    id: int
    role: str
    skills: Sequence[str]
    by: str
    expires_at: datetime


@dataclass(frozen=True)
class People:
    """Those who are in, those who were removed, open invitations, and how many annotators came with imports."""

    active: Sequence[Person]
    removed: Sequence[Person]
    invited: Sequence[Invited]
    imported: int

    @property
    def paused(self) -> int:
        return sum(person.state == Membership.State.PAUSED for person in self.active)

    @property
    def warned(self) -> int:
        return sum(person.standing == Membership.Standing.WARNED for person in self.active)


def people(*, project_id: int, member_id: int | None) -> People:
    """Everybody with their counts: a constant number of queries."""
    since = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    members = Membership.objects.filter(project_id=project_id).exclude(user=None).select_related("user")
    labels: dict[int, Any] = {
        row["member_id"]: row
        for row in Annotation.objects.filter(member__project_id=project_id, current=True)
        .order_by()
        .values("member_id")
        .annotate(
            total=Count("pk"),
            today=Count("pk", filter=Q(submitted_at__gte=since)),
            quarantined=Count("pk", filter=Q(uncounted_reason="quarantine")),
            last=Max("submitted_at"),
        )
    }
    held = dict(
        Assignment.objects.filter(project_id=project_id, state=Assignment.State.LIVE)
        .order_by()
        .values_list("member_id")
        .annotate(n=Count("pk"))
    )
    rows = [
        _person(member, labels.get(member.pk, {}), held.get(member.pk, 0), is_self=member.pk == member_id)
        for member in members.order_by("pk")
    ]
    removed = Membership.State.REMOVED
    return People(
        active=[row for row in rows if row.state != removed],
        removed=[row for row in rows if row.state == removed][:SHOWN],
        invited=_invited(project_id),
        imported=Membership.objects.filter(project_id=project_id, user=None).count(),
    )


def _person(member: Membership, labels: Mapping[str, Any], held: int, *, is_self: bool) -> Person:
    return Person(
        id=member.pk,
        pseudonym=member.pseudonym,
        username=member.user.get_username() if member.user else "",
        role=member.role,
        state=member.state,
        state_reason=member.state_reason,
        standing=member.standing,
        exam=member.exam,
        skills=member.skills,
        cap=member.cap_per_day,
        total=labels.get("total", 0),
        today=labels.get("today", 0),
        quarantined=labels.get("quarantined", 0),
        last_at=labels.get("last"),
        held=held,
        is_self=is_self,
    )


def is_member(*, project_id: int, user_id: int) -> bool:
    """Whether this person is in the project, or was removed from it."""
    return Membership.objects.filter(project_id=project_id, user_id=user_id).exists()


def user_of(user_id: int) -> User:
    """The person behind an id."""
    return User.objects.get(pk=user_id)


def _invited(project_id: int) -> list[Invited]:
    good = Invitation.objects.filter(
        project_id=project_id, used_at=None, revoked_at=None, expires_at__gt=timezone.now()
    ).select_related("created_by")
    return [
        Invited(
            each.pk,
            each.role,
            each.skills,
            each.created_by.pseudonym if each.created_by else "",
            each.expires_at,
        )
        for each in good[:SHOWN]
    ]
