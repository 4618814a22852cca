"""The manager's view of what comes next."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.queries.projects import project_of
from annotator.queries.queue import queue
from annotator.web.doors import member


@require_safe
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The head of the queue with the reason on each row."""
    access.require(actor, Verb.SEE_QUEUE)
    project = project_of(actor.project_id)
    return render(request, "queue.html", {"project": project, "role": actor.role, "queue": queue(project)})
