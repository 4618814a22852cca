"""Problems, solutions and the imports that brought them."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Now

from annotator.models.projects import Membership, Project


class ImportBatch(models.Model):
    """One file that was read: what came of its rows, and where the bad ones were."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        PAUSED = "paused"
        CANCELLED = "cancelled"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="imports")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    filename = models.CharField(max_length=255)
    format = models.CharField(max_length=40)
    labels_as = models.CharField(max_length=20)
    state = models.CharField(max_length=20, choices=State.choices, default=State.RUNNING)
    read = models.PositiveIntegerField(default=0)
    imported = models.PositiveIntegerField(default=0)
    duplicates = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    #: The first 1,000 rejected rows as [{"line", "field", "message"}].
    errors = models.JSONField(default=list)
    #: Known solutions whose metadata the file brought up to date; they count among the duplicates.
    updated = models.PositiveIntegerField(default=0)
    #: Rows of the file that are dealt with: where a paused or killed import goes on.
    position = models.PositiveBigIntegerField(default=0)
    #: What somebody asked of the worker that runs it: "", pause, cancel.
    asked = models.CharField(max_length=10, blank=True, default="")
    #: How it is read, beside ``format`` and ``labels_as``; with these a batch can be gone on with from its row alone.
    segment = models.CharField(max_length=20, default="auto")
    overwrite = models.BooleanField(default=False)
    #: Why it is read as this format.
    reason = models.TextField(blank=True, default="")
    #: The kept file (actions.uploads); null where a command reads a file of its own.
    upload = models.UUIDField(null=True, unique=True)
    sha256 = models.CharField(max_length=64, blank=True, default="")
    #: Bytes of the file, and how many of them were read when the last chunk was written.
    size = models.PositiveBigIntegerField(default=0)
    passed = models.PositiveBigIntegerField(default=0)
    #: Bytes of the rejected rows' file that belong to written chunks; what stands behind them is cut off.
    rejected_bytes = models.PositiveBigIntegerField(default=0)
    #: A program's name for its request: the same one again gets this batch.
    idempotency_key = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["project", "member", "idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="import_once_per_key",
            )
        ]

    def __str__(self) -> str:
        return self.filename

    @property
    def is_open(self) -> bool:
        """Whether rows of it may still be written."""
        return self.state not in {self.State.DONE, self.State.CANCELLED}


class Split(models.TextChoices):
    """Which side of the evaluation a problem is on, fixed at import."""

    TRAIN = "train"
    HOLDOUT = "holdout"


class Problem(models.Model):
    """A statement, with what is known of its answer."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="problems", db_index=False)
    external_id = models.CharField(max_length=255, blank=True)
    text = models.TextField()
    content_hash = models.BinaryField(max_length=32)
    answer = models.TextField(null=True)  # noqa: DJ001  null: not known, "": the empty answer
    solution = models.TextField(null=True)  # noqa: DJ001
    domain = models.CharField(max_length=100, blank=True)
    subject = models.CharField(max_length=100, blank=True)
    #: [{"sha256", "alt"}]: pictures that belong to the statement (Attachment).
    images = models.JSONField(default=list, blank=True)
    split = models.CharField(max_length=10, choices=Split.choices)
    #: Well-known benchmarks that hold this problem (BenchmarkProblem).
    benchmarks = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "content_hash"], name="problem_once_per_project"),
            # What solutions refer to: to the problem and its project at once, so that these can't differ.
            models.UniqueConstraint(fields=["project", "id"], name="problem_of_project"),
            models.CheckConstraint(name="problem_split", condition=Q(split__in=Split.values)),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["project"], condition=~Q(benchmarks=[]), name="problem_on_benchmark")
        ]

    def __str__(self) -> str:
        return self.external_id or f"problem {self.pk}"


class Solution(models.Model):
    """One trajectory for a problem. The database refuses any change to its steps.

    ``db_constraint=False`` here and in what belongs to a solution: the key is held together with another column, by one
    check rather than two (migration 0002, 0014). An import spends a third of PostgreSQL's time on such checks.
    """

    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="solutions", db_index=False, db_constraint=False
    )
    problem = models.ForeignKey(
        Problem, on_delete=models.PROTECT, related_name="solutions", db_constraint=False
    )
    batch = models.ForeignKey(ImportBatch, on_delete=models.PROTECT, related_name="solutions")
    external_id = models.CharField(max_length=255, blank=True)
    #: [{"text", "kind", "judged", "sep"}], with "alternatives" where there are any; see core.solutions.
    steps = models.JSONField()
    n_steps = models.PositiveSmallIntegerField()
    #: Kept beside the steps, so that a report over all solutions reads no text: judged steps, and their length.
    n_judged = models.GeneratedField(
        expression=Func(
            F("steps"),
            template="jsonb_array_length(jsonb_path_query_array(%(expressions)s, '$[*] ? (@.judged == true)'))",
        ),
        output_field=models.IntegerField(),
        db_persist=True,
    )
    n_chars = models.GeneratedField(
        expression=Func(
            F("steps"), template="length(jsonb_path_query_array(%(expressions)s, '$[*].text')::text)"
        ),
        output_field=models.IntegerField(),
        db_persist=True,
    )
    content_hash = models.BinaryField(max_length=32)
    generator = models.JSONField(default=dict)
    final_answer = models.TextField(null=True)  # noqa: DJ001
    answer_correct = models.BooleanField(null=True)
    derived_from = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="derived", db_index=False
    )
    derived_reason = models.CharField(max_length=200, blank=True)
    #: Another segmentation took its place: no longer handed out, its labels stay.
    superseded_at = models.DateTimeField(null=True, blank=True)
    meta = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "content_hash"], name="solution_once_per_project"),
            models.UniqueConstraint(fields=["id", "n_steps"], name="solution_id_n_steps"),
            models.UniqueConstraint(fields=["project", "id"], name="solution_of_project"),
            models.CheckConstraint(name="solution_has_steps", condition=Q(n_steps__gte=1)),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["derived_from"], condition=Q(derived_from__isnull=False), name="solution_derived"
            )
        ]

    def __str__(self) -> str:
        return self.external_id or f"solution {self.pk}"


class ReferenceLabels(models.Model):
    """The labels a file brought for a solution: for evaluation and export; never shown, they fill no slot."""

    solution = models.OneToOneField(
        Solution, on_delete=models.PROTECT, primary_key=True, related_name="reference", db_constraint=False
    )
    n_steps = models.PositiveSmallIntegerField()
    labels = ArrayField(models.SmallIntegerField(null=True))
    first_error = models.SmallIntegerField(null=True)

    def __str__(self) -> str:
        return f"reference labels of {self.solution_id}"


class BenchmarkProblem(models.Model):
    """A problem of a well-known benchmark, by its hash: what must not slip into training unseen."""

    benchmark = models.CharField(max_length=60)
    content_hash = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["content_hash", "benchmark"], name="benchmark_problem_once")
        ]

    def __str__(self) -> str:
        return f"a problem of {self.benchmark}"
