"""What happened, who did it: append-only, held by the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now

from annotator.models.projects import Membership, Project


class AuditLog(models.Manager["AuditEvent"]):
    """The only way to write an event."""

    def record(
        self,
        name: str,
        subject: object,
        *,
        project_id: int | None,
        member_id: int | None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an event, in the caller's transaction. ``subject`` reads "annotation 12"; no label text goes in data."""
        self.create(
            name=name, subject=str(subject), project_id=project_id, member_id=member_id, data=dict(data or {})
        )


class AuditEvent(models.Model):
    """One named event, such as ``annotation:submitted``, written in the transaction it tells of."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, null=True, related_name="+")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    name = models.CharField(max_length=60)
    subject = models.CharField(max_length=100)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[AuditLog] = AuditLog()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["project", "-at"], name="audit_of_project")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.subject}"
