"""Who may do what. Every door asks here, and every action asks again."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from enum import StrEnum

from annotator.models import Membership, Project, Role


class Verb(StrEnum):
    """What a member can ask to do in a project."""

    LABEL = "label"
    SEE_QUEUE = "see_queue"
    IMPORT = "import"
    EXPORT = "export"
    SCORE = "score"
    ANSWER = "answer"
    ADJUDICATE = "adjudicate"
    MANAGE = "manage"


ALLOWED: dict[str, frozenset[Verb]] = {
    Role.ANNOTATOR.value: frozenset({Verb.LABEL}),
    Role.REVIEWER.value: frozenset({Verb.LABEL, Verb.ANSWER, Verb.ADJUDICATE}),
    Role.MANAGER.value: frozenset(Verb),
}


@dataclass(frozen=True)
class Actor:
    """A person in a project, or (``member_id`` None) whoever runs commands on the server."""

    member_id: int | None
    project_id: int
    role: str
    state: str = Membership.State.ACTIVE.value
    slug: str = ""

    @property
    def member(self) -> int:
        """The membership's id. Raises NotAllowed for the server's operator, who has none."""
        if self.member_id is None:
            raise NotAllowed("Only a member of the project can do this.")
        return self.member_id


class NotAMember(Exception):
    """No such project, or none of this person's: the two look the same from outside."""


class NotAllowed(Exception):
    """A member, but not with the right to do this."""


def enter(*, user_id: int | None, slug: str) -> Actor:
    """The person's standing in a project. Raises NotAMember, also for a removed member."""
    member = (
        Membership.objects.filter(user_id=user_id, project__slug=slug)
        .exclude(state=Membership.State.REMOVED)
        .first()
        if user_id is not None
        else None
    )
    if member is None:
        raise NotAMember(slug)
    return Actor(member.pk, member.project_id, member.role, member.state, slug)


def enter_by_assignment(*, user_id: int | None, assignment_id: uuid.UUID) -> Actor:
    """The person's standing in the project of one of their own assignments. Raises NotAMember.

    Somebody else's assignment looks the same as none.
    """
    if user_id is None:
        raise NotAMember(str(assignment_id))
    mine = Membership.objects.filter(user_id=user_id, assignments__pk=assignment_id)
    slug = mine.values_list("project__slug", flat=True).first()
    if slug is None:
        raise NotAMember(str(assignment_id))
    return enter(user_id=user_id, slug=slug)


def operator(project: Project) -> Actor:
    """Whoever runs commands on the server: may do what a manager may, and is no annotator."""
    return Actor(None, project.pk, Role.MANAGER.value, slug=project.slug)


def may(actor: Actor, verb: Verb) -> bool:
    """Whether the role has the right."""
    return verb in ALLOWED.get(actor.role, frozenset())


def require(actor: Actor, verb: Verb) -> None:
    """Raise NotAllowed unless the role has the right."""
    if not may(actor, verb):
        raise NotAllowed("Your role in this project doesn't include this; ask a manager.")
