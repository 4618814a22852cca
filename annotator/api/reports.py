"""What was labelled, and how far it can be trusted."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta

from django.core.signing import BadSignature, Signer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotator.actions import access, quality
from annotator.actions.access import Verb
from annotator.actions.tokens import Scope
from annotator.api import examples
from annotator.api.described import refusals
from annotator.api.shapes import AllAnnotationsAsked, AnnotationsAsked, AnnotationsShape
from annotator.api.signing_in import actor_in
from annotator.queries.annotations import Wanted, page
from annotator.queries.projects import project_of
from annotator.queries.quality.plain import values

#: As on the page: a report that labels have outdated is shown for so long while a worker computes the next.
PATIENCE = timedelta(seconds=60)
_cursors = Signer(salt="annotator.api.annotations")


class Annotations(APIView):
    """Current annotations, the newest first."""

    scope = Scope.READ

    @extend_schema(
        operation_id="annotations",
        parameters=[AllAnnotationsAsked],
        responses={200: AnnotationsShape, **refusals(400)},
        examples=examples.reply(examples.ANNOTATIONS),
        tags=["reading"],
    )
    def get(self, request: Request, slug: str) -> Response:
        """Mine; for a manager: everybody's, also by ``annotator``. Practice is not among them."""
        actor = actor_in(request, slug)
        sees_all = access.may(actor, Verb.MANAGE)
        asked = (AllAnnotationsAsked if sees_all else AnnotationsAsked).read(request.query_params)
        cursor, limit = asked.pop("cursor", None), asked.pop("limit")
        wanted = Wanted(project_id=actor.project_id, member_id=None if sees_all else actor.member, **asked)
        found = page(wanted, after=_read(cursor), limit=limit)
        body = {
            "results": [asdict(row) for row in found.rows],
            "next": None if found.after is None else _cursors.sign(str(found.after)),
        }
        return Response(AnnotationsShape(body).data)


class Quality(APIView):
    """The quality report."""

    scope = Scope.READ

    @extend_schema(
        operation_id="quality",
        responses={200: OpenApiTypes.OBJECT, **refusals(400)},
        tags=["reading"],
    )
    def get(self, request: Request, slug: str) -> Response:
        """What ``agreement --json`` prints, for managers; each figure has value, low, high, n, reason."""
        actor = actor_in(request, slug)
        access.require(actor, Verb.MANAGE)
        kept = quality.report(project=project_of(actor.project_id), patience=PATIENCE)
        return Response({"computed_at": kept.computed_at, "fresh": kept.fresh, **values(kept.report)})


def _read(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    try:
        return int(_cursors.unsign(cursor))
    except BadSignature:
        raise ValidationError({"cursor": ["Take it as it stands in `next` of the page before."]}) from None
