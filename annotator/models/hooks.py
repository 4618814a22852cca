"""Webhooks: addresses that are told of events, and what came of telling them."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from annotator.models.projects import Membership, Project


class Webhook(models.Model):
    """An address outside that is told of a project's events, each message signed with the secret."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = ArrayField(models.CharField(max_length=60), default=list)
    #: Signs messages (HMAC-SHA256). Shown once.
    secret = models.CharField(max_length=64)
    active = models.BooleanField(default=True)
    #: Why it was paused, where the program did it: a sentence for managers.
    paused_because = models.CharField(max_length=300, blank=True, default="")
    #: Attempts that failed since the last one that was taken, since when, and before when none is made.
    failures = models.PositiveSmallIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    retry_at = models.DateTimeField(null=True)
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["id"]

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(models.Model):
    """One message to one address, tried until it is taken or given up."""

    class State(models.TextChoices):
        QUEUED = "queued"
        DELIVERED = "delivered"
        FAILED = "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=60)
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}"
