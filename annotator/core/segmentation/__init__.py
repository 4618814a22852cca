"""Cut a trajectory into steps so that the text can be put together again exactly.

White space between two pieces belongs to the first one's ``sep``; white space before the first piece stays
at the start of its text. So ``"".join(text + sep)`` is the original; only a text that is blank has no pieces,
and is kept in ``leading``. No rule ever cuts inside a formula or code (see `protected`).

The rules: ``pre`` (a list is taken as it is), ``blank_line``, ``line``, ``step_k`` ("Step 3:"), ``numbered``
("3." or "3)"), ``sentence``, and ``auto``, which takes the first that fits:

1. ``step_k`` when at least two "Step k" markers stand in a row and count up;
2. ``numbered`` when at least two items count up and give more pieces than blank lines do;
3. ``blank_line`` when it gives at least two pieces;
4. ``line`` when it gives at least two pieces;
5. ``sentence`` otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from annotator.core.segmentation import boundaries
from annotator.core.segmentation.boundaries import Marker
from annotator.core.segmentation.protected import Span, fences, protected_spans
from annotator.core.solutions import Step

__all__ = [
    "BlankStep",
    "Piece",
    "Rule",
    "Segmentation",
    "SegmentationError",
    "UnknownRule",
    "segment",
    "steps",
]


class Rule(StrEnum):
    """How a text is cut."""

    AUTO = "auto"
    PRE = "pre"
    BLANK_LINE = "blank_line"
    LINE = "line"
    STEP_K = "step_k"
    NUMBERED = "numbered"
    SENTENCE = "sentence"


class SegmentationError(ValueError):
    """A text that the asked rule can't cut."""


class UnknownRule(SegmentationError):
    """A rule that does not exist."""

    def __init__(self, rule: str) -> None:
        super().__init__(f"no segmentation rule is called {rule!r}; choose one of {', '.join(Rule)}")


class BlankStep(SegmentationError):
    """A step of a pre-segmented list that holds no text; ``step`` is its 0-based index."""

    def __init__(self, step: int) -> None:
        super().__init__(f"step {step + 1} is blank")
        self.step = step


@dataclass(frozen=True, slots=True)
class Piece:
    """One step's text and the white space between it and the next."""

    text: str
    sep: str = ""


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The pieces, the rule that cut them (never ``auto``) and why it was taken."""

    rule: Rule
    reason: str
    pieces: tuple[Piece, ...]
    leading: str = ""

    def restore(self) -> str:
        """The text as it was.

        >>> segment("One.  Two.", "sentence").restore()
        'One.  Two.'
        """
        return self.leading + "".join(piece.text + piece.sep for piece in self.pieces)


def segment(text: str | Sequence[str], rule: str = Rule.AUTO) -> Segmentation:
    """Cut a text by a rule. A list counts as cut already, whatever the rule.

    Raises UnknownRule; BlankStep for a list with a blank entry; SegmentationError for ``pre`` with one text.

    >>> [piece.text for piece in segment("Step 1: a\\nStep 2: b").pieces]
    ['Step 1: a', 'Step 2: b']
    """
    try:
        asked = Rule(rule)
    except ValueError:
        raise UnknownRule(rule) from None
    if not isinstance(text, str):
        return _as_given(text)
    if asked is Rule.PRE:
        raise SegmentationError("the rule 'pre' takes a list of steps, not one text")
    if not text.strip():
        chosen = Rule.SENTENCE if asked is Rule.AUTO else asked
        return Segmentation(chosen, "the text is blank", (), text)
    spans = protected_spans(text)
    if asked is Rule.AUTO:
        return _choose(text, spans)
    return Segmentation(asked, "the rule was asked for", _cut(text, _starts(text, asked, spans)))


def steps(text: str | Sequence[str], rule: str = Rule.AUTO) -> tuple[Step, ...]:
    """The pieces as steps: ``code`` where a piece is one fence and nothing else, else ``reasoning``.

    A blank text has none. Raises what `segment` raises.
    """
    return tuple(
        Step(text=piece.text, kind="code" if _is_fence(piece.text) else "reasoning", sep=piece.sep)
        for piece in segment(text, rule).pieces
    )


def _as_given(texts: Sequence[str]) -> Segmentation:
    for index, text in enumerate(texts):
        if not text.strip():
            raise BlankStep(index)
    return Segmentation(Rule.PRE, "the steps came as a list", tuple(Piece(text) for text in texts))


def _choose(text: str, spans: list[Span]) -> Segmentation:
    """The documented order of tests."""
    markers = list(_unprotected(boundaries.step_markers(text), spans))
    if _counts_up(markers):
        reason = f'{len(markers)} "Step k" markers that count up'
        return Segmentation(Rule.STEP_K, reason, _cut(text, _places(markers)))
    blank_line = _cut(text, _starts(text, Rule.BLANK_LINE, spans))
    markers = list(_unprotected(boundaries.numbered_markers(text), spans))
    if _counts_up(markers):
        numbered = _cut(text, _places(markers))
        if len(numbered) > len(blank_line):
            reason = f"{len(markers)} numbered items that count up, more than there are paragraphs"
            return Segmentation(Rule.NUMBERED, reason, numbered)
    if len(blank_line) > 1:
        return Segmentation(Rule.BLANK_LINE, f"{len(blank_line)} paragraphs between blank lines", blank_line)
    line = _cut(text, _starts(text, Rule.LINE, spans))
    if len(line) > 1:
        return Segmentation(Rule.LINE, f"{len(line)} lines and no blank one between", line)
    reason = "no markers, paragraphs or line breaks to cut at, so its sentences"
    return Segmentation(Rule.SENTENCE, reason, _cut(text, _starts(text, Rule.SENTENCE, spans)))


def _counts_up(markers: Sequence[Marker]) -> bool:
    return any(after.number == before.number + 1 for before, after in pairwise(markers))


_PLACES: dict[Rule, Callable[[str], Iterator[int]]] = {
    Rule.BLANK_LINE: boundaries.blank_lines,
    Rule.LINE: boundaries.lines,
    Rule.STEP_K: lambda text: _places(boundaries.step_markers(text)),
    Rule.NUMBERED: lambda text: _places(boundaries.numbered_markers(text)),
    Rule.SENTENCE: boundaries.sentences,
}


def _starts(text: str, rule: Rule, spans: list[Span]) -> Iterator[int]:
    markers = (Marker(start, 0) for start in _PLACES[rule](text))
    return _places(_unprotected(markers, spans))


def _places(markers: Iterable[Marker]) -> Iterator[int]:
    return (marker.start for marker in markers)


def _unprotected(markers: Iterable[Marker], spans: list[Span]) -> Iterator[Marker]:
    """Markers in order, without those strictly inside a protected span (also in order)."""
    index = 0
    for marker in markers:
        while index < len(spans) and spans[index][1] <= marker.start:
            index += 1
        if index == len(spans) or marker.start <= spans[index][0]:
            yield marker


def _cut(text: str, starts: Iterable[int]) -> tuple[Piece, ...]:
    """Pieces of a text that is not blank; a stretch of white space joins its neighbour."""
    pieces: list[Piece] = []
    carried = ""
    for start, end in pairwise([0, *starts, len(text)]):
        chunk = text[start:end]
        body = chunk.rstrip()
        if body:
            pieces.append(Piece(carried + body, chunk[len(body) :]))
            carried = ""
        elif pieces:
            pieces[-1] = Piece(pieces[-1].text, pieces[-1].sep + chunk)
        else:
            carried += chunk
    return tuple(pieces)


def _is_fence(text: str) -> bool:
    body = text.strip()
    return fences(body) == [(0, len(body))]
