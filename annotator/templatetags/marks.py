"""Labels as a row of marks, with the same in words for those who can't see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.translation import gettext, ngettext

register = template.Library()

#: More than these would be a pattern, not marks.
SHOWN = 40
NAMES = {1: "correct", 0: "neutral", -1: "incorrect", None: "none"}


@register.inclusion_tag("_mark_strip.html")
def marks(labels: Sequence[int | None]) -> dict[str, Any]:
    """{% marks labels %}; the page must include _marks.html, which holds the signs."""
    return {
        "names": [NAMES[label] for label in labels[:SHOWN]],
        "more": max(0, len(labels) - SHOWN),
        "sentence": in_words(labels),
    }


def in_words(labels: Sequence[int | None]) -> str:
    """For screen readers: "4 steps: 1 correct, 1 neutral, 1 incorrect (step 3), 1 not judged"."""
    wrong = [str(index + 1) for index, label in enumerate(labels) if label == -1]
    parts = [
        (labels.count(1), gettext("correct"), ""),
        (labels.count(0), gettext("neutral"), ""),
        (len(wrong), gettext("incorrect"), f" ({gettext('step')} {', '.join(wrong)})"),
        (labels.count(None), gettext("not judged"), ""),
    ]
    steps = ngettext("%(n)s step", "%(n)s steps", len(labels)) % {"n": len(labels)}
    return f"{steps}: " + ", ".join(f"{n} {name}{where}" for n, name, where in parts if n)
