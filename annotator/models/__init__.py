"""The tables, grouped by aggregate. Foreign keys point one way; invariants are database constraints."""

from annotator.models.audit import AuditEvent
from annotator.models.corpus import BenchmarkProblem, ImportBatch, Problem, ReferenceLabels, Solution, Split
from annotator.models.files import Attachment, ExportRecipe, ExportRun
from annotator.models.hooks import Webhook, WebhookDelivery
from annotator.models.jobs import Job
from annotator.models.labeling import Annotation, Assignment, Consensus, Question, QueueRow
from annotator.models.projects import ApiToken, Guidelines, Invitation, Membership, Preferences, Project, Role
from annotator.models.quality import (
    Adjudication,
    AdjudicationCase,
    Alert,
    CalibrationRound,
    Gold,
    GoldResult,
    QualityReport,
    StandingEvent,
)
from annotator.models.scoring import (
    Rollouts,
    Score,
    ScoreDetail,
    ScoreFailure,
    Scorer,
    ScorerVersion,
    ScorerWeights,
)

__all__ = [
    "Adjudication",
    "AdjudicationCase",
    "Alert",
    "Annotation",
    "ApiToken",
    "Assignment",
    "Attachment",
    "AuditEvent",
    "BenchmarkProblem",
    "CalibrationRound",
    "Consensus",
    "ExportRecipe",
    "ExportRun",
    "Gold",
    "GoldResult",
    "Guidelines",
    "ImportBatch",
    "Invitation",
    "Job",
    "Membership",
    "Preferences",
    "Problem",
    "Project",
    "QualityReport",
    "Question",
    "QueueRow",
    "ReferenceLabels",
    "Role",
    "Rollouts",
    "Score",
    "ScoreDetail",
    "ScoreFailure",
    "Scorer",
    "ScorerVersion",
    "ScorerWeights",
    "Solution",
    "Split",
    "StandingEvent",
    "Webhook",
    "WebhookDelivery",
]
