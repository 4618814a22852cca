"""The pictures of a native row's problem: names with a text for those who can't see them."""

from __future__ import annotations

from typing import Any

from annotator.core.codecs.base import InvalidRow
from annotator.core.codecs.fields import Fields, describe
from annotator.core.pictures import kept_name
from annotator.core.solutions import ProblemImage, ProblemText

MOST = 20
NAME_CHARS, ALT_CHARS = 500, 1_000


def read_images(problem: Fields) -> tuple[ProblemImage, ...]:
    """``problem.images``: names, or objects of ``src`` and ``alt``. Raises InvalidRow."""
    entries = problem.items("images") or []
    if len(entries) > MOST:
        problem.fail("images", f"at most {MOST} pictures")
    return tuple(_image(entry, index) for index, entry in enumerate(entries))


def _image(entry: Any, index: int) -> ProblemImage:
    place = f"problem.images[{index}]"
    if isinstance(entry, str):
        entry = {"src": entry}
    if not isinstance(entry, dict) or not set(entry) <= {"src", "alt"}:
        raise InvalidRow(place, f'expected a name, or an object with "src" and "alt"; got {describe(entry)}')
    fields = Fields(entry, place)
    alt = fields.optional_text("alt", ALT_CHARS)
    return ProblemImage(fields.text("src", NAME_CHARS), alt or "")


def images_json(problem: ProblemText) -> list[dict[str, str]]:
    """As files with paths: kept pictures are known by their hash."""
    return [{"src": kept_name(image.src), "alt": image.alt} for image in problem.images]
