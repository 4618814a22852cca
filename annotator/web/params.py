"""Reading an address: only what a page knows, in the form that it expects; anything else is a 400."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

from django.core.exceptions import BadRequest
from django.http import HttpRequest

LONGEST = 100


def known(request: HttpRequest, names: Collection[str]) -> dict[str, str]:
    """The query's parameters that say something. Raises BadRequest for any other name, and for a name twice."""
    for name, values in request.GET.lists():
        if name not in names or len(values) > 1 or len(values[0]) > LONGEST:
            raise BadRequest(f"This page can't be filtered by '{name[:LONGEST]}' like that.")
    return {name: request.GET[name] for name in request.GET if request.GET[name]}


def number(text: str | None) -> int | None:
    """A whole number; None where nothing is said. Raises BadRequest."""
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 15):
        raise BadRequest("That part of the address should be a number.")
    return int(text)


def one_of(text: str | None, choices: Collection[str], otherwise: str) -> str:
    """One of the choices; ``otherwise`` where nothing is said. Raises BadRequest."""
    if text is None:
        return otherwise
    if text not in choices:
        raise BadRequest("That part of the address is none of the page's choices.")
    return text


def day(text: str | None) -> date | None:
    """A day as 2026-03-01. Raises BadRequest."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadRequest("A day is written as 2026-03-01.") from None
