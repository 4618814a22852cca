"""A prompt as text with marked places, before any tokenizer has seen it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotator.core.solutions import Step
from annotator.scorers.base import ScoringInput


class Unscorable(ValueError):
    """This solution can't be put to this model, in a sentence for people."""


class Speech(Protocol):
    """What laying out a prompt needs of a tokenizer."""

    @property
    def bos(self) -> str:
        """The text of the token that begins a sequence; empty where there is none."""
        ...

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The messages in the model's own chat template. Raises Unscorable where it has none."""
        ...


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that is tokenized by itself. A score is read at the token that ends at each of ``ends`` (characters).

    ``framed``: the tokenizer adds its own first and last tokens.
    """

    text: str
    ends: tuple[int, ...] = ()
    framed: bool = False


class Writer:
    """Text that grows, and the places in it."""

    def __init__(self) -> None:
        self._text = ""
        self._ends: list[int] = []

    def write(self, text: str, *, read: bool = False) -> None:
        """Add text; with ``read`` a score is read at its last token."""
        self._text += text
        if read:
            self._ends.append(len(self._text))

    def piece(self, *, framed: bool) -> Piece:
        """All of it."""
        return Piece(self._text, tuple(self._ends), framed)


def found(text: str, marker: str, *, framed: bool) -> Piece:
    """The text, read wherever the marker stands; nobody's words hold it any more."""
    return Piece(text, tuple(match.end() for match in re.finditer(re.escape(marker), text)), framed)


def turns(item: ScoringInput) -> list[tuple[str, bool]]:
    """Each step's text without white space around it, and whether it is judged."""
    return [(step.text.strip(), step.judged) for step in item.steps]


def broken(item: ScoringInput, pattern: re.Pattern[str]) -> ScoringInput:
    """The same solution, where a space stands inside all that the pattern finds.

    >>> broken(ScoringInput("a <s> b", ()), re.compile("<s>")).problem
    'a < s> b'
    """

    def escape(text: str) -> str:
        return pattern.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)

    return _each(item, escape)


def squeezed(item: ScoringInput) -> ScoringInput:
    """The same solution, where two line breaks stand for three or more: longer runs mark the end of a step."""
    return _each(item, lambda text: _RUN.sub("\n\n", text))


#: Begins where blanks begin: from each of a thousand blanks the search would cost a thousand times as much.
_RUN = re.compile(r"(?<![^\S\n])[^\S\n]*(?:\n[^\S\n]*){3,}")


def _each(item: ScoringInput, change: Changer) -> ScoringInput:
    steps = tuple(Step(change(step.text), step.kind, step.judged, step.sep) for step in item.steps)
    return ScoringInput(change(item.problem), steps)


class Changer(Protocol):
    """Text in, text out."""

    def __call__(self, text: str, /) -> str: ...
