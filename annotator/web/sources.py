"""Sources of labels side by side: what people and scorers say, and what each costs. For reviewers and managers; costs
for managers alone."""

from __future__ import annotations

import orjson
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.queries.projects import project_of
from annotator.queries.side_by_side import side_by_side
from annotator.queries.side_by_side_blocks import COLUMNS, agreement, headline, rows
from annotator.web.doors import member
from annotator.web.tables import download


@require_safe
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Where utility and correctness part, what a label costs, and who agrees with adjudicators."""
    access.require(actor, Verb.ADJUDICATE)
    project = project_of(actor.project_id)
    found = side_by_side(project, with_costs=access.may(actor, Verb.MANAGE))
    context = {
        "project": project,
        "role": actor.role,
        "found": found,
        "headline": headline(found),
        "agreement": agreement(found),
    }
    return render(request, "scorers/sources.html", context)


@require_safe
@never_cache
@member
def steps(request: HttpRequest, actor: Actor, kind: str) -> StreamingHttpResponse:
    """Every step with people's label and its estimate, as CSV or JSONL, streamed."""
    access.require(actor, Verb.ADJUDICATE)
    project = project_of(actor.project_id)
    name = f"{project.slug}-side-by-side-{timezone.now():%Y%m%d}"
    if kind == "csv":
        return download(
            f"{name}.csv", COLUMNS, ([row[column] for column in COLUMNS] for row in rows(project))
        )
    if kind != "jsonl":
        raise Http404("There is no such file.")
    lines = (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows(project))
    response = StreamingHttpResponse(lines, content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{name}.jsonl"'
    return response
