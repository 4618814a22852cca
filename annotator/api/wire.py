"""How bodies are read and written: strict JSON within a cap, whatever the Accept header says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any

import orjson
from rest_framework.exceptions import APIException, ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

#: A solution of thousands of steps with a comment on each fits several times.
MAX_BODY = 4 * 1024 * 1024


class TooLarge(APIException):
    """A body over the cap."""

    status_code = 413
    default_code = "too_large"
    default_detail = f"A JSON body has at most {MAX_BODY:,} bytes."


class StrictJson(BaseParser):
    """UTF-8, no NaN, no lone surrogates, no endless nesting: what the database can store, or a 400."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """The value. Raises ParseError, TooLarge."""
        body = stream.read(MAX_BODY + 1)
        if len(body) > MAX_BODY:
            raise TooLarge
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is no JSON: {error.msg} at character {error.pos + 1}.") from None

    ensure_ascii = True


class OneFormat(BaseContentNegotiation):
    """Every address answers in the one format it has."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """By the Content-Type; None for one that no parser reads."""
        sent = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == sent), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The first, which is the only one."""
        first = next(iter(renderers))
        return first, str(first.media_type)
