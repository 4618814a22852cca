"""Training, for managers: who is champion and why, a run now, the rules for runs to come, the way back, and costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import access, promotion, training
from annotator.actions.access import Actor, Verb
from annotator.actions.scorers import NoSuchScorer, Refused
from annotator.queries.projects import project_of
from annotator.queries.scorers import prices_of
from annotator.queries.training import training_page
from annotator.web.doors import member
from annotator.web.form_training import PricesForm, TriggersForm


def _known(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """A scorer of another project is none; what is refused is said on the page."""

    @wraps(view)
    def guarded(request: HttpRequest, actor: Actor, **kwargs: Any) -> HttpResponseBase:
        access.require(actor, Verb.MANAGE)
        try:
            return view(request, actor, **kwargs)
        except NoSuchScorer:
            raise Http404("There is no such scorer.") from None
        except Refused as error:
            messages.warning(request, str(error))
            return redirect("training", actor.slug)

    return guarded


@require_safe
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Champions, lineage, rules, costs."""
    return _page(request, actor)


@require_safe
@never_cache
@member
def live(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The part that moves; it asks for itself again while a run is on."""
    access.require(actor, Verb.MANAGE)
    project = project_of(actor.project_id)
    return render(request, "training/_live.html", {"project": project, "seen": training_page(project)})


@require_POST
@member
@_known
def train(request: HttpRequest, actor: Actor, scorer_id: int) -> HttpResponse:
    """A run now."""
    name = training.ask(actor=actor, scorer_id=scorer_id).name
    messages.success(request, _("A worker trains %(name)s.") % {"name": name})
    return redirect("training", actor.slug)


@require_POST
@member
@_known
def cancel(request: HttpRequest, actor: Actor, scorer_id: int) -> HttpResponse:
    """Give up the run that is on."""
    if training.cancel(actor=actor, scorer_id=scorer_id):
        messages.success(request, _("The run is given up; its worker stops within seconds."))
    else:
        messages.warning(request, _("No run is on."))
    return redirect("training", actor.slug)


@require_POST
@member
@_known
def back(request: HttpRequest, actor: Actor, scorer_id: int) -> HttpResponse:
    """Go back to the version before."""
    version = promotion.roll_back(actor=actor, scorer_id=scorer_id).version
    said = _("%(version)s is in force again. The present order serves until the queue stands in its order.")
    messages.success(request, said % {"version": version})
    return redirect("training", actor.slug)


@require_POST
@member
@_known
def use(request: HttpRequest, actor: Actor, scorer_id: int, version_id: int) -> HttpResponse:
    """Put a challenger in force by one's own word."""
    version = promotion.use_anyway(actor=actor, scorer_id=scorer_id, version_id=version_id).version
    said = _("%(version)s is champion. It scores in the background while the old order serves.")
    messages.success(request, said % {"version": version})
    return redirect("training", actor.slug)


@require_POST
@member
@_known
def triggers(request: HttpRequest, actor: Actor) -> HttpResponse:
    """When scorers are trained by themselves."""
    form = TriggersForm(request.POST)
    if form.is_valid():
        training.set_triggers(actor=actor, **form.cleaned_data)
        messages.success(request, _("Saved. Somebody looks every minute whether a run is due."))
        return redirect("training", actor.slug)
    return _page(request, actor, {"triggers": form}, status=422)


@require_POST
@member
@_known
def prices(request: HttpRequest, actor: Actor, scorer_id: int) -> HttpResponse:
    """What a scorer's use costs."""
    form = PricesForm(request.POST, auto_id=f"id_{scorer_id}_%s")
    if form.is_valid():
        training.set_prices(actor=actor, scorer_id=scorer_id, prices=form.prices())
        messages.success(request, _("Saved."))
        return redirect("training", actor.slug)
    return _page(request, actor, priced=(scorer_id, form), status=422)


def _page(
    request: HttpRequest,
    actor: Actor,
    more: dict[str, Any] | None = None,
    priced: tuple[int, PricesForm] | None = None,
    status: int = 200,
) -> HttpResponse:
    access.require(actor, Verb.MANAGE)
    project = project_of(actor.project_id)
    forms = [
        (name, pk, PricesForm(initial=dict(known), auto_id=f"id_{pk}_%s"))
        if priced is None or priced[0] != pk
        else (name, pk, priced[1])
        for pk, name, known in prices_of(project)
    ]
    context: dict[str, Any] = {
        "project": project,
        "role": actor.role,
        "seen": training_page(project),
        "triggers": TriggersForm(initial=TriggersForm.of(project)),
        "prices": forms,
    }
    return render(request, "training.html", context | (more or {}), status=status)
