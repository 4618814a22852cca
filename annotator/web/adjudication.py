"""Deciding cases, for reviewers and managers."""

from __future__ import annotations

from typing import Any

import orjson
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import access, adjudication
from annotator.actions.access import Actor, Verb
from annotator.actions.adjudication import (
    AlreadyDecided,
    Decision,
    HeldByAnother,
    NoCase,
    NoSuchCase,
    NotTaken,
    OwnWork,
)
from annotator.core.labels import InvalidLabels
from annotator.queries import cases as queries
from annotator.queries.projects import project_of
from annotator.web import params
from annotator.web.doors import member

SAYS = {
    AlreadyDecided: _("Somebody has decided that case meanwhile."),
    HeldByAnother: _("Another reviewer has that case now."),
    NotTaken: _("That case is no longer yours; take it again to decide it."),
    OwnWork: _("You labelled that solution yourself, so somebody else decides."),
}


@require_safe
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """What waits, and why."""
    access.require(actor, Verb.ADJUDICATE)
    after = params.number(params.known(request, {"after"}).get("after"))
    return _list(request, actor, after=after)


@require_POST
@member
def take_next(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Go to the case that waits longest."""
    return _to_next(request, actor)


@require_POST
@member
def take(request: HttpRequest, actor: Actor, case_id: int) -> HttpResponse:
    """Go to a case of one's choice."""
    try:
        adjudication.take(actor=actor, case_id=case_id)
    except NoSuchCase:
        raise Http404("There is no such case.") from None
    except (AlreadyDecided, HeldByAnother, OwnWork) as error:
        return _list(request, actor, error=str(SAYS[type(error)]), status=409)
    return HttpResponseRedirect(reverse("case", args=[actor.slug, case_id]))


@require_safe
@never_cache
@member
def case(request: HttpRequest, actor: Actor, case_id: int) -> HttpResponse:
    """A case that one holds, or one that is decided, with its authors. Any other has to be taken first."""
    access.require(actor, Verb.ADJUDICATE)
    who = {"case_id": case_id, "project_id": actor.project_id, "member_id": actor.member}
    if queries.holds(**who) or queries.may_look_back(**who):
        return _case(request, actor, case_id)
    raise Http404("There is no such case, or it isn't yours now.")


@require_POST
@member
def decide(request: HttpRequest, actor: Actor, case_id: int) -> HttpResponse:
    """Write the decision and go on to the next case; what is missing comes back with everything typed (422)."""
    try:
        done = adjudication.decide(actor=actor, case_id=case_id, decision=_decision(request))
    except NoSuchCase:
        raise Http404("There is no such case.") from None
    except (AlreadyDecided, HeldByAnother, NotTaken, OwnWork) as error:
        return _list(request, actor, error=str(SAYS[type(error)]), status=409)
    except InvalidLabels as error:
        said = str(error)
        return _case(request, actor, case_id, error=f"{said[:1].upper()}{said[1:]}.", status=422)
    messages.success(request, gettext("Decided."))
    if done.gold_refused:
        messages.warning(request, gettext("It did not become gold: %s") % done.gold_refused)
    return _to_next(request, actor)


@require_POST
@member
def put_back(request: HttpRequest, actor: Actor, case_id: int) -> HttpResponse:
    """Leave a case to somebody else."""
    try:
        adjudication.put_back(actor=actor, case_id=case_id)
    except NoSuchCase:
        raise Http404("There is no such case.") from None
    except (AlreadyDecided, HeldByAnother) as error:
        return _list(request, actor, error=str(SAYS[type(error)]), status=409)
    return HttpResponseRedirect(reverse("adjudicate", args=[actor.slug]))


def _to_next(request: HttpRequest, actor: Actor) -> HttpResponse:
    try:
        found = adjudication.take_next(actor=actor)
    except NoCase:
        return HttpResponseRedirect(reverse("adjudicate", args=[actor.slug]))
    return HttpResponseRedirect(reverse("case", args=[actor.slug, found.pk]))


def _decision(request: HttpRequest) -> Decision:
    form = request.POST
    try:
        labels = orjson.loads(form.get("labels") or "[]")
    except orjson.JSONDecodeError:
        labels = None
    if not isinstance(labels, list) or not all(label is None or type(label) is int for label in labels):
        raise InvalidLabels("the labels could not be read; mark the steps again")
    return Decision(
        labels=labels,
        reason=form.get("reason", ""),
        note=form.get("note", ""),
        bad_problem=bool(form.get("bad_problem")),
        make_gold=bool(form.get("make_gold")),
    )


def _list(
    request: HttpRequest, actor: Actor, *, after: int | None = None, error: str = "", status: int = 200
) -> HttpResponse:
    access.require(actor, Verb.ADJUDICATE)
    cases = queries.case_list(project_id=actor.project_id, member_id=actor.member, after=after)
    context = {"project": project_of(actor.project_id), "role": actor.role, "cases": cases, "error": error}
    return render(request, "adjudicate.html", context, status=status)


def _case(
    request: HttpRequest, actor: Actor, case_id: int, *, error: str = "", status: int = 200
) -> HttpResponse:
    view = queries.case_view(case_id=case_id)
    typed: dict[str, Any] = {"labels": view.labels_json}
    if error:
        typed = request.POST.dict()
        typed["labels"] = typed.get("labels") or view.labels_json
    context = {"case": view, "project": view.project, "role": actor.role, "error": error, "typed": typed}
    return render(request, "case.html", context, status=status)
