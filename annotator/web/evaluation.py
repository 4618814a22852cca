"""Scorers and their versions side by side, measured against people: for managers."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotator.actions import access, evaluation
from annotator.actions.access import Actor, Verb
from annotator.queries.evaluation.known import Against
from annotator.queries.evaluation.measured import usual
from annotator.queries.evaluation.page import blocks
from annotator.queries.projects import project_of
from annotator.web.doors import member
from annotator.web.params import known, one_of

NAMES = {
    Against.HOLDOUT: _("Holdout"),
    Against.REFERENCE: _("Reference labels"),
    Against.GOLD: _("Gold"),
}


@require_safe
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """All figures, against the holdout unless something else is asked for (or is all there is)."""
    access.require(actor, Verb.MANAGE)
    project = project_of(actor.project_id)
    asked = known(request, {"against"}).get("against")
    against = Against(one_of(asked, set(Against), usual(project)))
    found = evaluation.evaluation(project=project, against=against)
    context = {
        "project": project,
        "role": actor.role,
        "against": against.value,
        "choices": [(each.value, name) for each, name in NAMES.items()],
        "found": found,
        "blocks": blocks(found.versions),
    }
    return render(request, "scorers/evaluation.html", context)
