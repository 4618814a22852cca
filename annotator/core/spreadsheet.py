"""Tables as CSV that a spreadsheet shows and doesn't run."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

#: What makes a spreadsheet read a cell as a formula when it begins with it (OWASP, CSV injection).
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
Cell = str | int | float | None


class _Line:
    """A file that csv can write to, and that hands back what it was given."""

    def write(self, text: str) -> str:
        return text


def harmless(text: str) -> str:
    """What would begin a formula gets an apostrophe in front.

    >>> harmless("=1+1"), harmless("x = 2")
    ("'=1+1", 'x = 2')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


def lines(rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
    """CSV (RFC 4180) in UTF-8, line by line. Words are made harmless, numbers are exact, None is an empty cell.

    >>> list(lines([["=a", -1, None]]))
    [b"'=a,-1,\\r\\n"]
    """
    writer = csv.writer(_Line())
    for row in rows:
        cells = [harmless(cell) if isinstance(cell, str) else cell for cell in row]
        yield str(writer.writerow(cells)).encode("utf-8", "replace")
