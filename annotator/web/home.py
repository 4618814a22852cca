"""My projects, and help."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotator.queries.home import projects_of
from annotator.web.doors import person, signed_in


@person
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The projects of the person who is signed in."""
    return render(request, "home.html", {"projects": projects_of(signed_in(request).pk)})


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    """What the labels mean, and the keys."""
    return render(request, "help.html")
