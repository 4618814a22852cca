"""What a person has done, how they stand, and why nothing comes."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.queries.progress import own_progress
from annotator.queries.projects import project_of
from annotator.web.doors import member


@require_safe
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """One's own figures, nobody else's."""
    access.require(actor, Verb.LABEL)
    context = {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "own": own_progress(member_id=actor.member),
    }
    return render(request, "progress.html", context)
