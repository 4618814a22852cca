"""What stands beside the labels: aids, questions, my submissions, and how I want the workbench."""

from __future__ import annotations

import uuid

import orjson
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import aids, labeling, preferences, questions
from annotator.actions.access import Actor
from annotator.actions.aids import AidOff
from annotator.actions.labeling import CannotReopen, NoSuchAssignment
from annotator.actions.questions import EmptyText
from annotator.core.preferences import InvalidPreference
from annotator.queries import mine as queries
from annotator.queries.projects import project_of
from annotator.web.doors import json_body, member, person, signed_in
from annotator.web.forms import step_number


@require_POST
@member
def aid(request: HttpRequest, actor: Actor, assignment_id: uuid.UUID, name: str) -> HttpResponse:
    """Show an aid: {"aid", "content"}. Its use is kept."""
    try:
        opened = aids.open_aid(actor=actor, assignment_id=assignment_id, name=name)
    except NoSuchAssignment:
        raise Http404("There is no such assignment.") from None
    except AidOff as error:
        return JsonResponse({"error": str(error)}, status=403)
    return JsonResponse({"aid": opened.name, "content": opened.content})


@require_POST
@member
def ask(request: HttpRequest, actor: Actor, assignment_id: uuid.UUID) -> HttpResponse:
    """Ask the lead about this solution: form fields ``text`` and, where it is about one, ``step`` (0-based)."""
    try:
        questions.ask(
            actor=actor,
            assignment_id=assignment_id,
            text=request.POST.get("text", ""),
            step=step_number(request.POST.get("step", "")),
        )
    except NoSuchAssignment:
        raise Http404("There is no such assignment.") from None
    except EmptyText as error:
        return JsonResponse({"error": str(error)}, status=422)
    return JsonResponse({"asked": True})


@require_safe
@never_cache
@member
def mine(request: HttpRequest, actor: Actor) -> HttpResponse:
    """My last submissions, and the days I worked."""
    return _mine(request, actor)


@require_POST
@member
def reopen(request: HttpRequest, actor: Actor, assignment_id: uuid.UUID) -> HttpResponse:
    """Open a submission again and go to it."""
    try:
        labeling.reopen(actor=actor, assignment_id=assignment_id)
    except NoSuchAssignment:
        raise Http404("There is no such assignment.") from None
    except CannotReopen as error:
        return _mine(request, actor, error=str(error), status=409)
    return HttpResponseRedirect(f"{reverse('label', args=[actor.slug])}?open={assignment_id}")


@require_POST
@member
def leave(request: HttpRequest, actor: Actor, assignment_id: uuid.UUID) -> HttpResponse:
    """Leave a reopened submission as it was."""
    try:
        labeling.close_again(actor=actor, assignment_id=assignment_id)
    except NoSuchAssignment:
        raise Http404("There is no such assignment.") from None
    return HttpResponseRedirect(reverse("mine", args=[actor.slug]))


@require_POST
@person
def save_preferences(request: HttpRequest) -> HttpResponse:
    """Merge a JSON object into my preferences; the reply is all of them, or what is wrong (422)."""
    try:
        changes = orjson.loads(json_body(request))
        if not isinstance(changes, dict):
            raise InvalidPreference("expected an object")
        return JsonResponse(preferences.save(user_id=signed_in(request).pk, changes=changes))
    except orjson.JSONDecodeError:
        return JsonResponse({"error": "That could not be read; reload the page."}, status=422)
    except InvalidPreference as error:
        said = str(error)
        return JsonResponse({"error": f"{said[:1].upper()}{said[1:]}."}, status=422)


def _mine(request: HttpRequest, actor: Actor, error: str = "", status: int = 200) -> HttpResponse:
    project = project_of(actor.project_id)
    days = queries.days(member_ids=[actor.member])[actor.member]
    context = {
        "project": project,
        "role": actor.role,
        "submissions": queries.submissions(member_id=actor.member, project=project),
        "asked": queries.asked(member_id=actor.member),
        "days": days,
        "total": queries.total(days),
        "error": error,
    }
    return render(request, "mine.html", context, status=status)
