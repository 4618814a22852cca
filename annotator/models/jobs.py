"""The outbox: work that must happen, written in the transaction that makes it necessary."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotator.models.projects import Project


class Job(models.Model):
    """One piece of work. Unique among the queued ones per (kind, subject); every job may run twice."""

    class State(models.TextChoices):
        QUEUED = "queued"
        CLAIMED = "claimed"
        FAILED = "failed"

    kind = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    queue = models.CharField(max_length=40, default="default")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, null=True, related_name="+")
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())
    lease_expires_at = models.DateTimeField(null=True)
    #: Changes with each claim, so that a worker whose lease ran out cannot finish another's run.
    claim_token = models.UUIDField(null=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["kind", "subject"], condition=Q(state="queued"), name="job_once_while_queued"
            ),
            models.CheckConstraint(
                name="job_claim_has_a_lease",
                condition=~Q(state="claimed") | Q(lease_expires_at__isnull=False, claim_token__isnull=False),
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["queue", "due_at", "id"], condition=Q(state="queued"), name="job_due"),
            models.Index(fields=["lease_expires_at"], condition=Q(state="claimed"), name="job_leases"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}:{self.subject}"
