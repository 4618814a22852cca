"""A person's own tokens, for their page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from annotator.models import ApiToken

SHOWN = 100


@dataclass(frozen=True)
class TokenRow:
    """One token as its page lists it. ``state``: good, expired, revoked."""

    id: int
    name: str
    scopes: Sequence[str]
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    state: str


def tokens_of(user_id: int) -> list[TokenRow]:
    """The newest first; one query."""
    now = timezone.now()
    return [
        TokenRow(
            id=token.pk,
            name=token.name,
            scopes=token.scopes,
            created_at=token.created_at,
            expires_at=token.expires_at,
            last_used_at=token.last_used_at,
            state="revoked" if token.revoked_at else "good" if token.expires_at > now else "expired",
        )
        for token in ApiToken.objects.filter(user_id=user_id)[:SHOWN]
    ]
