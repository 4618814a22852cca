"""Setting scorers' values right by what people labelled: on the audit prefix, never on the holdout."""

from __future__ import annotations

from django.db import transaction

from annotator.actions import ordering
from annotator.core import calibration
from annotator.core.calibration import Calibration
from annotator.models import Project, ScorerVersion
from annotator.queries.labelled_steps import Labelled, labelled, steps_of
from annotator.scorers.base import CORRECTNESS

#: Fitted anew once there are so many times as many solutions: less changes little, and the order would move for it.
GROWTH = 1.1


def refresh(*, project_id: int) -> int:
    """Fit the calibration of each version in force that people have labelled enough for, and ask for a new order
    where that decides it. Returns how many have changed. May run twice."""
    project = Project.objects.get(pk=project_id)
    known, changed = labelled(project), 0
    versions = ScorerVersion.objects.filter(scorer__project=project, measures=CORRECTNESS)
    for version in versions.in_force().select_related("scorer__project"):
        found = _fitted(version, known)
        if found is not None:
            changed += 1
            _keep(version, found)
    return changed


def _fitted(version: ScorerVersion, known: Labelled) -> Calibration | None:
    """A new calibration, or None where there are too few labels or hardly more than when it was fitted last."""
    steps = steps_of(version, known)
    row = steps.at[steps.of_row]
    prefix = ~known.in_holdout[row]
    solutions = int((~known.in_holdout[steps.at]).sum())
    before = calibration.from_json(version.calibration)
    if before is not None and solutions < GROWTH * before.solutions:
        return None
    return calibration.calibrate(
        steps.value[prefix], steps.correct[prefix], known.problem[row[prefix]], solutions=solutions
    )


@transaction.atomic
def _keep(version: ScorerVersion, found: Calibration) -> None:
    version.calibration = found.as_json()
    version.save(update_fields=["calibration"])
    base = ordering.base_of(version)
    if base is not None:
        ordering.ask_for_new_order(project_id=version.scorer.project_id, version_id=base.pk)
