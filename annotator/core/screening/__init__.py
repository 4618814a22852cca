"""How people do on gold, and what follows from it."""

from annotator.core.screening.habits import (
    Monotony,
    Pace,
    modified_z,
    monotony,
    pace,
    says_only_correct,
    self_consistency,
)
from annotator.core.screening.items import ItemScore, score_item
from annotator.core.screening.scorecard import (
    Scorecard,
    accuracy,
    confusion,
    rolling,
    scorecard,
    suspect_gold,
)
from annotator.core.screening.standing import (
    Cause,
    Moment,
    Override,
    Rule,
    Standing,
    State,
    fit_rule,
    follow,
)

__all__ = [
    "Cause",
    "ItemScore",
    "Moment",
    "Monotony",
    "Override",
    "Pace",
    "Rule",
    "Scorecard",
    "Standing",
    "State",
    "accuracy",
    "confusion",
    "fit_rule",
    "follow",
    "modified_z",
    "monotony",
    "pace",
    "rolling",
    "says_only_correct",
    "score_item",
    "scorecard",
    "self_consistency",
    "suspect_gold",
]
