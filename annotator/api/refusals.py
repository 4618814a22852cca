"""Errors as ``application/problem+json`` (RFC 9457), each with a ``code`` for programs and a sentence for people."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

from annotator.actions.access import NotAllowed, NotAMember
from annotator.actions.import_jobs import CannotChange, KeyReused, NoSuchImport
from annotator.actions.labeling import AlreadyClosed, NoSuchAssignment, StaleDraft
from annotator.actions.uploads import TooLarge
from annotator.core.codecs import UnknownFormat
from annotator.core.codecs.detect import FormatNotDetected
from annotator.core.codecs.policies import PolicyError
from annotator.core.labels import InvalidLabels
from annotator.core.pictures import BadPicture
from annotator.queries.export_filters import BadChoice
from annotator.queries.handed_out import draft_of

CONTENT_TYPE = "application/problem+json"
TITLES = {
    400: "The request is malformed",
    401: "Sign in first",
    403: "Not allowed",
    404: "Not found",
    405: "Not a method of this address",
    409: "Somebody was faster",
    413: "Too large",
    415: "Not a type this address reads",
    422: "The content breaks a rule",
    429: "Too many requests",
}
CLOSED = "This assignment was submitted or skipped before; ask for the next one."
NOTHING_HERE = "There is nothing here, or nothing for you."


def problem(status: int, code: str, detail: str, **more: Any) -> Response:
    """One refusal."""
    body = {"type": "about:blank", "title": TITLES[status], "status": status, "code": code, "detail": detail}
    return Response({**body, **more}, status=status, content_type=CONTENT_TYPE)


def refuse(error: Exception, context: dict[str, Any]) -> Response | None:
    """What REST framework calls for an error of a view; None lets it rise as the 500 that it is."""
    response = _ours(error)
    if response is not None:
        set_rollback()
        return response
    plain = exception_handler(error, context)
    if plain is None:
        return None
    response = _of_the_framework(error, plain.status_code)
    for header in ("WWW-Authenticate", "Retry-After"):
        if header in plain.headers:
            response[header] = plain.headers[header]
    return response


def _ours(error: Exception) -> Response | None:
    match error:
        case NotAMember() | NoSuchAssignment() | NoSuchImport():
            return problem(404, "not_found", NOTHING_HERE)
        case NotAllowed():
            return problem(403, "not_allowed", str(error))
        case AlreadyClosed():
            return problem(409, "already_closed", CLOSED)
        case StaleDraft():
            return problem(409, "stale_draft", str(error), current=draft_of(error.assignment))
        case InvalidLabels():
            where = {} if error.step is None else {"step": error.step}
            return problem(422, "invalid_labels", _sentence(error.message), **where)
        case CannotChange():
            return problem(409, "wrong_state", str(error))
        case KeyReused():
            return problem(422, "key_reused", str(error))
        case TooLarge():
            return problem(413, "too_large", str(error))
        case BadPicture():
            return problem(422, "picture", str(error))
        case BadChoice():
            return problem(422, "choice", str(error))
        case FormatNotDetected() | UnknownFormat() | PolicyError():
            return problem(422, "format", _sentence(str(error)))
    return None


def _of_the_framework(error: Exception, status: int) -> Response:
    if isinstance(error, exceptions.ValidationError):
        return problem(400, "malformed", "Some of what was sent can't be read.", errors=error.detail)
    if isinstance(error, Http404):
        return problem(404, "not_found", NOTHING_HERE)
    if isinstance(error, DjangoPermissionDenied):
        return problem(403, "not_allowed", str(error) or TITLES[403])
    detail = getattr(error, "detail", "")
    code = getattr(error, "default_code", "error")
    return problem(status, str(code), str(detail))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
