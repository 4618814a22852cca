"""Choosing a part of a project's solutions, and reserving it for people with a skill."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.models import AuditEvent, QueueRow, Solution

#: Rows written in one transaction: a claim finds nothing while all rows are locked.
CHUNK = 5_000


class NothingChosen(ValueError):
    """The choice names nothing, or nothing that this project has."""


@dataclass(frozen=True)
class Where:
    """A choice of solutions by what is known of them; what is left empty doesn't matter."""

    subject: str = ""
    domain: str = ""
    batch_id: int | None = None

    def solutions(self, project_id: int) -> QuerySet[Solution]:
        """The project's solutions of this choice. Raises NothingChosen where it is empty."""
        if not (self.subject or self.domain or self.batch_id):
            raise NothingChosen("Choose a subject, a domain or an import first.")
        rows = Solution.objects.filter(project_id=project_id)
        if self.subject:
            rows = rows.filter(problem__subject=self.subject)
        if self.domain:
            rows = rows.filter(problem__domain=self.domain)
        return rows.filter(batch_id=self.batch_id) if self.batch_id else rows

    def in_words(self) -> dict[str, Any]:
        """For the audit log."""
        return {"subject": self.subject, "domain": self.domain, "import": self.batch_id}


def reserve(*, actor: Actor, where: Where, skill: str) -> int:
    """Give the chosen solutions to people with this skill alone; "" gives them to everybody again.

    Work that is under way goes on. In committed chunks, each with its event. Returns how many rows changed.
    Raises NotAllowed, NothingChosen.
    """
    access.require(actor, Verb.MANAGE)
    skill = skill.strip()[:60]
    chosen = where.solutions(actor.project_id)
    if not chosen.exists():
        raise NothingChosen("No solution in this project is of that subject, domain and import.")
    changed, last = 0, 0
    while True:
        with transaction.atomic():
            rows = (
                QueueRow.objects.filter(project_id=actor.project_id, solution__in=chosen, pk__gt=last)
                .exclude(skill=skill)
                .order_by("pk")
                .locked(blocking=True)
            )
            found = list(rows.values_list("pk", "skill")[:CHUNK])
            if not found:
                return changed
            QueueRow.objects.filter(pk__in=[pk for pk, _ in found]).update(skill=skill)
            AuditEvent.objects.record(
                "queue:reserved",
                f"{len(found)} solutions",
                project_id=actor.project_id,
                member_id=actor.member_id,
                data={
                    "where": where.in_words(),
                    "before": dict(Counter(before or "everybody" for _, before in found)),
                    "after": {skill or "everybody": len(found)},
                },
            )
        changed, last = changed + len(found), found[-1][0]
