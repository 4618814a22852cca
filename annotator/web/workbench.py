"""The workbench: judge one solution, get the next in the same reply."""

from __future__ import annotations

import uuid
from typing import Any

import orjson
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import labeling, queueing
from annotator.actions.access import Actor
from annotator.actions.labeling import AlreadyClosed, NoSuchAssignment, StaleDraft
from annotator.actions.queueing import NothingForYou
from annotator.core.labels import InvalidLabels
from annotator.queries import workbench as queries
from annotator.web.doors import json_body, member
from annotator.web.forms import Malformed, read_work, work_from_form

CLOSED = "That solution was already handed in, perhaps in another tab; here is the next one."
GONE = "That solution is no longer yours; here is the next one."


@require_safe
@never_cache
@ensure_csrf_cookie
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The person's next solution as a whole page, or with ``?open=`` one that they opened again."""
    again = _uuid(request.GET.get("open", ""))
    if again is not None and queries.is_open(again, member_id=actor.member):
        return render(request, "workbench.html", _bench(again, actor))
    return render(request, "workbench.html", _next(actor))


@require_POST
@member
def ahead(request: HttpRequest, actor: Actor, assignment_id: uuid.UUID) -> HttpResponse:
    """The solution after this one, claimed early so that it can be set off-screen. 204 where there is none yet."""
    try:
        assignment = queueing.next_assignment(actor=actor, after=assignment_id)
    except NothingForYou:
        return HttpResponse(status=204)
    return _region(request, _bench(assignment.pk, actor))


@require_POST
@member
def submit(request: HttpRequest, actor: Actor, assignment_id: uuid.UUID) -> HttpResponse:
    """Hand in the labels; the reply is the next solution, or this one with what is missing (422)."""
    try:
        work = work_from_form(request.POST)
        client_id = _client_id(request)
        labeling.submit(actor=actor, assignment_id=assignment_id, work=work, client_id=client_id)
    except (InvalidLabels, Malformed) as error:
        return _again(request, actor, assignment_id, str(error))
    except AlreadyClosed:
        return _region(request, _next(actor) | {"notice": CLOSED}, status=409)
    except NoSuchAssignment:
        return _region(request, _next(actor) | {"notice": GONE}, status=409)
    return _region(request, _next(actor))


@require_POST
@member
def skip(request: HttpRequest, actor: Actor, assignment_id: uuid.UUID) -> HttpResponse:
    """Pass this solution on; the reply is the next one."""
    try:
        labeling.skip(actor=actor, assignment_id=assignment_id, reason=request.POST.get("reason", ""))
    except InvalidLabels as error:
        return _again(request, actor, assignment_id, str(error))
    except (AlreadyClosed, NoSuchAssignment):
        return _region(request, _next(actor) | {"notice": CLOSED}, status=409)
    return _region(request, _next(actor))


@require_POST
@member
def draft(request: HttpRequest, actor: Actor, assignment_id: uuid.UUID) -> HttpResponse:
    """Keep unfinished work: {"labels", "details", "finish_reason", "active_seconds", "version"} as JSON."""
    try:
        body = orjson.loads(json_body(request))
        work, version = read_work(body), int(body.get("version", 0))
        saved = labeling.save_draft(actor=actor, assignment_id=assignment_id, work=work, version=version)
    except (orjson.JSONDecodeError, TypeError, ValueError) as error:
        return JsonResponse({"error": str(error)}, status=422)
    except StaleDraft as stale:
        current = stale.assignment
        return JsonResponse({"version": current.draft_version, **current.draft}, status=409)
    except AlreadyClosed:
        return JsonResponse({"error": CLOSED, "closed": True}, status=409)
    except NoSuchAssignment:
        raise Http404("There is no such assignment.") from None
    return JsonResponse({"version": saved})


def _next(actor: Actor) -> dict[str, Any]:
    try:
        assignment = queueing.next_assignment(actor=actor)
    except NothingForYou as nothing:
        left = queries.nothing_left(
            member_id=actor.member, project_id=actor.project_id, reason=nothing.reason
        )
        return {"nothing": left, "project": left.project, "role": actor.role}
    return _bench(assignment.pk, actor)


def _bench(assignment_id: uuid.UUID, actor: Actor, typed: queries.Marked | None = None) -> dict[str, Any]:
    bench = queries.bench(assignment_id, typed=typed)
    return {"bench": bench, "project": bench.project, "role": actor.role}


def _again(request: HttpRequest, actor: Actor, assignment_id: uuid.UUID, sentence: str) -> HttpResponse:
    """The same solution with the error on top and everything that was marked still there."""
    if not queries.is_open(assignment_id, member_id=actor.member):
        return _region(request, _next(actor) | {"notice": GONE}, status=409)
    error = sentence[:1].upper() + sentence[1:] + "."
    return _region(request, _bench(assignment_id, actor, _typed(request)) | {"error": error}, status=422)


def _typed(request: HttpRequest) -> queries.Marked | None:
    try:
        work = work_from_form(request.POST)
    except Malformed:
        return None
    return queries.Marked(work.labels, work.details, work.finish_reason, work.active_seconds)


def _region(request: HttpRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    return render(request, "workbench/_bench.html", context, status=status)


def _client_id(request: HttpRequest) -> uuid.UUID | None:
    value = request.POST.get("client_id", "")
    found = _uuid(value)
    if value and found is None:
        raise Malformed("the client id is not a UUID")
    return found


def _uuid(value: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(value)
    except ValueError:
        return None
