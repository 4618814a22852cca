"""The queue, assignments and annotations."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now

from annotator.core.labels import FinishReason
from annotator.models.corpus import Solution
from annotator.models.projects import Guidelines, Membership, Project
from annotator.models.scoring import ScorerVersion

#: How many started solutions a claim looks at before it turns to untouched ones, so that a long history costs nothing.
PROBE = 200


class QueueRows(models.QuerySet["QueueRow"]):
    """The queue's own words."""

    def unseen_by(self, member_id: int) -> QueueRows:
        """Rows that this member has never been given."""
        mine = Assignment.objects.filter(solution_id=OuterRef("solution_id"), member_id=member_id)
        return self.filter(~Exists(mine))

    def for_skills(self, skills: Sequence[str]) -> QueueRows:
        """Rows that ask for no skill, or for one of these."""
        return self.filter(skill__in=["", *skills])

    def locked(self, *, blocking: bool) -> QueueRows:
        """Lock what is read: skip rows that others hold, or wait for them."""
        return self.select_for_update(skip_locked=not blocking, of=("self",))

    def untouched(self) -> QueueRows:
        """Rows of which no label is taken: nobody holds them or has labelled them."""
        return self.filter(taken=0, wanted__gt=0)

    def open(self) -> QueueRows:
        """Rows that want another label."""
        return self.filter(taken__lt=F("wanted"))

    def started(self) -> QueueRows:
        """Rows that have some of their labels and want more."""
        return self.filter(taken__gt=0, taken__lt=F("wanted"))

    def owed_to_audit(self) -> QueueRows:
        """Rows that have a label but not as many as the audit prefix wants."""
        return self.filter(taken__gt=0, audit_owed__gt=0)

    def by_priority(self) -> QueueRows:
        """What the scorer is least sure of first; the audit order breaks the last ties."""
        return self.order_by("-priority", "-tiebreak", "shuffle")

    def versions(self) -> list[int]:
        """The scorer versions in whose order a project's rows stand."""
        return list(self._distinct("ranked_by"))

    def skills(self) -> list[str]:
        """The skills that a project's rows ask for, "" for none."""
        return list(self._distinct("skill"))

    def _distinct(self, column: str) -> Iterator[Any]:
        """What occurs in a column, by one look at an index for each, however many rows there are."""
        rows = self.exclude(**{column: None}).order_by(column).values_list(column, flat=True)
        found = rows.first()
        while found is not None:
            yield found
            found = rows.filter(**{f"{column}__gt": found}).first()

    def by_shuffle(self) -> QueueRows:
        """The audit order: uniform and independent of every score."""
        return self.order_by("shuffle")

    def among_first(self, ranked: QueueRows) -> QueueRows:
        """Only the first PROBE rows of another ordering."""
        return self.filter(solution_id__in=ranked.values("solution_id")[:PROBE])


class QueueRow(models.Model):
    """Where a solution stands in the queue. Narrow on purpose: re-ranking rewrites these rows alone."""

    # Held together by the database: the solution, and the project as the solution's (migration 0014).
    solution = models.OneToOneField(
        Solution, on_delete=models.PROTECT, primary_key=True, related_name="queue_row", db_constraint=False
    )
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    holdout = models.BooleanField()
    priority = models.FloatField(default=0.0)
    tiebreak = models.FloatField(default=0.0)
    #: Drawn once at import, uniform in [0, 1): the order of the audit route.
    shuffle = models.FloatField()
    wanted = models.PositiveSmallIntegerField()
    taken = models.PositiveSmallIntegerField(default=0)
    #: Labels the audit prefix would still want of this solution; 0 on holdout.
    audit_owed = models.SmallIntegerField()
    #: Only members with this skill get it; "" is for everybody.
    skill = models.CharField(max_length=60, blank=True, default="")
    #: The strategy that gave it its place (core.selection).
    strategy = models.CharField(max_length=30, blank=True, default="")
    #: No constraint: it would look up and lock the version again for each row, a quarter of what a new order costs. Who
    #: writes here holds the version; one that rows stand by is kept by a trigger (migration 0015).
    ranked_by = models.ForeignKey(
        ScorerVersion,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )

    objects: ClassVar[Any] = QueueRows.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="queue_never_over", condition=Q(taken__lte=F("wanted"))),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # For all that asks by project, and for whose order it stands in. A re-ranking writes into every index of a
            # row, so there are no more of them than claims need.
            models.Index(fields=["project", "ranked_by"], name="queue_of_project"),
            # Claims ask by skill: else those who lack it would walk over all rows that need it, at the head.
            models.Index(
                "project",
                "holdout",
                "skill",
                F("priority").desc(),
                F("tiebreak").desc(),
                "shuffle",
                name="queue_untouched_by_skill",
                condition=Q(taken=0),
            ),
            models.Index(
                "project",
                "holdout",
                "skill",
                F("priority").desc(),
                F("tiebreak").desc(),
                "shuffle",
                name="queue_started_by_skill",
                condition=Q(taken__gt=0, taken__lt=F("wanted")),
            ),
            models.Index(
                fields=["project", "holdout", "skill", "shuffle"],
                name="queue_shuffle_by_skill",
                condition=Q(taken=0),
            ),
            models.Index(
                fields=["project", "shuffle"],
                name="queue_audit_started",
                condition=Q(taken__gt=0, audit_owed__gt=0),
            ),
        ]

    def __str__(self) -> str:
        return f"queue row of {self.solution_id}"


class Assignment(models.Model):
    """One (solution, member, round) whose state moves; it holds the lease and the draft."""

    class State(models.TextChoices):
        LIVE = "live"
        SUBMITTED = "submitted"
        SKIPPED = "skipped"
        EXPIRED = "expired"

    class Purpose(models.TextChoices):
        WORK = "work"
        EXAM = "exam"
        GOLD = "gold"
        REPEAT = "repeat"
        PRACTICE = "practice"
        #: Seen with the others' labels, as a reviewer: never handed out to this person any more.
        REVIEW = "review"

    #: Random, so that neither order nor gaps tell gold from work.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="assignments")
    solution = models.ForeignKey(Solution, on_delete=models.PROTECT, related_name="assignments")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="assignments")
    round = models.PositiveSmallIntegerField(default=1)
    purpose = models.CharField(max_length=10, choices=Purpose.choices, default=Purpose.WORK)
    state = models.CharField(max_length=10, choices=State.choices, default=State.LIVE)
    slot = models.PositiveSmallIntegerField(null=True)
    lease_expires_at = models.DateTimeField()
    draft = models.JSONField(default=dict)
    draft_version = models.PositiveIntegerField(default=0)
    #: Why this one: {"route", "strategy", "score", "scorer_version", "rank", "pool", "round"}.
    selection = models.JSONField(default=dict)
    skip_reason = models.CharField(max_length=500, blank=True)
    #: Which of its problem's solutions this is for this person, counting from 1.
    position = models.PositiveSmallIntegerField(default=1)
    #: Aids that were opened (core.details.AIDS): a label made with one says so.
    aids = models.JSONField(default=list, blank=True)
    #: Submitted, and opened again for a new version.
    reopened = models.BooleanField(default=False)
    claimed_at = models.DateTimeField(db_default=Now(), editable=False)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["solution", "member", "round"], name="assignment_once_per_round"),
            models.UniqueConstraint(
                fields=["solution", "slot"],
                condition=Q(state__in=["live", "submitted"]),
                name="assignment_slot_once",
            ),
            models.CheckConstraint(
                name="live_work_holds_a_slot",
                condition=~Q(state="live", purpose="work") | Q(slot__isnull=False),
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["member", "claimed_at"], name="assignment_of_member"),
            models.Index(fields=["lease_expires_at"], condition=Q(state="live"), name="assignment_leases"),
            # The audit watermark: how far the audit route has come.
            models.Index(
                fields=["project", "solution"],
                condition=Q(selection__route="audit"),
                name="assignment_of_audit",
            ),
            models.Index(
                fields=["member", "state"],
                condition=Q(state__in=["live", "expired"]),
                name="assignment_open_of_member",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Annotation(models.Model):
    """One version of one person's labels of one solution. Append-only but for ``current`` and ``counted``."""

    class Source(models.TextChoices):
        HUMAN = "human"
        IMPORTED = "imported"
        #: Carried over to another segmentation of the same text.
        INHERITED = "inherited"

    solution = models.ForeignKey(Solution, on_delete=models.PROTECT, related_name="annotations")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="annotations")
    assignment = models.ForeignKey(
        Assignment, on_delete=models.PROTECT, null=True, related_name="annotations"
    )
    n_steps = models.PositiveSmallIntegerField()
    #: The assignment's: a repeat, blind to the first time, is a round of its own.
    round = models.PositiveSmallIntegerField(default=1)
    version = models.PositiveSmallIntegerField(default=1)
    current = models.BooleanField(default=True)
    labels = ArrayField(models.SmallIntegerField(null=True))
    #: Index of the first incorrect step, -1 for none, NULL where the labels don't tell.
    stop = models.SmallIntegerField(null=True)
    finish_reason = models.CharField(
        max_length=20, choices=[(reason.value, reason.value) for reason in FinishReason]
    )
    #: {"unsure": [step], "error_types": {step: name}, "comments": {step: text}, "reason": text}
    details = models.JSONField(default=dict)
    active_seconds = models.FloatField(null=True)
    counted = models.BooleanField(default=True)
    uncounted_reason = models.CharField(max_length=40, blank=True)
    source = models.CharField(max_length=10, choices=Source.choices, default=Source.HUMAN)
    guidelines = models.ForeignKey(Guidelines, on_delete=models.PROTECT, null=True, related_name="+")
    client_id = models.UUIDField(null=True)
    submitted_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["solution", "member", "round", "version"], name="annotation_version_once"
            ),
            models.UniqueConstraint(
                fields=["solution", "member", "round"],
                condition=Q(current=True),
                name="annotation_one_current",
            ),
            models.CheckConstraint(
                name="annotation_uncounted_says_why", condition=Q(counted=True) ^ ~Q(uncounted_reason="")
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["member", "-submitted_at"], name="annotation_of_member"),
        ]

    def __str__(self) -> str:
        return f"annotation {self.pk}"


class Consensus(models.Model):
    """What a solution's counted annotations say together. Recomputed; an adjudication stands above it."""

    class State(models.TextChoices):
        AGREED = "agreed"
        TIED = "tied"

    solution = models.OneToOneField(
        Solution, on_delete=models.PROTECT, primary_key=True, related_name="consensus"
    )
    n_steps = models.PositiveSmallIntegerField()
    method = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State.choices)
    labels = ArrayField(models.SmallIntegerField(null=True))
    stop = models.SmallIntegerField(null=True)
    n_annotations = models.PositiveSmallIntegerField()
    posterior = models.FloatField(null=True)
    computed_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"consensus of {self.solution_id}"


class Question(models.Model):
    """A question to the lead about one solution; a published answer becomes a note beside the guidelines."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="questions")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="questions")
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="questions")
    step = models.PositiveSmallIntegerField(null=True)
    text = models.TextField()
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(Membership, on_delete=models.PROTECT, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)
    published = models.BooleanField(default=False)
    asked_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]

    def __str__(self) -> str:
        return f"question {self.pk}"
