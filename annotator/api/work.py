"""Judging by program: the next solution, a draft, a submit, a skip."""

from __future__ import annotations

import uuid
from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotator.actions import labeling, queueing
from annotator.actions.queueing import NothingForYou
from annotator.actions.tokens import Scope
from annotator.api import examples
from annotator.api.described import REASON, refusals
from annotator.api.shapes import (
    AssignmentShape,
    DraftShape,
    NextAsked,
    SavedShape,
    SkipShape,
    SubmitShape,
    SubmittedShape,
)
from annotator.api.signing_in import actor_in, actor_of
from annotator.queries.handed_out import handed_out, told_as_counted

REASON_HEADER = "Stepmark-Reason"


class Next(APIView):
    """The person's live assignment, else a new claim."""

    scope = Scope.LABEL

    @extend_schema(
        operation_id="next_assignment",
        request=None,
        parameters=[NextAsked, REASON],
        responses={200: AssignmentShape, 204: None, **refusals(400)},
        examples=examples.reply(examples.HANDED_OUT),
        tags=["labeling"],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Claim the next solution. 204 with the header Stepmark-Reason where there is none now."""
        actor = actor_in(request, slug)
        asked = NextAsked.read(request.query_params)
        try:
            assignment = queueing.next_assignment(actor=actor, after=asked.get("after"))
        except NothingForYou as nothing:
            return Response(status=204, headers={REASON_HEADER: nothing.reason})
        return Response(AssignmentShape(asdict(handed_out(assignment.pk))).data)


class Draft(APIView):
    """Unfinished work."""

    scope = Scope.LABEL

    @extend_schema(
        operation_id="save_draft",
        request=DraftShape,
        responses={200: SavedShape, **refusals(400, 409, 413, 415, 422)},
        examples=[*examples.request({**examples.DRAFT, "version": 2}), *examples.reply({"version": 3})],
        tags=["labeling"],
    )
    def put(self, request: Request, assignment_id: uuid.UUID) -> Response:
        """Keep a draft and renew the lease. 409 with ``current`` where a newer one exists."""
        actor = actor_of(request, assignment_id)
        sent = DraftShape(data=request.data)
        sent.is_valid(raise_exception=True)
        version = labeling.save_draft(
            actor=actor,
            assignment_id=assignment_id,
            work=sent.work(),
            version=sent.validated_data["version"],
        )
        return Response({"version": version})


class Submit(APIView):
    """Finished work."""

    scope = Scope.LABEL

    @extend_schema(
        operation_id="submit",
        request=SubmitShape,
        responses={200: SubmittedShape, **refusals(400, 409, 413, 415, 422)},
        examples=[*examples.request(examples.SUBMIT), *examples.reply(examples.SUBMITTED)],
        tags=["labeling"],
    )
    def post(self, request: Request, assignment_id: uuid.UUID) -> Response:
        """Hand in labels and get the next solution. The same client_id again gets the same annotation."""
        actor = actor_of(request, assignment_id)
        sent = SubmitShape(data=request.data)
        sent.is_valid(raise_exception=True)
        done = labeling.submit(
            actor=actor,
            assignment_id=assignment_id,
            work=sent.work(),
            client_id=sent.validated_data["client_id"],
        )
        # Two transactions, as on the page: a submit stands whether or not there is a next one.
        following, nothing = None, None
        try:
            following = asdict(handed_out(queueing.next_assignment(actor=actor).pk))
        except NothingForYou as none_left:
            nothing = none_left.reason
        body = {
            "annotation": done.annotation_id,
            "counted": told_as_counted(done.annotation_id),
            "next": following,
            "nothing": nothing,
        }
        return Response(SubmittedShape(body).data)


class Skip(APIView):
    """Somebody else's turn."""

    scope = Scope.LABEL

    @extend_schema(
        operation_id="skip",
        request=SkipShape,
        responses={204: None, **refusals(400, 409, 413, 415, 422)},
        examples=examples.request({"reason": "I don't know enough of knot theory."}),
        tags=["labeling"],
    )
    def post(self, request: Request, assignment_id: uuid.UUID) -> Response:
        """Pass a solution on, with a reason; it doesn't come back to this person."""
        actor = actor_of(request, assignment_id)
        sent = SkipShape(data=request.data)
        sent.is_valid(raise_exception=True)
        labeling.skip(actor=actor, assignment_id=assignment_id, reason=sent.validated_data["reason"])
        return Response(status=204)
