"""What happened, who did it: append-only, held by the database."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from annotator.models.projects import Membership, Project


class AuditEvent(models.Model):
    """One named event, such as ``annotation:submitted``, written in the transaction it tells of."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, null=True, related_name="+")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    name = models.CharField(max_length=60)
    subject = models.CharField(max_length=100)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["project", "-at"], name="audit_of_project")]

    def __str__(self) -> str:
        return f"{self.name} {self.subject}"
