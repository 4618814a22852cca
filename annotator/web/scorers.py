"""The scorers of a project, for managers: how they are, whether they can be trusted, and what fills the queue."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import access, scorers, second_pass
from annotator.actions.access import Actor, Verb
from annotator.actions.scorers import NoSuchScorer, NoSuchSolution, Refused, Unanswered
from annotator.queries.projects import project_of
from annotator.queries.scorer_blocks import blocks
from annotator.queries.scorer_report import comparison
from annotator.queries.scorers import overview
from annotator.web.doors import member
from annotator.web.form_scorers import OWN, ConfigForm, FillingForm, NewScorerForm
from annotator.web.form_second_pass import SecondPassForm


def _known(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """A scorer of another project is none."""

    @wraps(view)
    def guarded(request: HttpRequest, actor: Actor, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, actor, **kwargs)
        except NoSuchScorer:
            raise Http404("There is no such scorer.") from None

    return guarded


@require_safe
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """States, comparison, and the forms."""
    return _page(request, actor)


@require_safe
@never_cache
@member
def live(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The part of the page that moves; it asks for itself again while something is under way."""
    access.require(actor, Verb.MANAGE)
    project = project_of(actor.project_id)
    return render(request, "scorers/_live.html", {"project": project, "overview": overview(project)})


@require_POST
@member
def add(request: HttpRequest, actor: Actor) -> HttpResponse:
    """A new scorer."""
    access.require(actor, Verb.MANAGE)
    form = NewScorerForm(request.POST)
    if form.is_valid():
        try:
            made = scorers.add(
                actor=actor,
                name=form.cleaned_data["name"],
                kind=form.cleaned_data["kind"],
                config=_config(form, form.cleaned_data["kind"]),
            )
        except Refused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            messages.success(request, _("%(name)s is added and begins to score.") % {"name": made.name})
            return redirect("scorers", actor.slug)
    return _page(request, actor, {"new": form}, status=422)


@require_POST
@member
@_known
def change(request: HttpRequest, actor: Actor, scorer_id: int) -> HttpResponse:
    """Other settings for one scorer."""
    access.require(actor, Verb.MANAGE)
    kind = scorers.kind_of(actor=actor, scorer_id=scorer_id)
    form = ConfigForm(request.POST, auto_id=f"id_{scorer_id}_%s", kind=kind)
    if form.is_valid():
        try:
            names = [field.name for field, _number in form.shown()]
            scorers.change(actor=actor, scorer_id=scorer_id, config=_config(form, kind), shown=names)
        except Refused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Saved. What decides scores makes a new version."))
            return redirect("scorers", actor.slug)
    return _page(request, actor, {"changed": form}, status=422, changed_id=scorer_id)


@require_POST
@member
@_known
def act(request: HttpRequest, actor: Actor, scorer_id: int, what: str) -> HttpResponse:
    """Pause, resume, score what is missing, cancel, rank, stop ranking."""
    access.require(actor, Verb.MANAGE)
    try:
        match what:
            case "pause":
                name, said = scorers.pause(actor=actor, scorer_id=scorer_id).name, _("%(name)s is paused.")
            case "resume":
                name = scorers.resume(actor=actor, scorer_id=scorer_id).name
                said = _("%(name)s scores what is missing.")
            case "score":
                name = scorers.score_missing(actor=actor, scorer_id=scorer_id).name
                said = _("%(name)s scores what is missing.")
            case "rank":
                name = scorers.rank_by(actor=actor, scorer_id=scorer_id).name
                said = _("%(name)s orders the queue from now on.")
            case "unrank":
                name = scorers.stop_ranking(actor=actor, scorer_id=scorer_id).name
                said = _("%(name)s orders the queue no more.")
            case "cancel":
                n = scorers.cancel(actor=actor, scorer_id=scorer_id)
                name, said = "", ngettext("%(n)s job is dropped.", "%(n)s jobs are dropped.", n) % {"n": n}
            case _unknown:
                raise Http404("There is nothing of that name to do.")
    except Refused as error:
        messages.warning(request, str(error))
        return redirect("scorers", actor.slug)
    messages.success(request, said % {"name": name} if name else said)
    return redirect("scorers", actor.slug)


@require_POST
@member
def fill(request: HttpRequest, actor: Actor) -> HttpResponse:
    """What fills the queue."""
    access.require(actor, Verb.MANAGE)
    form = FillingForm(request.POST)
    if form.is_valid():
        try:
            scorers.fill_by(actor=actor, **form.values())
        except Refused as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request, _("Saved. A worker writes the new order; the present one serves meanwhile.")
            )
            return redirect("scorers", actor.slug)
    return _page(request, actor, {"filling": form}, status=422)


@require_POST
@member
@_known
def try_on(request: HttpRequest, actor: Actor, scorer_id: int) -> HttpResponse:
    """Score one solution now and show it over its steps."""
    access.require(actor, Verb.MANAGE)
    named = request.POST.get("solution", "")
    found: dict[str, Any] = {"tried_id": scorer_id, "tried_on": named}
    try:
        found["tried"] = scorers.try_on(actor=actor, scorer_id=scorer_id, solution=named)
    except (NoSuchSolution, Unanswered) as error:
        found["try_error"] = str(error)
        return _page(request, actor, found, status=422)
    return _page(request, actor, found)


@require_POST
@member
@_known
def passes(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Which scorer refines which."""
    access.require(actor, Verb.MANAGE)
    form = SecondPassForm(request.POST, scorers=overview(project_of(actor.project_id)).scorers)
    if form.is_valid():
        try:
            chosen = form.cleaned_data
            scorer = second_pass.refine(actor=actor, scorer_id=chosen["scorer"], refines_id=chosen["refines"])
        except Refused as error:
            form.add_error(None, str(error))
        else:
            said = (
                _("%(name)s refines %(first)s from now on.") % {"name": scorer.name, "first": scorer.refines}
                if scorer.refines
                else _("%(name)s refines nothing.") % {"name": scorer.name}
            )
            messages.success(request, said)
            return redirect("scorers", actor.slug)
    return _page(request, actor, {"passes": form}, status=422)


def _config(form: ConfigForm, kind: str) -> dict[str, Any]:
    """What the kind takes of what was filled in; a setting of another kind has no effect and is left out."""
    others = {name for names in OWN.values() for name in names} - set(OWN.get(kind, ()))
    return {name: value for name, value in form.config().items() if name not in others}


def _page(
    request: HttpRequest,
    actor: Actor,
    more: dict[str, Any] | None = None,
    status: int = 200,
    changed_id: int | None = None,
) -> HttpResponse:
    access.require(actor, Verb.MANAGE)
    project = project_of(actor.project_id)
    compared, seen, more = comparison(project), overview(project), more or {}
    settings = [
        (each, more["changed"])
        if each.id == changed_id
        else (each, ConfigForm(initial=dict(each.config), auto_id=f"id_{each.id}_%s", kind=each.kind))
        for each in seen.scorers
        if each.kind in OWN
    ]
    context: dict[str, Any] = {
        "project": project,
        "role": actor.role,
        "overview": seen,
        "settings": settings,
        "blocks": blocks(compared),
        "new": NewScorerForm(),
        "filling": FillingForm(initial=FillingForm.of(project)),
        "passes": SecondPassForm(scorers=seen.scorers),
    }
    return render(request, "scorers.html", context | more, status=status)
