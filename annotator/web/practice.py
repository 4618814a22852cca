"""Practice: solutions whose labels are shown after one's own."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import labeling, queueing
from annotator.actions.access import Actor
from annotator.actions.labeling import AlreadyClosed, NoSuchAssignment
from annotator.actions.queueing import NothingForYou
from annotator.core.labels import InvalidLabels
from annotator.queries import practice, workbench
from annotator.web.doors import member
from annotator.web.forms import Malformed, work_from_form


@require_safe
@never_cache
@ensure_csrf_cookie
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The next practice solution, or the end of practice."""
    return render(request, "practice.html", _next(actor))


@require_POST
@member
def submit(request: HttpRequest, actor: Actor, assignment_id: uuid.UUID) -> HttpResponse:
    """Hand in; the reply compares the labels with the acceptable ones."""
    if not practice.is_practice(assignment_id, member_id=actor.member):
        raise Http404("There is no such practice solution.")
    try:
        work = work_from_form(request.POST)
        labeling.submit(actor=actor, assignment_id=assignment_id, work=work)
    except (InvalidLabels, Malformed) as error:
        context = _next(actor, _typed(request)) | {"error": str(error)[:1].upper() + str(error)[1:] + "."}
        return render(request, "practice/_bench.html", context, status=422)
    except AlreadyClosed:
        pass  # a repeated request: the comparison is what it asked for
    except NoSuchAssignment:
        raise Http404("There is no such assignment.") from None
    revealed = practice.reveal(assignment_id=assignment_id, member_id=actor.member)
    if revealed is None:
        raise Http404("There is no such practice solution.")
    context = {"revealed": revealed, "project": revealed.project, "role": actor.role}
    return render(request, "practice/_revealed.html", context)


def _typed(request: HttpRequest) -> workbench.Marked | None:
    try:
        work = work_from_form(request.POST)
    except Malformed:
        return None
    return workbench.Marked(work.labels, work.details, work.finish_reason, work.active_seconds)


def _next(actor: Actor, typed: workbench.Marked | None = None) -> dict[str, Any]:
    try:
        assignment = queueing.next_practice(actor=actor)
    except NothingForYou as nothing:
        left = workbench.nothing_left(
            member_id=actor.member, project_id=actor.project_id, reason=nothing.reason
        )
        return {"nothing": left, "project": left.project, "role": actor.role}
    bench = workbench.bench(assignment.pk, typed=typed)
    left_after = practice.practice_left(member_id=actor.member, project_id=actor.project_id)
    return {"bench": bench, "project": bench.project, "role": actor.role, "left": left_after}
