"""How fast a project's people judge, measured on what they handed in."""

from __future__ import annotations

import math

from annotator.core.replay.pace import Pace, fit_pace
from annotator.core.uncertainty import entropy
from annotator.models import Annotation, Project, Score

#: So many of the newest annotations: people get faster.
NEWEST = 5_000


def pace(project: Project) -> Pace:
    """Seconds by solution, judged step and nat of the ranking scorer's entropy, by two queries.

    Raises TooFewTimes.
    """
    rows = Annotation.objects.filter(
        member__project=project, source=Annotation.Source.HUMAN, current=True, active_seconds__gt=0
    ).order_by("-submitted_at")
    known = list(rows.values_list("solution_id", "labels", "active_seconds")[:NEWEST])
    scores = Score.objects.filter(
        version__scorer__project=project,
        version__scorer__ranks=True,
        solution_id__in=[row[0] for row in known],
    )
    values = dict(scores.order_by("version_id").values_list("solution_id", "values"))
    steps = [float(sum(label is not None for label in labels)) for _, labels, _ in known]
    nats = [_doubt(values.get(solution), labels) for solution, labels, _ in known]
    return fit_pace([seconds for _, _, seconds in known if seconds is not None], steps, nats)


def _doubt(values: list[float | None] | None, labels: list[int | None]) -> float:
    """The sum of entropies over the judged steps; 0 where no scorer has spoken."""
    if values is None:
        return 0.0
    return math.fsum(
        entropy(value)
        for value, label in zip(values, labels, strict=True)
        if value is not None and label is not None
    )
