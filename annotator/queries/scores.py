"""Some scores' entropies: what one claim, one page or one fresh batch asks for; the whole queue is read elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotator.core import calibration, ragged
from annotator.core.ragged import Rows
from annotator.models import Score, ScorerVersion


def entropies(scores: Sequence[tuple[int, int]]) -> dict[int, float]:
    """Mean entropy over calibrated values for pairs of solution and version, to the last bit as the whole queue has
    it. Two queries. Unscored ones are left out."""
    wanted = set(scores)
    versions = ScorerVersion.objects.in_bulk({version for _, version in scores})
    rows = Score.objects.filter(solution__in=[one for one, _ in scores], version__in=versions)
    found = [
        row
        for row in rows.values_list("solution_id", "version_id", "priority", "values")
        if row[:2] in wanted
    ]
    return {solution: _entropy(versions[pk], own, values) for solution, pk, own, values in found}


def _entropy(version: ScorerVersion, own: float, values: Sequence[float | None]) -> float:
    """Over the calibrated values where the version has a calibration, else its own."""
    mapped = calibration.from_json(version.calibration)
    if mapped is None:
        return own
    said = Rows.of_lists([values])
    said = said.like(
        said.flat.astype(np.float32).astype(np.float64)
    )  # the column's precision, not its digits'
    risk = ragged.at_risk(said, np.array([version.threshold]))
    return float(ragged.mean_entropies(said.like(mapped.apply(said.flat)), risk)[0])
