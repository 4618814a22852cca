"""Whole files: labels out."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse, Http404, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotator import models
from annotator.actions import access, export_files, exports
from annotator.actions.access import Actor, Verb
from annotator.actions.export_choices import Recipe
from annotator.actions.export_files import NoSuchFile
from annotator.actions.tokens import Scope
from annotator.api.described import refusals
from annotator.api.shapes import ExportAsked, ExportShape
from annotator.api.signing_in import actor_in
from annotator.api.throttles import PerPerson, WholeFiles
from annotator.queries.export_runs import run_in


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
            (200, "text/csv"): OpenApiResponse(
                OpenApiTypes.STR, description="With format csv: a row a step."
            ),
            **refusals(400, 422),
        },
        tags=["files"],
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """The labels, streamed. 422 where neutral labels exist, the format has none, and ``neutral`` is missing."""
        actor = actor_in(request, slug)
        access.require(actor, Verb.EXPORT)
        export = exports.start(actor=actor, recipe=Recipe.from_json(ExportAsked.read(request.query_params)))
        response = StreamingHttpResponse(export.blocks(), content_type=export.media_type)
        name = f"{actor.slug}-{export.codec.name}-{timezone.now():%Y%m%d-%H%M}.{export.extension}"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        response["Cache-Control"] = "no-store"
        return response


class Exports(APIView):
    """Labels as a file that a worker makes."""

    scope = Scope.EXPORT
    throttle_classes = [PerPerson, WholeFiles]

    @extend_schema(
        operation_id="ask_for_export",
        request=ExportAsked,
        responses={202: ExportShape, **refusals(400, 415, 422)},
        tags=["files"],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Have a worker make the file; ``Location`` says where to ask how far it is."""
        actor = actor_in(request, slug)
        access.require(actor, Verb.EXPORT)
        asked = ExportAsked(data=request.data)
        asked.is_valid(raise_exception=True)
        run = export_files.ask(actor=actor, recipe=asked.recipe())
        where = reverse("api_export_run", args=[actor.slug, run.pk])
        return Response(_shape(actor, run), status=202, headers={"Location": where})


class ExportRun(APIView):
    """One export that a worker makes, or any other of the history."""

    scope = Scope.EXPORT

    @extend_schema(operation_id="export_state", responses={200: ExportShape, **refusals(404)}, tags=["files"])
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        """How far it is; ``file`` once it is done."""
        actor = actor_in(request, slug)
        access.require(actor, Verb.EXPORT)
        run = run_in(actor.project_id, run_id)
        if run is None:
            raise Http404
        return Response(_shape(actor, run))


class ExportFile(APIView):
    """The file of an export that a worker made."""

    scope = Scope.EXPORT
    throttle_classes = [PerPerson, WholeFiles]

    @extend_schema(
        operation_id="export_file",
        responses={
            (200, "application/jsonl"): OpenApiResponse(
                OpenApiTypes.STR, description="One JSON object a line."
            ),
            **refusals(404),
        },
        tags=["files"],
    )
    def get(self, request: Request, slug: str, run_id: int) -> FileResponse:
        """The file, until it expires."""
        try:
            made = export_files.file_of(actor=actor_in(request, slug), run_id=run_id)
        except NoSuchFile as error:
            raise Http404(str(error)) from None
        response = FileResponse(
            made.path.open("rb"), as_attachment=True, filename=made.name, content_type=made.media_type
        )
        response["Cache-Control"] = "no-store"
        return response


def _shape(actor: Actor, run: models.ExportRun) -> dict[str, Any]:
    there = export_files.is_there(run)
    where = reverse("api_export_file", args=[actor.slug, run.pk]) if there else None
    named = ("state", "format", "written", "size", "sha256", "error")
    return {"id": run.pk, **{name: getattr(run, name) for name in named}, "file": where}
