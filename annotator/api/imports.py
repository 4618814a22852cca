"""Solutions in: a file is handed over, a worker imports it, and its state can be asked for."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse, Http404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotator.actions import access, import_jobs, uploads
from annotator.actions.access import Actor, Verb
from annotator.actions.import_jobs import NoSuchImport
from annotator.actions.import_rows import LabelsAs
from annotator.actions.tokens import Scope
from annotator.actions.uploads import Choices
from annotator.api import examples
from annotator.api.described import refusals
from annotator.api.shapes import ImportShape, ImportStateShape
from annotator.api.signing_in import actor_in
from annotator.api.throttles import PerPerson, WholeFiles
from annotator.models import ImportBatch
from annotator.queries.imports import batch_in, shown

KEY = "Idempotency-Key"
MAX_KEY = 200
_KEY = OpenApiParameter(
    KEY,
    {"type": "string", "maxLength": MAX_KEY},
    OpenApiParameter.HEADER,
    description="A name of your own for this request: the same one again gets the import that it began.",
)
_LOCATION = OpenApiParameter(
    "Location",
    OpenApiTypes.URI_REF,
    OpenApiParameter.HEADER,
    response=[202],
    description="Where the import's state is told.",
)


class Imports(APIView):
    """Solutions from a file."""

    scope = Scope.IMPORT
    parser_classes = [MultiPartParser]
    throttle_classes = [PerPerson, WholeFiles]

    @extend_schema(
        operation_id="import_solutions",
        parameters=[_KEY, _LOCATION],
        request={"multipart/form-data": ImportShape},
        responses={202: ImportStateShape, **refusals(400, 413, 415, 422)},
        examples=examples.reply({**examples.IMPORT, **examples.WAITING}, "202"),
        tags=["files"],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Hand a file to the workers; ask at Location how far it is. Good rows are kept, bad ones are named; the same
        file again adds nothing. 422 where its format isn't told, or the key came before with another file.
        """
        actor = actor_in(request, slug)
        access.require(actor, Verb.IMPORT)
        key = request.headers.get(KEY, "")
        if len(key) > MAX_KEY or not key.isprintable():
            raise ValidationError({KEY: [f"At most {MAX_KEY} printable characters."]})
        sent = ImportShape(data=request.data)
        sent.is_valid(raise_exception=True)
        asked = sent.validated_data
        upload = uploads.keep(actor=actor, blocks=asked["file"].chunks(), filename=asked["file"].name)
        choices = Choices(asked["format"], LabelsAs(asked["labels"]), asked["segment"], asked["overwrite"])
        batch = import_jobs.start_once(actor=actor, upload=upload, choices=choices, idempotency_key=key)
        return Response(
            _state(batch), 202, headers={"Location": reverse("api_import", args=[slug, batch.pk])}
        )


class Import(APIView):
    """One import."""

    scope = Scope.IMPORT

    @extend_schema(
        operation_id="import_state",
        responses={200: ImportStateShape, **refusals(400)},
        examples=examples.reply(examples.IMPORT),
        tags=["files"],
    )
    def get(self, request: Request, slug: str, batch_id: int) -> Response:
        """How far it is. It is over when ``state`` is done or cancelled."""
        return Response(_state(_batch(request, slug, batch_id)[1]))


class _Steer(APIView):
    """Asks something of an import."""

    scope = Scope.IMPORT
    parser_classes: list[Any] = []


class Pause(_Steer):
    """A halt for now."""

    @extend_schema(
        operation_id="pause_import",
        request=None,
        responses={200: ImportStateShape, **refusals(400, 409)},
        tags=["files"],
    )
    def post(self, request: Request, slug: str, batch_id: int) -> Response:
        """Stop before the next rows; what was written stays. 409 where nothing is left to pause."""
        actor = actor_in(request, slug)
        return Response(_state(import_jobs.pause(actor=actor, batch_id=batch_id)))


class Resume(_Steer):
    """On with it."""

    @extend_schema(
        operation_id="resume_import",
        request=None,
        responses={200: ImportStateShape, **refusals(400, 409)},
        tags=["files"],
    )
    def post(self, request: Request, slug: str, batch_id: int) -> Response:
        """Go on behind the last row that was written. 409 where it is over or with a worker."""
        actor = actor_in(request, slug)
        return Response(_state(import_jobs.resume(actor=actor, batch_id=batch_id)))


class Cancel(_Steer):
    """No more of it."""

    @extend_schema(
        operation_id="cancel_import",
        request=None,
        responses={200: ImportStateShape, **refusals(400, 409)},
        tags=["files"],
    )
    def post(self, request: Request, slug: str, batch_id: int) -> Response:
        """Stop for good; what was written stays. 409 where it is over."""
        actor = actor_in(request, slug)
        return Response(_state(import_jobs.cancel(actor=actor, batch_id=batch_id)))


class Rejected(APIView):
    """What was not imported."""

    scope = Scope.IMPORT
    throttle_classes = [PerPerson, WholeFiles]

    @extend_schema(
        operation_id="rejected_rows",
        responses={
            (200, "application/jsonl"): OpenApiResponse(
                OpenApiTypes.STR, description="One rejected row a line."
            ),
            **refusals(400),
        },
        tags=["files"],
    )
    def get(self, request: Request, slug: str, batch_id: int) -> FileResponse:
        """The rejected rows with their reasons under ``_rejected``: mend them and import the file again. 404 where
        there are none.
        """
        _, batch = _batch(request, slug, batch_id)
        path = uploads.rejected_path(batch.pk)
        if not path.exists():
            raise Http404
        name = f"{slug}-import-{batch.pk}-rejected.jsonl"
        return FileResponse(
            path.open("rb"), as_attachment=True, filename=name, content_type="application/jsonl"
        )


def _batch(request: Request, slug: str, batch_id: int) -> tuple[Actor, ImportBatch]:
    """An import of the person's project. Raises NotAMember, NotAllowed, NoSuchImport."""
    actor = actor_in(request, slug)
    access.require(actor, Verb.IMPORT)
    batch = batch_in(actor.project_id, batch_id)
    if batch is None:
        raise NoSuchImport
    return actor, batch


def _state(batch: ImportBatch) -> Any:
    told = shown(batch)
    return ImportStateShape(
        {"batch": batch, "percent": told.percent, "on_benchmarks": told.on_benchmarks}
    ).data
