"""Scorers, their versions and what they said."""

from __future__ import annotations

from typing import ClassVar

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


class ScorerVersion(models.Model):
    """One state of a scorer's weights. Scores belong to a version, so that old and new never mix."""

    scorer = models.ForeignKey(Scorer, on_delete=models.PROTECT, related_name="versions")
    version = models.CharField(max_length=100)
    measures = models.CharField(max_length=40)
    #: A step below this probability is predicted incorrect.
    threshold = models.FloatField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["scorer", "version"], name="scorer_version_once")
        ]

    def __str__(self) -> str:
        return self.version


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
