"""Tokens: what a script signs in with instead of a password."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from annotator.core.details import is_text
from annotator.models import ApiToken, AuditEvent

#: In front of every token, so that programs that look for leaked secrets know one.
PREFIX = "stepmark_"
DAYS = 90
MAX_DAYS = 366
#: As many good tokens as one person may have at a time.
MAX_TOKENS = 50
#: When a token was last used is written at most so often.
USED_EVERY = timedelta(minutes=1)


class Scope(StrEnum):
    """What a token may be used for; its person's role still decides what is allowed."""

    LABEL = "label"
    READ = "read"
    IMPORT = "import"
    EXPORT = "export"


class TokenRefused(Exception):
    """Unknown, expired or revoked, or its person may no longer sign in; from outside these look the same."""


class CannotMakeToken(ValueError):
    """A name, a scope or a time that a token can't have; the message says which."""


@dataclass(frozen=True)
class NewToken:
    """``secret`` is shown once; only its hash is kept."""

    token: ApiToken
    secret: str


@transaction.atomic
def make(*, user_id: int, name: str, scopes: Iterable[str], days: int = DAYS) -> NewToken:
    """A token that works for ``days`` days. Raises CannotMakeToken."""
    named = name.strip()
    if not named or len(named) > 100 or not is_text(named):
        raise CannotMakeToken("A token needs a name of at most 100 characters that says what it is for.")
    wanted = set(scopes)
    if not wanted or not wanted <= set(Scope):
        raise CannotMakeToken(f"Choose what the token may do: {', '.join(Scope)}.")
    if not 1 <= days <= MAX_DAYS:
        raise CannotMakeToken(f"A token works for 1 to {MAX_DAYS} days.")
    if ApiToken.objects.filter(user_id=user_id, revoked_at=None, expires_at__gt=Now()).count() >= MAX_TOKENS:
        raise CannotMakeToken(f"You have {MAX_TOKENS} tokens already; revoke one that is no longer used.")
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user_id=user_id,
        name=named,
        token_hash=_hash(secret),
        scopes=[scope.value for scope in Scope if scope in wanted],
        expires_at=Now() + timedelta(days=days),
    )
    token.refresh_from_db()
    _record("token:made", token.pk, {"scopes": token.scopes, "days": days})
    return NewToken(token, secret)


@transaction.atomic
def revoke(*, user_id: int, token_id: int) -> None:
    """Make one of a person's own tokens worthless; one that is not theirs is no error and stays."""
    good = ApiToken.objects.filter(pk=token_id, user_id=user_id, revoked_at=None)
    if good.update(revoked_at=Now()):
        _record("token:revoked", token_id, {})


def authenticate(secret: str) -> ApiToken:
    """The token behind a secret, with its person. Raises TokenRefused.

    256 random bits can't be guessed, so that a plain hash keeps them as safely as a slow one would.
    """
    good = ApiToken.objects.filter(token_hash=_hash(secret), revoked_at=None, expires_at__gt=Now())
    token = good.select_related("user").filter(user__is_active=True).first()
    if token is None:
        raise TokenRefused
    stale = Q(last_used_at=None) | Q(last_used_at__lt=Now() - USED_EVERY)
    ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=Now())
    return token


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()


def _record(name: str, token_id: int, data: dict[str, object]) -> None:
    # Neither the person nor what they called it: the log can't be changed, and a person can ask to be erased.
    AuditEvent.objects.record(name, f"token {token_id}", project_id=None, member_id=None, data=data)
