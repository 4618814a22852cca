"""The sign-in page."""

from __future__ import annotations

from django.contrib.auth.views import LoginView
from django.http import HttpRequest
from django.shortcuts import resolve_url

from annotator.web.forms import SignInForm


class SignIn(LoginView):
    """Django's view. Whoever is signed in already is sent on, and never back to this very page."""

    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        """Where ``next`` points, unless it points here."""
        url: str = super().get_redirect_url()
        return "" if url.partition("?")[0] == resolve_url("login") else url
