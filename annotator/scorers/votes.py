"""Reads a critic's answers: each names the first wrong paragraph, or none; together they give probabilities.

A vote is a mapping from stop (0-based among judged steps, -1 for none) to probability. One that named a paragraph
outright has a single entry; where the server told the alternatives to that number, their shares count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotator.core.labels import NO_ERROR
from annotator.scorers.chat import answer_text, tokens_told

Vote = Mapping[int, float]

_BOXED = re.compile(r"\\boxed\s*\{[^0-9}−-]{0,40}(?P<answer>[-−]?[0-9]{1,4})[^0-9}]{0,20}\}")
#: With more paragraphs a number may take two tokens, and the first alone says too little.
_ONE_DIGIT = 10
#: Share of the probability that the alternatives must hold before they replace the word itself.
_ENOUGH = 0.5


def read_vote(choice: Mapping[str, Any], paragraphs: int) -> Vote | None:
    """One answer's vote, or None where it names no paragraph. ``choice`` is an entry of ``choices``.

    >>> read_vote({"message": {"content": "Paragraph 1 adds wrongly. \\\\boxed{1}"}}, 3)
    {1: 1.0}
    >>> read_vote({"message": {"content": "All is well."}}, 3) is None
    True
    """
    text = answer_text(choice)
    match = _last_boxed(text)
    if match is None:
        return None
    named = int(match["answer"].replace("−", "-"))
    if not NO_ERROR <= named < paragraphs:
        return None
    return _soft(choice, paragraphs, named) or {named: 1.0}


def _last_boxed(text: str) -> re.Match[str] | None:
    return max(_BOXED.finditer(text), key=lambda match: match.start(), default=None)


def _soft(choice: Mapping[str, Any], paragraphs: int, named: int) -> Vote | None:
    """Shares of the alternatives at the token of the answer, or None where they aren't told or say too little."""
    tokens = tokens_told(choice)
    match = _last_boxed("".join(text for text, _ in tokens))
    if match is None or paragraphs > _ONE_DIGIT or int(match["answer"].replace("−", "-")) != named:
        return None
    place, end = match.start("answer"), 0
    for text, alternatives in tokens:
        start, end = end, end + len(text)
        if end > place:
            return _shares(alternatives, text[: place - start], paragraphs)
    return None


def _shares(alternatives: Sequence[tuple[str, float]], before: str, paragraphs: int) -> Vote | None:
    """Alternatives that start as the token does and go on with a stop, scaled to sum 1."""
    mass: dict[int, float] = {}
    for text, logprob in alternatives:
        rest = text[len(before) :].strip() if text.startswith(before) else ""
        stop = _stop_of(rest, paragraphs)
        if stop is not None and math.isfinite(logprob) and logprob <= 0.0:
            mass[stop] = mass.get(stop, 0.0) + math.exp(logprob)
    total = math.fsum(mass.values())
    return {stop: share / total for stop, share in mass.items()} if total >= _ENOUGH else None


def _stop_of(text: str, paragraphs: int) -> int | None:
    if text[:1] in {"-", "−"}:
        return NO_ERROR
    digits = re.match(r"[0-9]+", text)
    return int(digits[0]) if digits and int(digits[0]) < paragraphs else None


def survival(votes: Sequence[Vote], paragraphs: int) -> tuple[list[float], list[float | None]]:
    """For each paragraph i: 1 - the mean share of votes for an error at or before i, and its spread over the votes.

    Both have length ``paragraphs``; the values never rise. The spread is the votes' population standard deviation,
    None for a single vote. Voting over n answers is ProcessBench's (Zheng et al. 2024, section 4.1). Raises
    ValueError without votes.

    >>> survival([{1: 1.0}, {-1: 1.0}, {1: 1.0}, {2: 1.0}], 3)
    ([1.0, 0.5, 0.25], [0.0, 0.5, 0.4330127018922193])
    """
    if not votes:
        raise ValueError("there are no votes to count")
    values: list[float] = []
    spread: list[float | None] = []
    for place in range(paragraphs):
        sound = [1.0 - math.fsum(p for stop, p in vote.items() if 0 <= stop <= place) for vote in votes]
        mean = min(max(math.fsum(sound) / len(sound), 0.0), values[-1] if values else 1.0)
        values.append(mean)
        width = math.sqrt(math.fsum((one - mean) ** 2 for one in sound) / len(sound))
        spread.append(width if len(votes) > 1 else None)
    return values, spread
