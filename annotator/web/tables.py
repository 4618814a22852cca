"""Long tables as CSV, streamed line by line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

from django.http import StreamingHttpResponse

from annotator.web.spreadsheet import harmless


class _Line:
    """A file that csv can write to, and that hands back what it was given."""

    def write(self, text: str) -> str:
        return text


def lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[bytes]:
    """CSV, line by line."""
    writer = csv.writer(_Line())
    yield str(writer.writerow(head)).encode()
    for row in rows:
        yield str(writer.writerow([harmless(cell) for cell in row])).encode()


def download(name: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> StreamingHttpResponse:
    """A CSV file, streamed."""
    response = StreamingHttpResponse(lines(head, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response
