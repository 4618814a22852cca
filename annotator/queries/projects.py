"""A project as its pages need it."""

from __future__ import annotations

from annotator.models import Project


def project_of(project_id: int) -> Project:
    """The project itself, for pages that show its name or change its rules."""
    return Project.objects.get(pk=project_id)
