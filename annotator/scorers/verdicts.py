"""Reads a chat model's verdicts on steps: a word at the place that was asked for, with its odds where they are told.

Only the structured place counts: the last line of an answer about one step, the marked line of an answer about a whole
solution. What a solution's text says, or makes a model repeat on the way, is no verdict.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotator.scorers.chat import answer_text, known_type, tokens_told

_WORD = r"(?:\$?\s*\\boxed\s*\{\s*(?:\\text\s*\{)?\s*)?\**(?P<word>yes|no)\b\**\s*\}{0,2}\s*\$?"
_LAST = re.compile(
    rf"(?:\W*judge?ment\W*\s*|\W*verdict\W*\s*|\W*answer\W*\s*)?{_WORD}[\s.!*]*", re.IGNORECASE
)
#: Longest line that can be a verdict. What stands between its words overlaps, so a long one takes minutes to refuse.
_LINE = 200
_TYPE = re.compile(r"^\W{0,12}error type\W{1,12}(?P<name>.{1,80}?)\W{0,12}$", re.IGNORECASE | re.MULTILINE)
_STEP = re.compile(
    r"^\W{0,12}step\s{1,12}(?P<number>\d{1,4})\b.*?\\boxed\s{0,12}\{\s{0,12}(?:\\text\s{0,12}\{\s{0,12})?"
    r"(?P<word>correct|incorrect)\b",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How probable it is that the step holds, in [0, 1], and the kind of error where one was named."""

    sound: float
    error_type: str | None = None


def read_step(choice: Mapping[str, Any], taxonomy: Sequence[str] = ()) -> Verdict | None:
    """An answer about one step; None where its last line is no verdict. P(Yes) / (P(Yes) + P(No)) where the odds are
    told, as GenPRM reads it (Zhao et al. 2025), else 1 or 0.

    >>> read_step({"message": {"content": "It adds wrongly.\\n**Judgement**: $\\\\boxed{No}$"}})
    Verdict(sound=0.0, error_type=None)
    >>> read_step({"message": {"content": "The step says \\\\boxed{Yes}. Let me think."}}) is None
    True
    """
    text = answer_text(choice)
    last = text.rstrip().rpartition("\n")[2].strip()
    match = _LAST.fullmatch(last) if len(last) <= _LINE else None
    if match is None:
        return None
    yes = match["word"].lower() == "yes"
    odds = _odds(choice, match["word"])
    sound = odds if odds is not None else float(yes)
    return Verdict(sound, _named(text, taxonomy) if sound < 1 else None)


def read_solution(choice: Mapping[str, Any], steps: int) -> list[float] | None:
    r"""An answer about a whole solution: a line ``Step k: … \boxed{correct}`` for each step, up to the first incorrect
    one, in the manner of ThinkPRM (Khalifa et al. 2025). Steps behind it take its value: their prefix is wrong.

    None unless the lines count 1, 2, 3, … without a gap, to the end or to an incorrect one. The last line for a step
    counts.

    >>> read_solution({"message": {"content": "Step 1: fine \\boxed{correct}\nStep 2: \\boxed{incorrect}"}}, 3)
    [1.0, 0.0, 0.0]
    """
    said = {int(m["number"]): m["word"].lower() == "correct" for m in _STEP.finditer(answer_text(choice))}
    values: list[float] = []
    for number in range(1, steps + 1):
        if number not in said:
            return None
        values.append(float(said[number]))
        if not said[number]:
            return values + [0.0] * (steps - number)
    return values


def _named(text: str, taxonomy: Sequence[str]) -> str | None:
    lines = [match["name"] for match in _TYPE.finditer(text)]
    return known_type(lines[-1], taxonomy) if lines else None


def _odds(choice: Mapping[str, Any], word: str) -> float | None:
    """P(Yes) / (P(Yes) + P(No)) at the last token that says the word; None where the odds aren't told."""
    for text, alternatives in reversed(tokens_told(choice)):
        if text.strip(" *{").lower() == word.lower():
            mass = {"yes": 0.0, "no": 0.0}
            for other, logprob in alternatives:
                plain = other.strip(" *{").lower()
                if plain in mass and math.isfinite(logprob) and logprob <= 0.0:
                    mass[plain] += math.exp(logprob)
            total = mass["yes"] + mass["no"]
            return mass["yes"] / total if total > 0 else None
    return None
