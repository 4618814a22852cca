"""Rows that were rejected, as JSONL that can be mended and imported again.

A row that is an object comes back with one more key, ``_rejected``, that says what is wrong; mend the row and leave
the key where it is. A line that is no object comes back as text under ``_line``; mend the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from annotator.core.codecs.base import CAPS, Caps, InvalidRow, RowError
from annotator.core.codecs.lines import decode

REASON, LINE = "_rejected", "_line"
#: A longer line is named but not given back.
KEPT_BYTES = 1024 * 1024


def as_line(error: RowError) -> bytes:
    """The row with its reason, as one line.

    >>> as_line(RowError(3, "steps", "expected a list", given={"steps": 1}))
    b'{"steps":1,"_rejected":{"line":3,"field":"steps","message":"expected a list"}}\\n'
    """
    reason = {REASON: error.to_json()}
    given = error.given
    if isinstance(given, Mapping):
        whole = orjson.dumps({**given, **reason}, option=orjson.OPT_APPEND_NEWLINE)
        if len(whole) <= KEPT_BYTES:
            return whole
    elif isinstance(given, bytes) and len(given) <= KEPT_BYTES:
        text = given.rstrip(b"\r\n").decode(errors="replace")
        return orjson.dumps({**reason, LINE: text}, option=orjson.OPT_APPEND_NEWLINE)
    return orjson.dumps(reason, option=orjson.OPT_APPEND_NEWLINE)


def restored(value: dict[str, Any], caps: Caps = CAPS) -> dict[str, Any]:
    """A row as it was before `as_line`, or as somebody mended it; any other row as it is. Raises InvalidRow.

    >>> restored({"_rejected": {"line": 3}, "_line": '{"steps": ["1"]}'})
    {'steps': ['1']}
    """
    if REASON not in value:
        return value
    kept = {key: each for key, each in value.items() if key != REASON}
    if set(kept) == {LINE} and isinstance(kept[LINE], str):
        return decode(kept[LINE].encode(), caps)
    if not kept:
        raise InvalidRow("", "expected the row itself beside '_rejected'; it was too long to be given back")
    return kept
