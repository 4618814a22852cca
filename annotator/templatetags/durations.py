"""Lengths of time as people say them."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext

register = template.Library()


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds in the two largest units that matter.

    >>> [duration(value) for value in (None, 8.4, 75, 3600, 7500)]
    ['–', '8 s', '1 min 15 s', '1 h', '2 h 5 min']
    """
    if seconds is None:
        return "–"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        parts = [(hours, gettext("h")), (minutes_left, gettext("min"))]
    elif minutes:
        parts = [(minutes, gettext("min")), (rest, gettext("s"))]
    else:
        parts = [(rest, gettext("s"))]
    said = [f"{n} {unit}" for n, unit in parts if n]
    return " ".join(said) or f"0 {gettext('s')}"


@register.filter
def hours(value: float) -> str:
    """Hours, said the same way."""
    return duration(value * 3600)
