"""The tables, grouped by aggregate. Foreign keys point one way; invariants are database constraints."""

from annotator.models.audit import AuditEvent
from annotator.models.corpus import ImportBatch, Problem, ReferenceLabels, Solution, Split
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
from annotator.models.scoring import Score, ScoreFailure, Scorer, ScorerVersion

__all__ = [
    "Adjudication",
    "AdjudicationCase",
    "Alert",
    "Annotation",
    "ApiToken",
    "Assignment",
    "AuditEvent",
    "CalibrationRound",
    "Consensus",
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
    "Score",
    "ScoreFailure",
    "Scorer",
    "ScorerVersion",
    "Solution",
    "Split",
    "StandingEvent",
]
