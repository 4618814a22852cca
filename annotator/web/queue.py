"""The manager's view of what comes next, and what they can change about it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import access, calibration, relabeling, reserving
from annotator.actions.access import Actor, Verb
from annotator.actions.calibration import NoneOpen, NotEnoughGold
from annotator.actions.reserving import NothingChosen, Where
from annotator.queries.outlook import outlook
from annotator.queries.projects import project_of
from annotator.queries.queue import queue
from annotator.web.doors import member


@require_safe
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The head of the queue with the reason on each row, and how long it all will take."""
    return _page(request, actor)


@require_POST
@member
def reserve(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Reserve a part for a skill; an empty skill gives it to everybody."""
    try:
        n = reserving.reserve(actor=actor, where=_where(request), skill=request.POST.get("skill", ""))
    except NothingChosen as error:
        return _page(request, actor, error=str(error), at="reserve", status=422)
    said = ngettext("%(n)s solution has changed hands.", "%(n)s solutions have changed hands.", n) % {"n": n}
    return _back(request, actor, said)


@require_POST
@member
def relabel(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Have a part judged anew under the newest guidelines."""
    try:
        done = relabeling.relabel(actor=actor, where=_where(request))
    except NothingChosen as error:
        return _page(request, actor, error=str(error), at="relabel", status=422)
    said = ngettext("%(n)s solution is judged anew.", "%(n)s solutions are judged anew.", done.solutions) % {
        "n": done.solutions
    }
    return _back(request, actor, said)


@require_POST
@member
def calibrate(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Start a calibration round, or with ``close`` end the open one."""
    try:
        if request.POST.get("close"):
            calibration.close(actor=actor)
            return _back(request, actor, gettext("The calibration round is closed."))
        calibration.start(actor=actor)
    except (NotEnoughGold, NoneOpen) as error:
        return _page(request, actor, error=str(error), at="calibration", status=409)
    return _back(request, actor, gettext("A calibration round is open: everybody gets the same checks."))


def _back(request: HttpRequest, actor: Actor, said: str) -> HttpResponse:
    messages.success(request, said)
    return HttpResponseRedirect(reverse("queue", args=[actor.slug]))


def _where(request: HttpRequest) -> Where:
    batch = request.POST.get("batch", "")
    return Where(
        subject=request.POST.get("subject", ""),
        domain=request.POST.get("domain", ""),
        batch_id=int(batch) if batch.isascii() and batch.isdecimal() and len(batch) < 16 else None,
    )


def _page(
    request: HttpRequest, actor: Actor, *, error: str = "", at: str = "", status: int = 200
) -> HttpResponse:
    access.require(actor, Verb.SEE_QUEUE)
    project = project_of(actor.project_id)
    context: dict[str, Any] = {
        "project": project,
        "role": actor.role,
        "queue": queue(project),
        "outlook": outlook(actor.project_id),
        "error": error,
        "at": at,
        "typed": request.POST.dict() if error else {},
    }
    return render(request, "queue.html", context, status=status)
