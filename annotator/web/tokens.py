"""My tokens: what my scripts sign in with."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotator.actions import tokens
from annotator.actions.tokens import DAYS, CannotMakeToken, Scope
from annotator.queries.tokens import tokens_of
from annotator.web.doors import person, signed_in

MEANS = {
    Scope.LABEL: gettext_lazy("label: get solutions, keep drafts, hand in"),
    Scope.READ: gettext_lazy("read: annotations and the quality report"),
    Scope.IMPORT: gettext_lazy("import: bring solutions in"),
    Scope.EXPORT: gettext_lazy("export: take labels out"),
}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@person
def page(request: HttpRequest) -> HttpResponse:
    """The tokens there are; a POST makes one more and shows it this once, in the reply and nowhere else."""
    if request.method != "POST":
        return _page(request, {"days": DAYS})
    form = request.POST
    days = form.get("days", "")
    try:
        made = tokens.make(
            user_id=signed_in(request).pk,
            name=form.get("name", ""),
            scopes=form.getlist("scopes"),
            days=int(days) if days.isascii() and days.isdecimal() and len(days) < 5 else 0,
        )
    except CannotMakeToken as error:
        asked = {"name": form.get("name", ""), "days": days, "scopes": form.getlist("scopes")}
        return _page(request, {**asked, "error": str(error)}, status=422)
    return _page(request, {"days": DAYS, "made": made})


@require_POST
@person
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """From now on it opens nothing."""
    tokens.revoke(user_id=signed_in(request).pk, token_id=token_id)
    messages.success(request, _("The token is revoked; scripts that use it are refused from now on."))
    return redirect("tokens")


def _page(request: HttpRequest, more: dict[str, Any], status: int = 200) -> HttpResponse:
    context = {
        "tokens": tokens_of(signed_in(request).pk),
        "choices": [(scope.value, said) for scope, said in MEANS.items()],
        **more,
    }
    return render(request, "tokens.html", context, status=status)
