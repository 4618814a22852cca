"""Projects, their guidelines and their members."""

from __future__ import annotations

import secrets
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from annotator.core.details import ERROR_TYPES
from annotator.core.labels import Mode

MODES = [(Mode.FIRST_ERROR.value, "up to the first error"), (Mode.ALL_STEPS.value, "every step")]


def default_error_types() -> list[str]:
    """A new project's taxonomy."""
    return list(ERROR_TYPES)


def default_strategies() -> dict[str, float]:
    """What the scorer is least sure of, and nothing else."""
    return {"uncertainty": 1.0}


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
    #: Names a person may give to an error, in the order they are offered.
    error_types = models.JSONField(default=default_error_types, blank=True)
    require_error_type = models.BooleanField(default=False)
    require_comment = models.BooleanField(default=False)
    #: Shift+1 marks every unjudged step up to the active one correct; recorded as implied.
    correct_through = models.BooleanField(default=False)
    aid_equations = models.BooleanField(default=False)
    aid_reference = models.BooleanField(default=False)
    aid_answer = models.BooleanField(default=False)
    #: A submitted solution may be opened again for this long; 0: never.
    reopen_hours = models.PositiveSmallIntegerField(default=24)
    #: What an expert can't verify within this time counts as incorrect.
    verify_minutes = models.PositiveSmallIntegerField(default=2)
    #: Solutions of one problem that come to a person one after the other; 1: no grouping.
    siblings = models.PositiveSmallIntegerField(default=4)
    #: LaTeX macros, name → body, for the formulas of this project.
    macros = models.JSONField(default=dict, blank=True)
    split_key = models.CharField(max_length=64, default=new_split_key, editable=False)
    #: Where people differ, more labels are asked for, up to this many.
    labels_max = models.PositiveSmallIntegerField(default=5)
    #: Submissions per person and day (UTC); NULL: no cap. A member may have their own.
    cap_per_day = models.PositiveSmallIntegerField(null=True, blank=True)
    #: Among a person's first ``gold_start`` claims hidden gold has this share (where gold_rate is above 0).
    gold_rate_start = models.FloatField(
        default=0.2, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    gold_start = models.PositiveSmallIntegerField(default=50)
    #: Exam items before the first work; 0: no exam. Passed with this share of items right.
    exam_size = models.PositiveSmallIntegerField(default=0)
    exam_pass = models.FloatField(default=0.75, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)])
    calibration_size = models.PositiveSmallIntegerField(default=20)
    #: Share of claims that repeat an own solution of at least ``repeat_days`` ago.
    repeat_rate = models.FloatField(default=0.02, validators=[MinValueValidator(0.0), MaxValueValidator(0.5)])
    repeat_days = models.PositiveSmallIntegerField(default=14)
    #: The CUSUM's accuracy of a person in order; NULL: fitted from calibration rounds, else 0.85.
    cusum_p0 = models.FloatField(null=True, blank=True)
    auto_pause = models.BooleanField(default=True)
    #: What people see of their own standing.
    standing_shown = models.CharField(
        max_length=10,
        choices=[("nothing", "nothing"), ("counts", "counts"), ("accuracy", "counts and accuracy")],
        default="counts",
    )
    #: Consensus below this posterior goes to adjudication.
    low_posterior = models.FloatField(
        default=0.7, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    #: Shares of the strategies that order the queue (core.selection), such as {"uncertainty": 0.8, "coverage": 0.2}.
    strategies = models.JSONField(default=default_strategies, blank=True)
    #: At least this share of what people get is expected to be free of errors; 0: the strategies alone decide.
    error_free_floor = models.FloatField(
        default=0.0, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    #: ActPRM's thresholds {"pred", "std"}: solutions certain by them are not sent to people; empty: no filter.
    certain = models.JSONField(default=dict, blank=True)
    #: When scorers are trained anew: {"every": new labels, "hours": between two runs, "automatic": whether judges teach
    #: first, "target": the F1 worked towards}; without the first two: by button alone.
    retraining = models.JSONField(default=dict, blank=True)
    #: What an hour of a person's time costs, in ``currency``; NULL: not known.
    hourly_cost = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.0)])
    currency = models.CharField(max_length=3, blank=True, default="EUR")
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

    class Standing(models.TextChoices):
        CLEAR = "clear"
        WARNED = "warned"
        PAUSED = "paused"

    class Exam(models.TextChoices):
        OPEN = "open"
        PASSED = "passed"
        FAILED = "failed"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="memberships"
    )
    pseudonym = models.CharField(max_length=60)
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.ANNOTATOR)
    state = models.CharField(max_length=20, choices=State.choices, default=State.ACTIVE)
    #: Why the state is what it is, in a sentence for the person and for managers.
    state_reason = models.CharField(max_length=300, blank=True)
    #: What hidden gold says (core.screening.State): clear, warned, paused.
    standing = models.CharField(max_length=10, choices=Standing.choices, default=Standing.CLEAR)
    exam = models.CharField(max_length=10, choices=Exam.choices, default=Exam.OPEN)
    #: Exam items from before this moment belong to an exam that a manager opened again.
    exam_since = models.DateTimeField(null=True, blank=True)
    #: Skills that solutions may ask for; a reserved set is a skill of its own.
    skills = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    cap_per_day = models.PositiveSmallIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "user"], name="member_once_per_project"),
            models.UniqueConstraint(fields=["project", "pseudonym"], name="pseudonym_once_per_project"),
            models.CheckConstraint(name="member_role", condition=Q(role__in=Role.values)),
        ]

    def __str__(self) -> str:
        return self.pseudonym


class Invitation(models.Model):
    """A link that makes a person a member, once, until it expires. Only the link's hash is kept."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="invitations")
    token_hash = models.BinaryField(max_length=32, unique=True)
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.ANNOTATOR)
    skills = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    created_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    used_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class Preferences(models.Model):
    """How a person wants the workbench: keys, size, contrast, and which hints they have seen."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="preferences"
    )
    #: See core.preferences.
    data = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


class ApiToken(models.Model):
    """What a script signs in with instead of a password. Shown once; only its hash is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    token_hash = models.BinaryField(max_length=32, unique=True)
    #: Of label, read, import, export (annotator.actions.tokens).
    scopes = ArrayField(models.CharField(max_length=20), default=list)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]

    def __str__(self) -> str:
        return self.name
