"""What the views' descriptions share, and the two addresses that show them."""

from __future__ import annotations

from typing import Any

from csp.decorators import csp_replace
from django.utils.decorators import method_decorator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer

from annotator.api.shapes import RefusalShape

REASON = OpenApiParameter(
    "Stepmark-Reason",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    response=[204],
    description="Why there is nothing: all_done, waiting, skills, paused, cap, enough, exam_…",
)
SAYS = {
    400: "Malformed, an unknown parameter among it.",
    401: "No token and no session, or one that is no longer good.",
    403: "The role or the token's scopes don't include this, or the CSRF token is missing.",
    404: "There is nothing here, or nothing for this person.",
    409: "Closed before, or a newer draft exists: ``current``.",
    413: "The body is over the cap.",
    415: "Not a content type of this address.",
    422: "Read, but against a rule: labels that are incomplete, a format that isn't told, a policy that is missing.",
    429: "Too many requests; Retry-After says when.",
}


def refusals(*statuses: int) -> dict[Any, OpenApiResponse]:
    """The refusals of an operation: these and those that each has."""
    listed = sorted({401, 403, 404, 429, *statuses})
    return {
        (status, "application/problem+json"): OpenApiResponse(RefusalShape, description=SAYS[status])
        for status in listed
    }


class Schema(SpectacularAPIView):
    """OpenAPI 3.1, for programs that make clients and for the page below."""

    authentication_classes = []
    permission_classes = [AllowAny]
    renderer_classes = [JSONRenderer]
    throttle_classes = []


@method_decorator(
    # Swagger's own sheet and script come from here; it draws with images of its own that are part of the sheet.
    csp_replace({"img-src": ["'self'", "data:"], "style-src": ["'self'"], "script-src": ["'self'"]}),
    name="dispatch",
)
class Docs(SpectacularSwaggerSplitView):
    """The description to read and to try; signed in, it works with the session."""

    authentication_classes = []
    permission_classes = [AllowAny]
    throttle_classes = []
    template_name = "api/docs.html"
