"""Whole files: labels out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from annotator.actions import access, exports
from annotator.actions.access import Verb
from annotator.actions.exports import Recipe
from annotator.actions.tokens import Scope
from annotator.api.described import refusals
from annotator.api.shapes import ExportAsked
from annotator.api.signing_in import actor_in
from annotator.api.throttles import PerPerson, WholeFiles
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy
from annotator.queries.exports import LabelsFrom, Only

BLOCK = 64 * 1024


class Export(APIView):
    """Labels as a file."""

    scope = Scope.EXPORT
    throttle_classes = [PerPerson, WholeFiles]

    @extend_schema(
        operation_id="export_labels",
        parameters=[ExportAsked],
        responses={
            (200, "application/jsonl"): OpenApiResponse(
                OpenApiTypes.STR, description="One JSON object a line."
            ),
            **refusals(400, 422),
        },
        tags=["files"],
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """The labels, streamed. 422 where neutral labels exist, the format has none, and ``neutral`` is missing."""
        actor = actor_in(request, slug)
        access.require(actor, Verb.EXPORT)
        export = exports.start(actor=actor, recipe=_recipe(ExportAsked.read(request.query_params)))
        response = StreamingHttpResponse(_blocks(iter(export)), content_type="application/jsonl")
        name = f"{actor.slug}-{export.codec.name}-{timezone.now():%Y%m%d-%H%M}.jsonl"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        response["Cache-Control"] = "no-store"
        return response


def _recipe(asked: dict[str, Any]) -> Recipe:
    neutral, after = asked.get("neutral"), asked.get("after_first_error")
    return Recipe(
        format=asked["format"],
        labels=LabelsFrom(asked["labels"]),
        neutral=NeutralPolicy(neutral) if neutral else None,
        after_first_error=AfterFirstErrorPolicy(after) if after else None,
        include_gold=bool(asked["include_gold"]),
        holdout=asked.get("holdout"),
        only=Only(asked.get("split"), asked.get("domain", ""), asked.get("since"), asked.get("until")),
    )


def _blocks(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Lines joined to larger writes."""
    block: list[bytes] = []
    held = 0
    for line in lines:
        block.append(line)
        held += len(line)
        if held >= BLOCK:
            yield b"".join(block)
            block, held = [], 0
    if block:
        yield b"".join(block)
