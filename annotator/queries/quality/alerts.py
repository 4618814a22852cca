"""What a manager should see now; never kept with the report."""

from __future__ import annotations

from collections.abc import Sequence

from annotator.models import Alert, Project

SHOWN = 50


def open_alerts(project: Project) -> Sequence[Alert]:
    """Open alerts, newest first; one query."""
    return list(Alert.objects.filter(project=project, closed_at=None).order_by("-opened_at", "-pk")[:SHOWN])
