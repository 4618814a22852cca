"""Projects, their guidelines and their members."""

from __future__ import annotations

import secrets
from typing import ClassVar

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from annotator.core.labels import Mode

MODES = [(Mode.FIRST_ERROR.value, "up to the first error"), (Mode.ALL_STEPS.value, "every step")]


def new_split_key() -> str:
    """A secret that keys the train/holdout split, so that nobody can choose a problem's side."""
    return secrets.token_hex(16)


class Project(models.Model):
    """One labeling effort: its mode, how many labels each solution needs, and its rates."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    mode = models.CharField(max_length=20, choices=MODES, default=Mode.FIRST_ERROR.value)
    error_propagation = models.CharField(
        max_length=30,
        choices=[("conditional", "conditional"), ("tainted_until_corrected", "tainted until corrected")],
        default="conditional",
    )
    labels_train = models.PositiveSmallIntegerField(default=1)
    labels_audit = models.PositiveSmallIntegerField(default=2)
    labels_holdout = models.PositiveSmallIntegerField(default=3)
    gold_rate = models.FloatField(default=0.05, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)])
    audit_rate = models.FloatField(default=0.1, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)])
    holdout_rate = models.FloatField(default=0.1, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)])
    lease_seconds = models.PositiveIntegerField(default=1800)
    split_key = models.CharField(max_length=64, default=new_split_key, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["name", "id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="project_wants_labels",
                condition=Q(labels_train__gte=1, labels_audit__gte=F("labels_train"), labels_holdout__gte=1),
            ),
            models.CheckConstraint(
                name="project_rates_are_shares",
                condition=Q(
                    gold_rate__gte=0,
                    gold_rate__lte=1,
                    audit_rate__gte=0,
                    holdout_rate__gte=0,
                    audit_rate__lte=1 - F("holdout_rate"),
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Guidelines(models.Model):
    """One version of a project's guidelines; annotations point to the version that was in force."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="guidelines")
    version = models.PositiveSmallIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["project", "version"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "version"], name="guidelines_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.project} v{self.version}"


class Role(models.TextChoices):
    """What a member may do; each includes the ones before it."""

    ANNOTATOR = "annotator"
    REVIEWER = "reviewer"
    MANAGER = "manager"


class Membership(models.Model):
    """A person in a project. Labels point here, never to the user, so that erasing a user keeps them."""

    class State(models.TextChoices):
        ACTIVE = "active"
        PAUSED = "paused"
        REMOVED = "removed"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="memberships"
    )
    pseudonym = models.CharField(max_length=60)
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.ANNOTATOR)
    state = models.CharField(max_length=20, choices=State.choices, default=State.ACTIVE)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "user"], name="member_once_per_project"),
            models.UniqueConstraint(fields=["project", "pseudonym"], name="pseudonym_once_per_project"),
            models.CheckConstraint(name="member_role", condition=Q(role__in=Role.values)),
        ]

    def __str__(self) -> str:
        return self.pseudonym
