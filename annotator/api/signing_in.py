"""Who is asking: a token, or the session of a browser with Django's CSRF check."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from annotator.actions import access, tokens
from annotator.actions.access import Actor
from annotator.actions.tokens import Scope, TokenRefused
from annotator.models import ApiToken

if TYPE_CHECKING:  # REST framework's views import what its settings name, and so this module
    from rest_framework.views import APIView

REFUSED = "This token is unknown, revoked or expired; make another on the page 'Tokens'."


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer TOKEN``."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """The person and the token; None where no token was sent. Raises AuthenticationFailed."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            token = tokens.authenticate(secret.strip())
        except TokenRefused:
            raise AuthenticationFailed(REFUSED) from None
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """So that a request without credentials gets a 401 rather than a 403."""
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the description names it."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """HTTP's own bearer scheme."""
        return {"type": "http", "scheme": "bearer", "description": "A token from the page 'Tokens'."}


class HasScope(BasePermission):
    """A token must carry the view's ``scope``; a session carries them all."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Raises PermissionDenied with the scope that is missing."""
        if not request.user.is_authenticated:
            return False
        scope: Scope = getattr(view, "scope")  # noqa: B009  each of our views has one
        if isinstance(request.auth, ApiToken) and scope not in request.auth.scopes:
            raise PermissionDenied(f"This token can't do this: it lacks the scope '{scope.value}'.")
        return True


def actor_in(request: Request, slug: str) -> Actor:
    """The person in a project. Raises NotAMember."""
    return access.enter(user_id=request.user.pk, slug=slug)


def actor_of(request: Request, assignment_id: uuid.UUID) -> Actor:
    """The person in the project of one of their assignments. Raises NotAMember."""
    return access.enter_by_assignment(user_id=request.user.pk, assignment_id=assignment_id)
