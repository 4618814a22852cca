"""Downloading labels, and the hours they took."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotator.actions import access, exports
from annotator.actions.access import Actor, Verb
from annotator.actions.export_choices import Recipe
from annotator.core.codecs import CODECS
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy
from annotator.models import Split
from annotator.queries.exports import LabelsFrom, Only
from annotator.queries.hours import HoursRow
from annotator.queries.hours import hours as hours_of
from annotator.queries.projects import project_of
from annotator.queries.summary import domains, export_summary
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
    name = f"{actor.slug}-{export.codec.name}-{timezone.now():%Y%m%d-%H%M}.jsonl"
    response = StreamingHttpResponse(_blocks(iter(export)), content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response


@require_safe
@member
def manifest(request: HttpRequest, actor: Actor) -> HttpResponseBase:
    """What the same choice would download, as JSON or with ``as=card`` as a dataset card in Markdown."""
    access.require(actor, Verb.EXPORT)
    try:
        recipe = _recipe(request)
        export = exports.start(actor=actor, recipe=recipe)
    except ValueError as error:
        return _page(request, actor, error=str(error), status=422)
    for _line in export:  # its counts and its hash are those of the whole file
        pass
    said = exports.manifest_of(actor=actor, recipe=recipe, export=export)
    name = f"{actor.slug}-{export.codec.name}"
    if request.GET.get("as") == "card":
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
    response = StreamingHttpResponse(
        _blocks(_csv(hours_of(actor.project_id))), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="{actor.slug}-hours-{timezone.now():%Y%m%d}.csv"'
    response["Cache-Control"] = "no-store"
    return response


class _Line:
    """A file that csv can write to, and that hands back what it was given."""

    def write(self, text: str) -> str:
        return text


def _csv(rows: Iterable[HoursRow]) -> Iterator[bytes]:
    writer = csv.writer(_Line())
    yield str(writer.writerow(["pseudonym", "day", "solutions", "steps", "hours"])).encode()
    for row in rows:
        cells = [
            _harmless(row.pseudonym),
            row.day.isoformat(),
            row.solutions,
            row.steps,
            f"{row.hours:.3f}",
        ]
        yield str(writer.writerow(cells)).encode()


def _harmless(text: str) -> str:
    """Text that a spreadsheet shows and doesn't run: what would begin a formula gets an apostrophe in front."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r", "\n"} else text


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
        only=Only(
            split=Split(form["split"]).value if form.get("split") else None,
            domain=form.get("domain", ""),
            since=date.fromisoformat(form["since"]) if form.get("since") else None,
            until=date.fromisoformat(form["until"]) if form.get("until") else None,
        ),
    )


def _page(request: HttpRequest, actor: Actor, error: str = "", status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "formats": [(name, LABELS.get(name, name)) for name in CODECS],
        "summary": export_summary(actor.project_id),
        "chosen": request.GET.dict(),
        "domains": domains(actor.project_id),
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
