"""Keeping how a person wants the workbench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotator.core import preferences as rules
from annotator.models import Preferences


@transaction.atomic
def save(*, user_id: int, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Merge changes into a person's preferences and return them all. Raises InvalidPreference; nothing changes then."""
    Preferences.objects.get_or_create(user_id=user_id)
    row = Preferences.objects.select_for_update().get(user_id=user_id)
    kept = rules.clean({**row.data, **changes})
    row.data = kept
    row.save(update_fields=["data"])
    return kept
