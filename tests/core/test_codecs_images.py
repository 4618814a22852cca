"""Pictures in native rows: names with what they show."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.core.solutions import ProblemImage
from tests.core.test_codecs_native import read, refused


def test_a_problems_pictures_are_names_with_what_they_show() -> None:
    shown = [{"src": "a.png", "alt": "A cat"}, "b.png"]
    record = read(problem={"text": "p", "images": shown})
    assert record.problem.images == (ProblemImage("a.png", "A cat"), ProblemImage("b.png"))


@pytest.mark.parametrize(
    ("images", "field"),
    [("a.png", "problem.images"), ([3], "problem.images[0]"), ([{"alt": "A cat"}], "problem.images[0].src")],
)
def test_pictures_of_another_shape_are_refused_by_their_place(images: Any, field: str) -> None:
    refused(field, problem={"text": "p", "images": images})
