"""Webhooks: addresses that are told of events. For managers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotator.actions import access, hooks
from annotator.actions.access import Actor, Verb
from annotator.actions.hooks import Event, NoSuchHook, Refused
from annotator.queries.hooks import overview
from annotator.queries.projects import project_of
from annotator.web.doors import member

MEANS = {
    Event.SUBMITTED: gettext_lazy("somebody handed in labels"),
    Event.COMPLETED: gettext_lazy("a solution has all the labels it wants, and people agree"),
    Event.PAUSED: gettext_lazy("a member was paused, by hidden checks or by a manager"),
    Event.PROMOTED: gettext_lazy("a newly trained scorer took the place of the one before"),
}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The webhooks there are; a POST adds one and shows its secret this once, in the reply and nowhere else."""
    access.require(actor, Verb.MANAGE)
    if request.method != "POST":
        return _page(request, actor, {})
    url, events = request.POST.get("url", ""), request.POST.getlist("events")
    try:
        made = hooks.add(actor=actor, url=url, events=events)
    except Refused as error:
        return _page(request, actor, {"url": url, "chosen": events, "error": str(error)}, status=422)
    return _page(request, actor, {"made": made})


@require_safe
@never_cache
@member
def live(request: HttpRequest, actor: Actor) -> HttpResponse:
    """What was sent alone, while a message is on its way."""
    access.require(actor, Verb.MANAGE)
    return render(request, "webhooks/_hooks.html", _context(actor))


@require_POST
@member
def act(request: HttpRequest, actor: Actor, hook_id: int, what: str) -> HttpResponse:
    """Ping, pause, resume or delete one."""
    if what not in ACTS:
        raise Http404("A webhook can't be asked that.")
    do, said = ACTS[what]
    try:
        do(actor=actor, hook_id=hook_id)
    except NoSuchHook as error:
        raise Http404(str(error)) from None
    messages.success(request, str(said))
    return redirect("webhooks", actor.slug)


ACTS: Mapping[str, tuple[Callable[..., object], Any]] = {
    "ping": (hooks.ping, gettext_lazy("A ping is on its way; what comes of it stands below.")),
    "pause": (hooks.pause, gettext_lazy("It is told nothing until you resume it.")),
    "resume": (hooks.resume, gettext_lazy("It is told of what happens from now on.")),
    "delete": (hooks.delete, gettext_lazy("The webhook is deleted.")),
}


def _page(request: HttpRequest, actor: Actor, more: Mapping[str, Any], status: int = 200) -> HttpResponse:
    context = {
        **_context(actor),
        "choices": [(event.value, said) for event, said in MEANS.items()],
        "chosen": [event.value for event in Event],
        "hosts": settings.WEBHOOK_HOSTS,
        **more,
    }
    return render(request, "webhooks.html", context, status=status)


def _context(actor: Actor) -> dict[str, Any]:
    return {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "overview": overview(actor.project_id),
    }
