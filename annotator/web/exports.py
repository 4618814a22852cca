"""Downloading labels, and the hours they took."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import orjson
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotator.actions import access, export_files, export_recipes, exports
from annotator.actions.access import Actor, Verb
from annotator.actions.export_choices import REFUSED, Recipe
from annotator.actions.export_recipes import CannotKeep
from annotator.core.codecs.writing import FORMATS
from annotator.queries.export_filters import LabelSource
from annotator.queries.export_runs import comparable, history, recipes
from annotator.queries.hours import hours as hours_of
from annotator.queries.projects import project_of
from annotator.queries.summary import domains, export_summary
from annotator.web import params, tables
from annotator.web.doors import member

LABELS = {
    "native": "Native JSONL, with everything",
    "trl": "TRL stepwise supervision",
    "processbench": "ProcessBench",
    "prm800k": "PRM800K",
    "math_shepherd": "Math-Shepherd (ки tags)",
    "prmbench": "PRMBench",
    "rlhflow": "RLHFlow conversations",
    "openrlhf": "OpenRLHF PRM",
    "versaprm": "VersaPRM",
    "openr": "OpenR",
    "bigbench_mistake": "BIG-Bench-Mistake",
    "mr_ben": "MR-Ben",
    "agent_messages": "Agent messages",
    "csv": gettext_lazy("CSV for analysis, one row a step"),
}

SOURCES = {
    LabelSource.HUMAN: gettext_lazy("One person"),
    LabelSource.CONSENSUS: gettext_lazy("Several people's consensus"),
    LabelSource.ADJUDICATED: gettext_lazy("A reviewer's decision"),
    LabelSource.GOLD: gettext_lazy("Gold"),
    LabelSource.IMPORTED: gettext_lazy("The file they came from"),
}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponseBase:
    """Choose a format and what goes into it. A POST does what its button says with the choices, or says why not."""
    access.require(actor, Verb.EXPORT)
    if request.method != "POST":
        return _page(request, actor, request.GET)
    form = request.POST
    try:
        return _do(request, actor, form.get("do", ""), choices(form))
    except (*REFUSED, CannotKeep) as error:
        return _page(request, actor, form, error=str(error), status=422)


def _do(request: HttpRequest, actor: Actor, what: str, given: dict[str, str]) -> HttpResponseBase:
    """Raises one of REFUSED, and CannotKeep."""
    recipe = Recipe.from_json(given)
    query = urlencode({name: value for name, value in given.items() if value})
    if what == "file":
        export_files.ask(actor=actor, recipe=recipe, recipe_id=_kept_as(actor, recipe))
        messages.success(request, _("A worker makes the file; this page follows it."))
        return redirect(reverse("exports", args=[actor.slug]) + "#history")
    if what == "save":
        kept = export_recipes.save(actor=actor, name=request.POST.get("recipe_name", ""), recipe=recipe)
        messages.success(request, _("These choices are kept as “%(name)s”.") % {"name": kept.name})
        return redirect(f"{reverse('exports', args=[actor.slug])}?{query}")
    exports.start(
        actor=actor, recipe=recipe, keep=False
    )  # refused here, beside the choices, rather than there
    if what in {"manifest", "card"}:
        return redirect(f"{reverse('export_manifest', args=[actor.slug])}?{query}&as={what}")
    return redirect(f"{reverse('export_download', args=[actor.slug])}?{query}")


def _kept_as(actor: Actor, recipe: Recipe) -> int | None:
    """The recipe that these choices are, where they are one's."""
    same = [each.id for each in recipes(actor.project_id) if each.options == recipe.to_json()]
    return same[0] if same else None


@require_safe
@member
def download(request: HttpRequest, actor: Actor) -> HttpResponseBase:
    """The labels, streamed. A choice that can't be carried out comes back to the form with the reason."""
    access.require(actor, Verb.EXPORT)
    try:
        recipe = Recipe.from_json(choices(request.GET))
        # A HEAD takes no line, so it would leave an export that never ends in the history.
        keep = request.method != "HEAD"
        export = exports.start(actor=actor, recipe=recipe, keep=keep, recipe_id=_kept_as(actor, recipe))
    except REFUSED as error:
        return _page(request, actor, request.GET, error=str(error), status=422)
    name = f"{actor.slug}-{export.codec.name}-{timezone.now():%Y%m%d-%H%M}.{export.extension}"
    response = StreamingHttpResponse(export.blocks(), content_type=export.media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response


@require_safe
@member
def manifest(request: HttpRequest, actor: Actor) -> HttpResponseBase:
    """What the same choice would download, as JSON or with ``as=card`` as a dataset card in Markdown."""
    access.require(actor, Verb.EXPORT)
    try:
        recipe = Recipe.from_json(choices(request.GET))
        export = exports.start(actor=actor, recipe=recipe, keep=False)
    except REFUSED as error:
        return _page(request, actor, request.GET, error=str(error), status=422)
    for _line in export:  # its counts and its hash are those of the whole file
        pass
    said = exports.manifest_of(actor=actor, recipe=recipe, export=export)
    return described(said, f"{actor.slug}-{export.codec.name}", as_card=request.GET.get("as") == "card")


def described(said: dict[str, Any], name: str, *, as_card: bool) -> HttpResponse:
    """A manifest as a file, or its card."""
    if as_card:
        response = HttpResponse(said["card"], content_type="text/markdown; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{name}.md"'
    else:
        body = orjson.dumps(said, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        response = HttpResponse(body, content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="{name}-manifest.json"'
    response["Cache-Control"] = "no-store"
    return response


@require_safe
@member
def hours(request: HttpRequest, actor: Actor) -> HttpResponseBase:
    """Everybody's solutions, steps and active hours by day, as CSV, streamed."""
    access.require(actor, Verb.MANAGE)
    return tables.download(
        f"{actor.slug}-hours-{timezone.now():%Y%m%d}.csv",
        ["pseudonym", "day", "solutions", "steps", "hours"],
        (
            [row.pseudonym, row.day.isoformat(), row.solutions, row.steps, f"{row.hours:.3f}"]
            for row in hours_of(actor.project_id)
        ),
    )


def choices(form: QueryDict) -> dict[str, str]:
    """The form's fields, each as one text: boxes that were ticked under one name are apart by commas."""
    return {name: ",".join(values) for name, values in form.lists() if name not in NO_CHOICES}


#: What the page calls the choices that are typed; an error begins with a choice's own name.
TYPED = {
    "split_by_problem": gettext_lazy("Shares"),
    "seed": gettext_lazy("Seed"),
    "since": gettext_lazy("Labelled since"),
    "until": gettext_lazy("Labelled until"),
    "min_people": gettext_lazy("People at least"),
    "min_agreement": gettext_lazy("Agreement at least"),
    "min_posterior": gettext_lazy("Posterior at least"),
    "people": gettext_lazy("Labelled by"),
    "licence": gettext_lazy("Licence"),
}
NO_CHOICES = frozenset({"csrfmiddlewaretoken", "do", "recipe_name", "before", "as"})


def _page(
    request: HttpRequest, actor: Actor, form: QueryDict, error: str = "", status: int = 200
) -> HttpResponse:
    chosen = choices(form)
    context: dict[str, Any] = {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "formats": [(name, LABELS.get(name, name)) for name in FORMATS],
        "summary": export_summary(actor.project_id),
        "chosen": chosen,
        "chosen_sources": chosen.get("sources", "").split(","),
        "source_choices": [(each.value, said) for each, said in SOURCES.items()],
        "domains": domains(actor.project_id),
        "recipes": [
            (each, urlencode({name: _text(value) for name, value in each.options.items()}))
            for each in recipes(actor.project_id)
        ],
        "error": _as_named_here(error),
        **shown_history(actor, params.number(request.GET.get("before"))),
    }
    return render(request, "exports.html", context, status=status)


def _as_named_here(error: str) -> str:
    name, space, rest = error.partition(" ")
    return f"“{TYPED[name]}”{space}{rest}" if name in TYPED else error


def shown_history(actor: Actor, before: int | None = None) -> dict[str, Any]:
    """What was exported, which files can still be had, and what can be compared."""
    past = history(actor.project_id, before=before)
    return {
        "history": past,
        "files": {each.id for each in past.runs if export_files.is_there(each.row)},
        "comparable": comparable(actor.project_id),
        "kept_days": export_files.KEPT.days,
    }


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else ""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
