"""What every page knows: how the person wants it to look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.http import HttpRequest
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import gettext_lazy as _

from annotator.core.preferences import DEFAULT_KEYS
from annotator.queries.people import preferences_of

#: What each command does, in the words of the preferences panel.
COMMANDS: Mapping[str, str | Promise] = {
    "correct": _("Correct, and on"),
    "neutral": _("Neutral, and on"),
    "incorrect": _("Incorrect, and on"),
    "next": _("Next step"),
    "previous": _("Previous step"),
    "undo": _("Undo"),
    "submit": _("Submit when complete"),
    "unsure": _("Flag as unsure"),
    "error_type": _("Error type"),
    "comment": _("Comment"),
    "recovered": _("Recovered here"),
    "segmentation": _("Step too coarse or fine"),
    "skip": _("Skip"),
    "give_up": _("Give up"),
    "bad_problem": _("Bad problem"),
    "question": _("Ask the lead"),
    "aids": _("Aids"),
    "scratch": _("Scratchpad"),
    "guidelines": _("Guidelines"),
    "source": _("Rendered or source"),
    "keys": _("All keys"),
}


@dataclass(frozen=True)
class KeyRow:
    """One command with its key now and the key it comes with."""

    command: str
    does: str | Promise
    key: str
    default: str


def preferences(request: HttpRequest) -> dict[str, Any]:
    """``preferences``: a person's own, with every key that they use. Read only where a template asks.

    ``keys_json`` is what the scripts read from <html data-keys>; ``key_rows`` are the rows of the panel.
    """

    def read() -> dict[str, Any]:
        user = getattr(request, "user", None)
        data = preferences_of(user.pk) if user is not None and user.is_authenticated else {}
        keys = {**DEFAULT_KEYS, **data.get("keys", {})}
        rows = [KeyRow(name, COMMANDS.get(name, name), key, DEFAULT_KEYS[name]) for name, key in keys.items()]
        order = list(COMMANDS)
        rows.sort(key=lambda row: order.index(row.command) if row.command in COMMANDS else len(order))
        return {**data, "keys": keys, "keys_json": orjson.dumps(keys).decode(), "key_rows": rows}

    return {"preferences": SimpleLazyObject(read)}
