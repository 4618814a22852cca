"""What leaves and what lies beside the text: exports and their recipes, pictures."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from annotator.models.projects import Membership, Project


class Attachment(models.Model):
    """A picture that belongs to a problem: re-encoded on upload, found by its content, served by this program alone."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="attachments")
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=40)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    data = models.BinaryField()
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "sha256"], name="attachment_once_per_project")
        ]

    def __str__(self) -> str:
        return self.sha256[:12]


class ExportRecipe(models.Model):
    """An export's choices under a name, to be made again."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="export_recipes")
    name = models.CharField(max_length=100)
    options = models.JSONField(default=dict)
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "name"], name="export_recipe_once_per_project")
        ]

    def __str__(self) -> str:
        return self.name


class ExportRun(models.Model):
    """One export: what was asked, what came out, and which labels it held, so that two can be compared."""

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="export_runs")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    recipe = models.ForeignKey(ExportRecipe, on_delete=models.SET_NULL, null=True, related_name="runs")
    format = models.CharField(max_length=40)
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    written = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True, default="")
    manifest = models.JSONField(default=dict)
    #: solution → labels, compressed; what `export diff` compares.
    snapshot = models.BinaryField(null=True)
    error = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]

    def __str__(self) -> str:
        return f"export {self.pk}"
