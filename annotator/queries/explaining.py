"""Why an assignment came to its person."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from annotator.core.explaining import sentence
from annotator.models import Assignment


class NoSuchAssignment(LookupError):
    """There is no assignment of that id."""


@dataclass(frozen=True)
class Explained:
    """An assignment, what was kept of its selection, and the same in a sentence."""

    assignment: str
    project: str
    solution: str
    purpose: str
    selection: dict[str, Any]
    sentence: str


def explained(assignment_id: uuid.UUID) -> Explained:
    """Raises NoSuchAssignment."""
    found = (
        Assignment.objects.select_related("project", "solution", "member").filter(pk=assignment_id).first()
    )
    if found is None:
        raise NoSuchAssignment(f"There is no assignment {assignment_id}.")
    return Explained(
        assignment=str(found.pk),
        project=found.project.slug,
        solution=found.solution.external_id or f"#{found.solution_id}",
        purpose=found.purpose,
        selection=found.selection,
        sentence=sentence(found.selection, found.purpose),
    )
