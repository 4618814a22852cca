"""Tables as CSV that a spreadsheet shows and doesn't run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse

_FORMULA = {"=", "+", "-", "@", "\t", "\r", "\n"}


def harmless(text: str) -> str:
    """What would begin a formula gets an apostrophe in front."""
    return f"'{text}" if text[:1] in _FORMULA else text


def download(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """One table as a file. Words are made harmless, numbers are exact, what is not known is empty."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([harmless(each) if isinstance(each, str) else each for each in row])
    response = HttpResponse(written.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    response["Cache-Control"] = "no-store"
    return response
