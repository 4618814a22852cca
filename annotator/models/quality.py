"""Gold, what people made of it, and adjudications."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from annotator.models.corpus import Solution
from annotator.models.labeling import Annotation, Assignment
from annotator.models.projects import Membership, Project


class GoldItems(models.QuerySet["Gold"]):
    """Gold's own words."""

    def unseen_by(self, member_id: int) -> GoldItems:
        """Gold that this member has never been given, in whatever disguise."""
        mine = Assignment.objects.filter(solution_id=OuterRef("solution_id"), member_id=member_id)
        return self.filter(~Exists(mine))


class Gold(models.Model):
    """A solution with known acceptable labels: a hidden check, never training data."""

    class Source(models.TextChoices):
        IMPORT = "import"
        REVIEWER = "reviewer"
        ADJUDICATED = "adjudicated"

    class Use(models.TextChoices):
        HIDDEN = "hidden"
        PRACTICE = "practice"

    solution = models.OneToOneField(Solution, on_delete=models.PROTECT, primary_key=True, related_name="gold")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    n_steps = models.PositiveSmallIntegerField()
    #: A bitmask per step: incorrect 1, neutral 2, correct 4; 0 is not scored (core.labels.accept_bit).
    accept = ArrayField(models.SmallIntegerField())
    source = models.CharField(max_length=20, choices=Source.choices)
    use = models.CharField(max_length=10, choices=Use.choices, default=Use.HIDDEN)
    #: Why the labels are what they are; shown only on practice, after the person's own submit.
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[Any] = GoldItems.as_manager()

    class Meta:
        verbose_name_plural = "gold"

    def __str__(self) -> str:
        return f"gold {self.solution_id}"


class GoldResult(models.Model):
    """How one annotation of a gold solution did. See core.screening for the rules."""

    annotation = models.OneToOneField(
        Annotation, on_delete=models.PROTECT, primary_key=True, related_name="+"
    )
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="gold_results")
    #: NULL when the person gave up or called the problem bad.
    item_right = models.BooleanField(null=True)
    errors_reached = models.PositiveSmallIntegerField()
    errors_caught = models.PositiveSmallIntegerField()
    sound_reached = models.PositiveSmallIntegerField()
    false_alarms = models.PositiveSmallIntegerField()
    scored_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["member", "scored_at"], name="gold_result_of_member")
        ]

    def __str__(self) -> str:
        return f"gold result of {self.annotation_id}"


class Adjudication(models.Model):
    """A reviewer's decision. Append-only; the latest wins, and no recomputation touches it."""

    solution = models.ForeignKey(Solution, on_delete=models.PROTECT, related_name="adjudications")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="adjudications")
    n_steps = models.PositiveSmallIntegerField()
    labels = ArrayField(models.SmallIntegerField(null=True))
    stop = models.SmallIntegerField(null=True)
    reason = models.TextField(blank=True)
    decided_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["solution", "-decided_at"], name="adjudication_latest")
        ]

    def __str__(self) -> str:
        return f"adjudication of {self.solution_id}"
