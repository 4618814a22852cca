"""Gold, for managers."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import access
from annotator.actions import gold as actions
from annotator.actions.access import Actor, Verb
from annotator.actions.gold import NoSuchGold, Refused
from annotator.models import Gold
from annotator.queries.gold import SHOWS, gold_list
from annotator.queries.projects import project_of
from annotator.web import params
from annotator.web.doors import member

VERBS = ("retire", "wrong", "bring_back", "clear", "hidden", "exam", "practice")


@require_safe
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The items, with how often people fail them."""
    access.require(actor, Verb.MANAGE)
    given = params.known(request, {"show", "after"})
    return _page(
        request, actor, params.one_of(given.get("show"), SHOWS, "all"), params.number(given.get("after"))
    )


@require_POST
@member
def change(request: HttpRequest, actor: Actor, solution_id: int) -> HttpResponse:
    """One change to one item: ``do`` is one of VERBS."""
    do = request.POST.get("do", "")
    try:
        _change(actor, solution_id, do, request.POST.get("reason", ""))
    except NoSuchGold:
        raise Http404("There is no such gold solution.") from None
    except Refused as error:
        return _page(request, actor, "all", None, error=str(error), status=409)
    messages.success(request, gettext("Changed."))
    return HttpResponseRedirect(reverse("gold", args=[actor.slug]))


def _change(actor: Actor, solution_id: int, do: str, reason: str) -> None:
    if do in ("retire", "wrong"):
        actions.retire(actor=actor, solution_id=solution_id, reason=reason, wrong=do == "wrong")
    elif do == "bring_back":
        actions.bring_back(actor=actor, solution_id=solution_id)
    elif do == "clear":
        actions.clear(actor=actor, solution_id=solution_id)
    elif do in ("hidden", "exam", "practice"):
        actions.set_use(actor=actor, solution_id=solution_id, use=Gold.Use(do))
    else:
        raise Http404("There is no such change.")


def _page(
    request: HttpRequest, actor: Actor, show: str, after: int | None, *, error: str = "", status: int = 200
) -> HttpResponse:
    access.require(actor, Verb.MANAGE)
    context = {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "gold": gold_list(project_id=actor.project_id, show=show, after=after),
        "show": show,
        "shows": SHOWS,
        "error": error,
    }
    return render(request, "gold.html", context, status=status)
