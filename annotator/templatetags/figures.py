"""Numbers in tables, and small lines of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import template

register = template.Library()

WIDTH, HEIGHT = 96.0, 22.0


@register.filter
def cell(value: Any) -> str:
    """
    >>> [cell(value) for value in (None, 0.71234, 12000, "maths", -0.5)]
    ['–', '0.712', '12,000', 'maths', '−0.500']
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}".replace("-", "−")
    return f"{value:,}" if isinstance(value, int) else str(value)


@register.filter
def is_number(value: Any) -> bool:
    """Whether a cell is set flush right."""
    return value is None or isinstance(value, (int, float))


@register.filter
def share(value: float | None) -> str:
    """
    >>> share(0.714), share(None)
    ('71 %', '–')
    """
    return "–" if value is None else f"{100 * value:.0f} %"


@register.filter
def points(values: Sequence[float], top: float) -> str:
    """The points of a line from 0 to ``top`` in a box of 96 by 22, left to right.

    >>> points([0.0, 0.5, 1.0], 1.0)
    '0.0,22.0 48.0,11.0 96.0,0.0'
    """
    apart = WIDTH / max(len(values) - 1, 1)
    return " ".join(
        f"{at * apart:.1f},{HEIGHT * (1 - min(max(value / top, 0.0), 1.0)):.1f}"
        for at, value in enumerate(values)
    )
