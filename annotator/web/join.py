"""Coming in by an invitation's link."""

from __future__ import annotations

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotator.actions import members
from annotator.actions.members import InvitationGone
from annotator.actions.projects import AlreadyExists, Refused
from annotator.models import Invitation, Membership
from annotator.queries.members import is_member, user_of
from annotator.web.forms import JoinForm

BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def page(request: HttpRequest, token: str) -> HttpResponse:
    """Join as who is signed in, or make an account first. A link that is no good shows nothing of the project."""
    try:
        invitation = members.look_up(token)
        if request.method == "POST":
            return _join(request, token, invitation)
    except InvitationGone:
        return render(request, "join.html", {"gone": True}, status=410)
    return _page(request, invitation, JoinForm())


def _join(request: HttpRequest, token: str, invitation: Invitation) -> HttpResponse:
    if isinstance(request.user, User):
        joined = members.accept(token=token, user_id=request.user.pk)
        return _into(joined)
    form = JoinForm(request.POST)
    if form.is_valid():
        try:
            joined = members.join_anew(token=token, **form.cleaned_data)
        except AlreadyExists:
            form.add_error("username", "Somebody has that name already; choose another, or sign in.")
        except Refused as error:
            form.add_error(None, str(error))
        else:
            login(request, user_of(joined.user_id or 0), backend=BACKEND)
            return _into(joined)
    return _page(request, invitation, form, status=422)


def _page(request: HttpRequest, invitation: Invitation, form: JoinForm, status: int = 200) -> HttpResponse:
    here = isinstance(request.user, User) and is_member(
        project_id=invitation.project_id, user_id=request.user.pk
    )
    context = {"invitation": invitation, "form": form, "already": here, "next": request.path}
    return render(request, "join.html", context, status=status)


def _into(joined: Membership) -> HttpResponse:
    return HttpResponseRedirect(reverse("home") + f"#{joined.project.slug}")
