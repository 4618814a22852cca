"""Gold, what people made of it, and adjudications."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from annotator.models.corpus import Solution
from annotator.models.labeling import Annotation, Assignment
from annotator.models.projects import Guidelines, Membership, Project


class GoldItems(models.QuerySet["Gold"]):
    """Gold's own words."""

    def unseen_by(self, member_id: int) -> GoldItems:
        """Gold that this member has never been given, in whatever disguise."""
        mine = Assignment.objects.filter(solution_id=OuterRef("solution_id"), member_id=member_id)
        return self.filter(~Exists(mine))

    def usable(self, use: str) -> GoldItems:
        """Gold of one use that is neither retired nor under suspicion."""
        return self.filter(use=use, retired=False, suspect=False)


class Gold(models.Model):
    """A solution with known acceptable labels: a hidden check, never training data."""

    class Source(models.TextChoices):
        IMPORT = "import"
        REVIEWER = "reviewer"
        ADJUDICATED = "adjudicated"

    class Use(models.TextChoices):
        HIDDEN = "hidden"
        PRACTICE = "practice"
        EXAM = "exam"

    solution = models.OneToOneField(Solution, on_delete=models.PROTECT, primary_key=True, related_name="gold")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    n_steps = models.PositiveSmallIntegerField()
    #: A bitmask per step: incorrect 1, neutral 2, correct 4; 0 is not scored (core.labels.accept_bit).
    accept = ArrayField(models.SmallIntegerField())
    source = models.CharField(max_length=20, choices=Source.choices)
    use = models.CharField(max_length=10, choices=Use.choices, default=Use.HIDDEN)
    #: Why the labels are what they are; shown only on practice, after the person's own submit.
    note = models.TextField(blank=True)
    #: Set when most good people fail it: perhaps the gold is wrong. It is no longer handed out until a manager says.
    suspect = models.BooleanField(default=False)
    retired = models.BooleanField(default=False)
    #: Retired because its labels were wrong: results on it say nothing of anybody.
    void = models.BooleanField(default=False)
    #: A manager looked at a suspicion and kept the labels: only later results can raise it again.
    cleared_at = models.DateTimeField(null=True, blank=True)
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


class CalibrationRound(models.Model):
    """The same gold items for everybody, at the start or at new guidelines; the newest round is the open one."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="calibration_rounds")
    guidelines = models.ForeignKey(Guidelines, on_delete=models.PROTECT, null=True, related_name="+")
    solution_ids = ArrayField(models.BigIntegerField())
    started_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["project"], condition=models.Q(closed_at=None), name="calibration_one_open"
            )
        ]

    def __str__(self) -> str:
        return f"calibration round {self.pk}"


class StandingEvent(models.Model):
    """A change of a person's standing, or a manager's word about it: the CUSUM is followed from these and gold."""

    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="standing_events")
    #: clear or pause by a manager, else the state that the statistic led to.
    kind = models.CharField(max_length=20)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    reason = models.CharField(max_length=300, blank=True)
    statistic = models.FloatField(null=True)
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["member", "at"], name="standing_of_member")
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.member_id}"


class Alert(models.Model):
    """Something a manager should see; one open alert per subject and kind."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="alerts")
    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=100)
    sentence = models.CharField(max_length=500)
    opened_at = models.DateTimeField(db_default=Now(), editable=False)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["project", "kind", "subject"],
                condition=models.Q(closed_at=None),
                name="alert_once_open",
            )
        ]

    def __str__(self) -> str:
        return self.sentence


class AdjudicationCase(models.Model):
    """A solution that waits for a reviewer, and why. ``blind``: PRM and majority stay hidden."""

    class Reason(models.TextChoices):
        TIE = "tie"
        DISPUTE = "dispute"
        BAD_PROBLEM = "bad_problem"
        LOW_POSTERIOR = "low_posterior"
        RANDOM = "random"
        GUIDELINES = "guidelines"

    solution = models.ForeignKey(Solution, on_delete=models.PROTECT, related_name="cases")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="cases")
    reason = models.CharField(max_length=20, choices=Reason.choices)
    blind = models.BooleanField(default=False)
    claimed_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    claim_expires_at = models.DateTimeField(null=True)
    opened_at = models.DateTimeField(db_default=Now(), editable=False)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["solution"], condition=models.Q(closed_at=None), name="case_one_open_per_solution"
            )
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["project", "opened_at"], condition=models.Q(closed_at=None), name="case_open"
            )
        ]

    def __str__(self) -> str:
        return f"{self.reason} of {self.solution_id}"


class QualityReport(models.Model):
    """A computed report and the state of the data it was computed from."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=40)
    #: Changes with every annotation, decision or gold result that the report would see.
    fingerprint = models.CharField(max_length=200)
    data = models.JSONField()
    computed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "kind"], name="quality_report_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} report"


class Adjudication(models.Model):
    """A reviewer's decision. Append-only; the latest wins, and no recomputation touches it."""

    solution = models.ForeignKey(Solution, on_delete=models.PROTECT, related_name="adjudications")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="adjudications")
    n_steps = models.PositiveSmallIntegerField()
    labels = ArrayField(models.SmallIntegerField(null=True))
    stop = models.SmallIntegerField(null=True)
    reason = models.TextField(blank=True)
    case = models.ForeignKey(AdjudicationCase, on_delete=models.PROTECT, null=True, related_name="decisions")
    #: What annotators can learn from it; shown to those who judged the solution, never quoting gold.
    note = models.TextField(blank=True)
    decided_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["solution", "-decided_at"], name="adjudication_latest")
        ]

    def __str__(self) -> str:
        return f"adjudication of {self.solution_id}"
