"""The history of exports: files that workers made, manifests, recipes, and what changed between two."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
from django.contrib import messages
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import access, export_files, export_recipes
from annotator.actions.access import Actor, Verb
from annotator.actions.export_files import NoSuchFile
from annotator.actions.export_recipes import NoSuchRecipe
from annotator.core.export_diff import CHANGE_FIELDS, Change, labels_of
from annotator.queries.export_runs import NotComparable, changes, difference, run_in
from annotator.queries.projects import project_of
from annotator.web import params, tables
from annotator.web.doors import member
from annotator.web.exports import described, shown_history

LINES_AT_ONCE = 500


@require_safe
@never_cache
@member
def live(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The history alone, while a worker makes a file."""
    access.require(actor, Verb.EXPORT)
    context = {"project": project_of(actor.project_id), **shown_history(actor)}
    return render(request, "exports/_history.html", context)


@require_safe
@member
def file(request: HttpRequest, actor: Actor, run_id: int) -> HttpResponseBase:
    """A file that a worker made, for those who may export, until it expires."""
    try:
        made = export_files.file_of(actor=actor, run_id=run_id)
    except NoSuchFile as error:
        raise Http404(str(error)) from None
    response = FileResponse(
        made.path.open("rb"), as_attachment=True, filename=made.name, content_type=made.media_type
    )
    response["Cache-Control"] = "no-store"
    return response


@require_safe
@member
def manifest(request: HttpRequest, actor: Actor, run_id: int, what: str) -> HttpResponse:
    """What an export held when it was made: its manifest, or its card."""
    access.require(actor, Verb.EXPORT)
    run = run_in(actor.project_id, run_id)
    if run is None or not run.manifest:
        raise Http404("There is no such export, or it was never finished.")
    return described(run.manifest, f"{actor.slug}-{run.format}-{run.pk}", as_card=what == "card")


@require_POST
@member
def delete_recipe(request: HttpRequest, actor: Actor, recipe_id: int) -> HttpResponse:
    """Forget choices that were kept."""
    try:
        export_recipes.delete(actor=actor, recipe_id=recipe_id)
        messages.success(request, _("The recipe is deleted; what was exported with it stays in the history."))
    except NoSuchRecipe as error:
        messages.error(request, str(error))
    return redirect("exports", actor.slug)


@require_safe
@never_cache
@member
def diff(request: HttpRequest, actor: Actor) -> HttpResponseBase:
    """What changed from one export to another: counted, the first changes shown, all of them as a file."""
    access.require(actor, Verb.EXPORT)
    asked = params.known(request, {"a", "b", "as"})
    before, after = params.number(asked.get("a")), params.number(asked.get("b"))
    if before is None or after is None:
        raise Http404("Choose two exports.")
    name = f"{actor.slug}-changes-{before}-{after}"
    try:
        if "as" in asked:
            found = changes(project_id=actor.project_id, before=before, after=after)
            return _file(found, name, params.one_of(asked["as"], {"jsonl", "csv"}, "jsonl"))
        shown = difference(project_id=actor.project_id, before=before, after=after)
    except NotComparable as error:
        raise Http404(str(error)) from None
    context = {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "diff": shown,
        "both": [shown.before, shown.after],
        "changes": list(map(_shown, shown.shown)),
    }
    return render(request, "export_diff.html", context)


def _shown(change: Change) -> tuple[Change, int | None, list[int | None] | None, list[int | None] | None]:
    """A change, its step as people count, and both sides as labels."""
    of_step = change.step is not None
    before, after = (labels_of(side, step=of_step) for side in (change.before, change.after))
    return change, None if change.step is None else change.step + 1, before, after


def _file(found: Iterator[Change], name: str, kind: str) -> StreamingHttpResponse:
    if kind == "csv":
        rows = ([change.what.value, *change[1:]] for change in found)
        return tables.download(f"{name}.csv", ["change", *CHANGE_FIELDS], rows)
    response = StreamingHttpResponse(_lines(found), content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{name}.jsonl"'
    response["Cache-Control"] = "no-store"
    return response


def _lines(found: Iterator[Change]) -> Iterator[bytes]:
    block: list[bytes] = []
    for change in found:
        block.append(orjson.dumps(change.to_json(), option=orjson.OPT_APPEND_NEWLINE))
        if len(block) >= LINES_AT_ONCE:
            yield b"".join(block)
            block = []
    yield b"".join(block)
