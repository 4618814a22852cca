"""Pictures of problems: kept for the rows that name them, and given to those who judge."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotator.actions import access, pictures
from annotator.actions.access import Verb
from annotator.actions.tokens import Scope
from annotator.api.described import refusals
from annotator.api.signing_in import actor_in
from annotator.api.throttles import PerPerson, WholeFiles
from annotator.core.pictures import MAX_BYTES, kept_name
from annotator.queries.pictures import picture


class PictureSentShape(serializers.Serializer[object]):
    """A PNG, JPEG, WebP or GIF."""

    file = serializers.FileField()


class PictureShape(serializers.Serializer[object]):
    """A kept picture; ``src`` is how a row names it under ``problem.images``."""

    src = serializers.CharField()
    sha256 = serializers.CharField()
    width = serializers.IntegerField()
    height = serializers.IntegerField()
    size = serializers.IntegerField()


class Pictures(APIView):
    """A picture in."""

    scope = Scope.IMPORT
    parser_classes = [MultiPartParser]
    throttle_classes = [PerPerson, WholeFiles]

    @extend_schema(
        operation_id="keep_picture",
        request={"multipart/form-data": PictureSentShape},
        responses={200: PictureShape, **refusals(400, 415, 422)},
        tags=["files"],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Keep a picture, written anew as PNG without metadata. The same picture again is the same one."""
        actor = actor_in(request, slug)
        access.require(actor, Verb.IMPORT)
        sent = PictureSentShape(data=request.data)
        sent.is_valid(raise_exception=True)
        kept = pictures.keep(actor=actor, data=sent.validated_data["file"].read(MAX_BYTES + 1))
        named = ("sha256", "width", "height", "size")
        return Response({"src": kept_name(kept.sha256), **{name: getattr(kept, name) for name in named}})


class Picture(APIView):
    """A picture out."""

    scope = Scope.LABEL

    @extend_schema(
        operation_id="picture",
        responses={
            (200, "image/png"): OpenApiResponse(OpenApiTypes.BINARY, description="The picture."),
            **refusals(404),
        },
        tags=["work"],
    )
    def get(self, request: Request, slug: str, sha256: str) -> HttpResponse:
        """One picture of the project's problems."""
        found = picture(actor_in(request, slug).project_id, sha256)
        if found is None:
            raise Http404
        response = HttpResponse(found.data, content_type=found.media_type)
        response["Cache-Control"] = "private, max-age=31536000, immutable"
        response["X-Content-Type-Options"] = "nosniff"
        return response
