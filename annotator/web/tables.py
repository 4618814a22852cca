"""Long tables as CSV, streamed line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from django.http import StreamingHttpResponse

from annotator.core.spreadsheet import Cell, lines


def download(name: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> StreamingHttpResponse:
    """A CSV file, streamed."""
    response = StreamingHttpResponse(lines(chain([head], rows)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response
