"""A single score as a probability: what one claim or one fresh batch asks for; the whole queue is read elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotator.core import calibration
from annotator.core.uncertainty import Values, mean_entropy
from annotator.models import Score, ScorerVersion


def calibrated(values: Values, version: ScorerVersion) -> Values:
    """The values as this version's calibration has it; as they come where it has none."""
    found = calibration.from_json(version.calibration)
    if found is None:
        return values
    said = found.apply([np.nan if value is None else value for value in values]).tolist()
    return [None if value is None else probability for value, probability in zip(values, said, strict=True)]


def entropies(scores: Sequence[tuple[int, int]]) -> dict[int, float]:
    """Mean entropy over calibrated values for pairs of solution and version; one query. Unscored ones are left out."""
    wanted = set(scores)
    found = Score.objects.filter(
        solution__in=[solution for solution, _ in scores], version__in=[version for _, version in scores]
    ).select_related("version")
    return {
        score.solution_id: mean_entropy(
            score.values, score.version.threshold, calibrated(score.values, score.version)
        )
        if score.version.calibration
        else score.priority
        for score in found
        if (score.solution_id, score.version_id) in wanted
    }
