"""The people of a project, for managers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import access, members, standing
from annotator.actions.access import Actor, Verb
from annotator.actions.members import Changes, NotYourself, UnknownMember
from annotator.actions.standing import NoSuchMember
from annotator.core.screening import Override
from annotator.models import Role
from annotator.queries.members import people
from annotator.queries.projects import project_of
from annotator.web.doors import member

ROLES = ("annotator", "reviewer", "manager")
MOST = 10_000


class BadField(ValueError):
    """A field that the page would not have sent like that; the message says which."""


@require_safe
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Who is here, what they may, how they do."""
    return _page(request, actor)


@require_POST
@never_cache
@member
def invite(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Make a link; this reply is the only one that shows it."""
    try:
        made = members.invite(
            actor=actor, role=_role(request), skills=_skills(request), days=_number(request, "days") or 7
        )
    except BadField as error:
        return _page(request, actor, error=str(error), status=422)
    link = request.build_absolute_uri(reverse("join", args=[made.token]))
    return _page(request, actor, link=link)


@require_POST
@member
def revoke(request: HttpRequest, actor: Actor, invitation_id: int) -> HttpResponse:
    """Make an unused link worthless."""
    members.revoke(actor=actor, invitation_id=invitation_id)
    return _back(request, actor, gettext("The link no longer lets anybody in."))


@require_POST
@member
def change(request: HttpRequest, actor: Actor, member_id: int) -> HttpResponse:
    """Role, skills and cap. A manager's own role isn't in their form."""

    def do() -> str:
        changes = Changes(
            role=_role(request) if request.POST.get("role") else None,
            skills=_skills(request),
            cap=_number(request, "cap") or 0,
        )
        changed = members.change(actor=actor, member_id=member_id, changes=changes)
        return gettext("Saved for %s.") % changed.pseudonym

    return _do(request, actor, do)


@require_POST
@member
def pause(request: HttpRequest, actor: Actor, member_id: int) -> HttpResponse:
    """Stop a person's work, with a reason that they read."""

    def do() -> str:
        who = standing.override(
            actor=actor, member_id=member_id, word=Override.PAUSE, reason=_reason(request)
        )
        return gettext("%s is paused; what they held goes to others.") % who.pseudonym

    return _do(request, actor, do)


@require_POST
@member
def clear(request: HttpRequest, actor: Actor, member_id: int) -> HttpResponse:
    """Let a person go on; ``restore`` counts quarantined labels again."""

    def do() -> str:
        who = standing.override(
            actor=actor,
            member_id=member_id,
            word=Override.CLEAR,
            reason=_reason(request),
            restore=bool(request.POST.get("restore")),
        )
        return gettext("%s can go on.") % who.pseudonym

    return _do(request, actor, do)


@require_POST
@member
def remove(request: HttpRequest, actor: Actor, member_id: int) -> HttpResponse:
    """Take a person out."""

    def do() -> str:
        gone = members.remove(actor=actor, member_id=member_id, reason=_reason(request))
        return gettext("%s is out of the project; their labels stay.") % gone.pseudonym

    return _do(request, actor, do)


@require_POST
@member
def exam(request: HttpRequest, actor: Actor, member_id: int) -> HttpResponse:
    """Open the exam again, or with ``passed`` let the person work without it."""

    def do() -> str:
        passed = bool(request.POST.get("passed"))
        who = members.set_exam(actor=actor, member_id=member_id, passed=passed, reason=_reason(request))
        if passed:
            return gettext("%s works without more of the exam.") % who.pseudonym
        return gettext("The exam is open again for %s.") % who.pseudonym

    return _do(request, actor, do)


def _do(request: HttpRequest, actor: Actor, do: Callable[[], str]) -> HttpResponse:
    try:
        said = do()
    except (UnknownMember, NoSuchMember):
        raise Http404("There is no such member.") from None
    except NotYourself as error:
        return _page(request, actor, error=str(error), status=409)
    except BadField as error:
        return _page(request, actor, error=str(error), status=422)
    return _back(request, actor, said)


def _back(request: HttpRequest, actor: Actor, said: str) -> HttpResponse:
    messages.success(request, said)
    return HttpResponseRedirect(reverse("members", args=[actor.slug]))


def _page(
    request: HttpRequest, actor: Actor, *, error: str = "", link: str = "", status: int = 200
) -> HttpResponse:
    access.require(actor, Verb.MANAGE)
    context: dict[str, Any] = {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "people": people(project_id=actor.project_id, member_id=actor.member_id),
        "roles": ROLES,
        "error": error,
        "link": link,
    }
    return render(request, "members.html", context, status=status)


def _role(request: HttpRequest) -> Role:
    try:
        return Role(request.POST.get("role", ""))
    except ValueError:
        raise BadField(gettext("Choose a role: annotator, reviewer or manager.")) from None


def _skills(request: HttpRequest) -> list[str]:
    return request.POST.get("skills", "").split(",")


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.POST.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 6) or int(text) > MOST:
        raise BadField(gettext("A cap and a number of days are whole numbers up to 10,000."))
    return int(text)


def _reason(request: HttpRequest) -> str:
    reason = request.POST.get("reason", "").strip()
    if not reason or "\0" in reason:
        raise BadField(gettext("Say in a few words why: the reason stays in the audit log."))
    return reason
