"""What every page knows: how the person wants it to look."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from annotator.core.preferences import DEFAULT_KEYS
from annotator.queries.people import preferences_of


def preferences(request: HttpRequest) -> dict[str, Any]:
    """``preferences``: a person's own, with every key that they use. Read only where a template asks."""

    def read() -> dict[str, Any]:
        user = getattr(request, "user", None)
        data = preferences_of(user.pk) if user is not None and user.is_authenticated else {}
        return {**data, "keys": {**DEFAULT_KEYS, **data.get("keys", {})}}

    return {"preferences": SimpleLazyObject(read)}
