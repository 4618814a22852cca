"""Downloading labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotator.actions import access, exports
from annotator.actions.access import Actor, Verb
from annotator.actions.exports import Recipe
from annotator.core.codecs import CODECS
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy
from annotator.models import Project
from annotator.queries.exports import LabelsFrom
from annotator.queries.summary import export_summary
from annotator.web.doors import member

LABELS = {
    "native": "Native JSONL, with everything",
    "trl": "TRL stepwise supervision",
    "processbench": "ProcessBench",
}


@require_safe
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Choose a format and what goes into it."""
    access.require(actor, Verb.EXPORT)
    return _page(request, actor)


@require_safe
@member
def download(request: HttpRequest, actor: Actor) -> HttpResponseBase:
    """The labels, streamed. A choice that can't be carried out comes back to the form with the reason."""
    access.require(actor, Verb.EXPORT)
    try:
        export = exports.start(actor=actor, recipe=_recipe(request))
    except ValueError as error:
        return _page(request, actor, error=str(error), status=422)
    slug = Project.objects.values_list("slug", flat=True).get(pk=actor.project_id)
    name = f"{slug}-{export.codec.name}-{timezone.now():%Y%m%d-%H%M}.jsonl"
    response = StreamingHttpResponse(_blocks(iter(export)), content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response


def _recipe(request: HttpRequest) -> Recipe:
    """The form's fields. Raises ValueError for a value that no field of the page offers."""
    form = request.GET
    return Recipe(
        format=form.get("format", "native"),
        labels=LabelsFrom(form.get("labels", LabelsFrom.CONSENSUS)),
        neutral=NeutralPolicy(form["neutral"]) if form.get("neutral") else None,
        after_first_error=AfterFirstErrorPolicy(form["after_first_error"])
        if form.get("after_first_error")
        else None,
        include_gold=bool(form.get("include_gold")),
    )


def _page(request: HttpRequest, actor: Actor, error: str = "", status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "project": Project.objects.get(pk=actor.project_id),
        "formats": [(name, LABELS.get(name, name)) for name in CODECS],
        "summary": export_summary(actor.project_id),
        "chosen": request.GET.dict(),
        "error": error,
    }
    return render(request, "exports.html", context, status=status)


def _blocks(lines: Iterator[bytes], size: int = 64 * 1024) -> Iterator[bytes]:
    """Lines joined to larger writes."""
    block: list[bytes] = []
    held = 0
    for line in lines:
        block.append(line)
        held += len(line)
        if held >= size:
            yield b"".join(block)
            block, held = [], 0
    if block:
        yield b"".join(block)
