"""Which format a file is in, from its first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotator.core.codecs import CODECS
from annotator.core.codecs.base import Codec


@dataclass(frozen=True, slots=True)
class Detection:
    """The format and why it was taken."""

    codec: Codec
    reason: str


class FormatNotDetected(ValueError):
    """No format fits, or more than one does; ``fitting`` names those that do."""

    def __init__(self, message: str, fitting: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.fitting = fitting


def detect(first_rows: Sequence[Mapping[str, Any]], codecs: Mapping[str, Codec] = CODECS) -> Detection:
    """The one format whose fields more than half of these rows have, so that a few broken rows don't hide it.

    Raises FormatNotDetected.

    >>> detect([{"prompt": "1+1?", "completions": ["2"], "labels": [True]}]).codec.name
    'trl'
    """
    if not first_rows:
        raise FormatNotDetected(
            "no line of the file is a JSON object; expected JSONL, one object a line, or one JSON array of "
            "objects (not an object spread over lines, or a table)"
        )
    total = len(first_rows)
    counts = {name: sum(codec.sniff(row) for row in first_rows) for name, codec in codecs.items()}
    fitting = tuple(name for name, count in counts.items() if count * 2 > total)
    if len(fitting) == 1:
        count = counts[fitting[0]]
        codec = codecs[fitting[0]]
        reason = f"{count} of the first {total} rows have the fields of {codec.name}: {codec.told_by}"
        return Detection(codec, reason)
    if fitting:
        raise FormatNotDetected(
            f"more than one format fits: {', '.join(fitting)}; name the one that is meant", fitting
        )
    seen = ", ".join(sorted({key for row in first_rows for key in row})[:12]) or "none"
    raise FormatNotDetected(
        f"no known format fits the first {total} rows; their fields are: {seen}; "
        f"the known formats are: {', '.join(codecs)}; name the one that is meant (--format native, say) "
        "to see what each row lacks"
    )
