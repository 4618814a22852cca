"""What the pages share: who is asking, and how a refusal is told."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from annotator.actions import access
from annotator.actions.access import Actor, NotAllowed, NotAMember

View = Callable[..., HttpResponseBase]


def signed_in(request: HttpRequest) -> User:
    """The person who is signed in; the decorators below make sure there is one."""
    assert isinstance(request.user, User)
    return request.user


def json_body(request: HttpRequest) -> bytes:
    """What a script sent; nothing where it sent a form with parts, which was read as one before."""
    return b"" if request.content_type == "multipart/form-data" else request.body


def person(view: View) -> View:
    """Let in whoever is signed in. Others go to the sign-in page; scripts get a 401 instead."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        if request.headers.get("HX-Request") or request.headers.get("X-Requested-With") == "fetch":
            return HttpResponse("You are signed out. Sign in again; your work is kept.", status=401)
        return redirect_to_login(request.get_full_path())

    return guarded


def member(view: View) -> View:
    """Let in members of the project ``slug`` and hand the view an Actor. Others see that there is nothing here."""

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponseBase:
        try:
            actor: Actor = access.enter(user_id=signed_in(request).pk, slug=slug)
            _refuse_nul(request)
            return view(request, actor, **kwargs)
        except NotAMember:
            raise Http404("There is no such project.") from None
        except NotAllowed as error:
            raise PermissionDenied(str(error)) from None
        except BadRequest as error:  # Django's own answer would keep the sentence to itself
            return render(request, "bad_request.html", {"says": str(error)}, status=400)

    return person(guarded)


def _refuse_nul(request: HttpRequest) -> None:
    """The database stores no NUL: told here once, rather than by each field of each page. Raises BadRequest."""
    forms = (request.GET, request.POST)
    fields = (each for form in forms for name, values in form.lists() for each in (name, *values))
    if any("\0" in text for text in (request.path, *fields)):
        raise BadRequest("What was sent holds a NUL character, which no text has.")
