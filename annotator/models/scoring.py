"""Scorers, their versions and what they said."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from annotator.models.corpus import Solution
from annotator.models.projects import Project


class Scorer(models.Model):
    """A PRM that a project uses; ``kind`` names the implementation in annotator.scorers."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="scorers")
    name = models.SlugField(max_length=60)
    kind = models.CharField(max_length=40)
    #: What the kind needs (endpoint, model, votes, …). Keys are named by environment variable, never stored.
    config = models.JSONField(default=dict, blank=True)
    #: Its scores order the queue; one scorer of a project does.
    ranks = models.BooleanField(default=True)
    paused = models.BooleanField(default=False)
    #: The circuit breaker as workers last saw it: {"state", "since", "error"}; empty while all is well.
    circuit = models.JSONField(default=dict, blank=True)
    #: A second pass over what that scorer has scored: where its score is there, it orders the queue instead.
    refines = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="refined_by"
    )
    #: The version in force where several are kept (trained here); NULL: what the kind itself declares.
    champion = models.ForeignKey(
        "ScorerVersion", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    #: What it costs: {"input_per_million", "output_per_million", "per_hour"}, in the project's currency.
    prices = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "name"], name="scorer_once_per_project"),
            models.UniqueConstraint(
                fields=["project"], condition=models.Q(ranks=True), name="scorer_one_ranks"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ScorerVersions(models.QuerySet["ScorerVersion"]):
    """The versions' own words."""

    def in_force(self) -> ScorerVersions:
        """The version of each scorer that scores now, or scored last: challengers and retired ones wait or are over."""
        live = self.filter(status=ScorerVersion.Status.LIVE)
        return live.order_by("scorer_id", "-pk").distinct("scorer_id")


class ScorerVersion(models.Model):
    """One state of a scorer's weights. Scores belong to a version, so that old and new never mix."""

    class Status(models.TextChoices):
        LIVE = "live"
        CHALLENGER = "challenger"
        REFUSED = "refused"
        RETIRED = "retired"

    scorer = models.ForeignKey(Scorer, on_delete=models.PROTECT, related_name="versions")
    version = models.CharField(max_length=100)
    measures = models.CharField(max_length=40)
    #: A step below this probability is predicted incorrect.
    threshold = models.FloatField()
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.LIVE)
    #: The version it was trained from.
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="children"
    )
    #: Where it comes from: {"snapshot", "parameters", "metrics", "problems", "decision"}; empty: not trained here.
    training = models.JSONField(default=dict, blank=True)
    #: How its values become probabilities on this project's labels; empty: as they come.
    calibration = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[Any] = ScorerVersions.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["scorer", "version"], name="scorer_version_once")
        ]

    def __str__(self) -> str:
        return self.version

    def is_in_force(self) -> bool:
        """Whether it is the one of its scorer that scores now."""
        return bool(ScorerVersion.objects.filter(scorer=self.scorer_id).in_force().first() == self)

    def put_in_force(self) -> None:
        """Put it in the place of the one of its scorer that scores now, in the caller's transaction."""
        live = ScorerVersion.objects.filter(scorer=self.scorer_id, status=self.Status.LIVE)
        live.exclude(pk=self.pk).update(status=self.Status.RETIRED)
        self.status = self.Status.LIVE
        self.save(update_fields=["status"])


class Score(models.Model):
    """What one scorer version says of one solution: a probability of being correct for each judged step."""

    solution = models.ForeignKey(Solution, on_delete=models.PROTECT, related_name="scores")
    version = models.ForeignKey(ScorerVersion, on_delete=models.PROTECT, related_name="scores")
    n_steps = models.PositiveSmallIntegerField()
    #: real[], NULL where the step takes no label.
    values = ArrayField(models.FloatField(null=True))
    spread = ArrayField(models.FloatField(null=True))
    #: Mean entropy (nats) and mean spread up to and including the first predicted error.
    priority = models.FloatField()
    tiebreak = models.FloatField()
    predicted_stop = models.SmallIntegerField()
    scored_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["solution", "version"], name="score_once_per_version")
        ]

    def __str__(self) -> str:
        return f"score of {self.solution_id}"


class ScoreFailure(models.Model):
    """A solution that a scorer version could not score, and why. A later success removes it."""

    solution = models.ForeignKey(Solution, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(ScorerVersion, on_delete=models.PROTECT, related_name="failures")
    message = models.CharField(max_length=500)
    failed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["solution", "version"], name="score_failure_once")
        ]

    def __str__(self) -> str:
        return self.message


class ScoreDetail(models.Model):
    """What a judge or critic said beside its score. Apart from the score, which is read by the million."""

    score = models.OneToOneField(Score, on_delete=models.CASCADE, primary_key=True, related_name="detail")
    #: A name of the project's taxonomy, or null, for each step.
    error_types = models.JSONField(null=True)
    #: Why; for adjudicators only.
    rationale = models.TextField(blank=True)
    #: {"input_tokens", "output_tokens", "seconds", "unparsed", …}
    usage = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"detail of score {self.score_id}"


class Rollouts(models.Model):
    """What continuations of one prefix came to: the state of a Monte-Carlo estimate, so that it can go on."""

    solution = models.ForeignKey(Solution, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(ScorerVersion, on_delete=models.PROTECT, related_name="rollouts")
    #: The prefix ends after this step (0-based over all steps).
    step = models.PositiveSmallIntegerField()
    tried = models.PositiveIntegerField(default=0)
    right = models.PositiveIntegerField(default=0)
    #: Continuations in which no answer was found; they count as wrong.
    unparsed = models.PositiveIntegerField(default=0)
    usage = models.JSONField(default=dict)
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "rollouts"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["solution", "version", "step"], name="rollouts_once_per_prefix"),
            models.CheckConstraint(
                name="rollouts_add_up",
                condition=models.Q(tried__gte=models.F("right") + models.F("unparsed")),
            ),
        ]

    def __str__(self) -> str:
        return f"rollouts after step {self.step} of {self.solution_id}"


class ScorerWeights(models.Model):
    """The numbers of a version that was trained here, where every worker finds them. Never a pickle."""

    version = models.OneToOneField(
        ScorerVersion, on_delete=models.PROTECT, primary_key=True, related_name="weights"
    )
    #: builtin-json, or a folder of safetensors by its path.
    format = models.CharField(max_length=40)
    data = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return f"weights of {self.version_id}"
