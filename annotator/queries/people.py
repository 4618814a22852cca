"""A person apart from any project."""

from __future__ import annotations

from typing import Any

from annotator.models import Preferences


def preferences_of(user_id: int) -> dict[str, Any]:
    """How the person wants the workbench; empty while all is as it comes."""
    found = Preferences.objects.filter(user_id=user_id).values_list("data", flat=True).first()
    return dict(found or {})
