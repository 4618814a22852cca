"""Lengths of time as people say them."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext

register = template.Library()
#: A narrow space at which no line breaks.
NARROW = "\u202f"


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds in as many units as matter; numbers and units stay on one line."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if minutes >= 10:
        rest = 0
    if hours:
        parts = [(hours, gettext("h")), (minutes_left, gettext("min"))]
    elif minutes:
        parts = [(minutes, gettext("min")), (rest, gettext("s"))]
    else:
        parts = [(rest, gettext("s"))]
    said = [f"{n}{NARROW}{unit}" for n, unit in parts if n]
    return " ".join(said) or f"0{NARROW}{gettext('s')}"


@register.filter
def hours(value: float) -> str:
    """Hours, said the same way."""
    return duration(value * 3600)
