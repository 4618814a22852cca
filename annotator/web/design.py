"""The design system as a living page: every token and component, as the pages use them. Only with DEBUG."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

#: Each with the name of its custom property and what it means; css/tokens.css gives it a colour in each theme.
COLOURS = [
    ("paper", "the page"),
    ("sheet", "what lies on it: the active step, fields"),
    ("sunk", "code, what is set back"),
    ("ink", "text"),
    ("ink-2", "text that steps back"),
    ("ink-3", "names of zones, hints"),
    ("rule", "hairlines"),
    ("rule-strong", "edges, unjudged marks"),
    ("field-edge", "the edge of what takes input"),
    ("accent", "focus, links, the primary action"),
    ("accent-wash", "what is chosen"),
    ("correct", "correct"),
    ("correct-wash", "behind it"),
    ("neutral", "neutral"),
    ("neutral-wash", "behind it"),
    ("incorrect", "incorrect, errors"),
    ("incorrect-wash", "behind it"),
]
THEMES = [
    ("Light", "light", "normal"),
    ("Dark", "dark", "normal"),
    ("Light, high contrast", "light", "high"),
    ("Dark, high contrast", "dark", "high"),
]
SPACES = [
    ("s1", "4"),
    ("s2", "8"),
    ("s3", "12"),
    ("s4", "16"),
    ("s5", "24"),
    ("s6", "32"),
    ("s7", "48"),
    ("s8", "72"),
]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Not there in production."""
    if not settings.DEBUG:
        raise Http404("There is no such page.")
    context = {"colours": COLOURS, "themes": THEMES, "spaces": SPACES, "sample": [1, 1, 0, 1, -1, None, None]}
    return render(request, "design.html", context)
