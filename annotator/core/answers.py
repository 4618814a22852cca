r"""Final answers: finding one in a text, and whether two of them are the same.

Most comparisons end with equal text, a choice's letter or two numbers. What is left, such as ``x(x+2)`` beside
``x^2+2x``, goes to math-verify in a process of its own (`core.symbolic`).
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from enum import StrEnum

from annotator.core import symbolic
from annotator.core.arithmetic import evaluate
from annotator.core.mathtext import NotNumeric, Number, tokenize

#: Of a text only so much of its end is searched.
TAIL = 20_000
#: Longer answers are compared as text alone.
LONGEST = 500
#: Of a text's boxes only the last few are looked at: a text of nothing else would take seconds.
MOST_BOXES = 50
#: Relative error that floating point alone may cause.
ROUNDING = 1e-9


class How(StrEnum):
    """How an answer was marked, the plainest mark first."""

    BOXED = "boxed"
    MARKED = "marked"
    STATED = "stated"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Found:
    """An answer as written, and how it was marked."""

    text: str
    how: How


_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
#: GSM8K's mark.
_HASHES = re.compile(r"####[ \t]*(?P<answer>[^\n]{1,300})")
_SAID = re.compile(
    r"\b(?:final\s+|correct\s+)?(?:answer|choice|option)\s*(?:is|are|:|=)\s*(?:therefore\s+|thus\s+)?:?\s*"
    r"(?P<answer>[^\n]{1,300})",
    re.IGNORECASE,
)
#: Where a stated answer ends: a full stop that is no decimal point, a semicolon, or a clause that goes on.
_END = re.compile(r"\.(?:\s|$)|;|\s(?:because|since|so|which|as)\s|,\s(?:because|since|so|which|and\sthe)\s")
_NUMBER = re.compile(r"(?<![\w.])-?\$?\d[\d,]*(?:\.\d+)?(?:/\d+)?%?(?![\w/])")


def final_answer(text: str) -> Found | None:
    r"""The last answer that a text marks: ``\boxed{…}``, ``#### …``, "the answer is …"; else its last number.

    >>> final_answer(r"So 2 + 2 = 4, and the answer is \boxed{\frac{1}{2}}.")
    Found(text='\\frac{1}{2}', how=<How.BOXED: 'boxed'>)
    >>> final_answer("Therefore the answer is (B). Check: 3.").text
    '(B)'
    >>> final_answer("I can't say.") is None
    True
    """
    tail = text[-TAIL:]
    boxed = _last_boxed(tail)
    if boxed is not None:
        return Found(boxed, How.BOXED)
    for pattern, how in ((_HASHES, How.MARKED), (_SAID, How.STATED)):
        said = [_cut(match["answer"]) for match in pattern.finditer(tail)]
        if said and said[-1]:
            return Found(said[-1], how)
    numbers = _NUMBER.findall(tail)
    return Found(numbers[-1], How.NUMBER) if numbers else None


def _last_boxed(text: str) -> str | None:
    """What the last box holds whose brace is closed, among the last `MOST_BOXES`."""
    for match in reversed(deque(_BOX.finditer(text), maxlen=MOST_BOXES)):
        depth, start = 1, match.end()
        for at in range(start, min(len(text), start + LONGEST)):
            depth += (text[at] == "{") - (text[at] == "}")
            if depth == 0:
                return text[start:at].strip() or None
    return None


def _cut(said: str) -> str:
    """A stated answer without the sentence that goes on after it."""
    end = _END.search(said)
    return (said[: end.start()] if end else said).strip().strip("*_ ").removesuffix(".").strip()


def same_answer(reference: str, answer: str) -> bool | None:
    r"""Whether an answer is the reference's; None where that can't be told (too long, or beyond the time limit).

    >>> same_answer("1,200", r"\$1200.00"), same_answer("B", r"\text{(B)}"), same_answer("0.5", r"\frac12")
    (True, True, True)
    >>> same_answer("7", "8"), same_answer("Tuesday", "tuesday."), same_answer("yes", "no")
    (False, True, False)
    """
    left, right = plain(reference), plain(answer)
    if not left or not right:
        return None
    if left.casefold() == right.casefold():
        return True
    choice = _CHOICE.fullmatch(left)
    if choice is not None:
        named = _CHOICE.match(right)
        return named is not None and named["letter"].upper() == choice["letter"].upper()
    if max(len(left), len(right)) > LONGEST:
        return None
    numbers = _numbers(left), _numbers(right)
    if all(numbers):
        return any(_close(one, other) for one in numbers[0] for other in numbers[1])
    if _WORDS.fullmatch(left) and (first := _WORDS.match(right)):
        return first[0].casefold() == left.casefold() and right[first.end() : first.end() + 1] in ",.;:"
    return symbolic.same(left, right)


#: One letter, by itself or in brackets, alone or before its text: B, (B), B., B) 12.
_CHOICE = re.compile(r"\(?(?P<letter>[A-J])(?:\)|\.(?=\s|$)|:(?=\s|$)|(?![\w\s.+\-*/^=<>(]))", re.IGNORECASE)
#: Words of more than one letter, which no algebra has. Something stands between two of them, so that one run of letters
#: is read in one way only: else a long one takes for ever to refuse.
_WORDS = re.compile(r"[^\W\d_]{2,}(?:[ '’-]+[^\W\d_]{2,})*[ '’-]*")
_UNIT = re.compile(r"(?P<number>.*[\d})])\s*[^\W\d_²³]{2,}(?:[ .²³/^\d]+[^\W\d_²³]{2,})*[ .²³/^\d]*")
_WRAPPED = re.compile(
    r"\\(?:text|textbf|textit|mathrm|mathbf|mbox|boxed|fbox|operatorname)\s*\{(?P<inside>[^{}]*)\}"
)
_NOTHING = re.compile(r"\\left(?![A-Za-z])|\\right(?![A-Za-z])|\\[!,;:>$]|[$€£]|\\[()\[\]]")
_EQUALS = re.compile(r"^\s*[A-Za-z](?:_\{?\w\}?)?\s*=\s*(?=[^=]+$)")


def plain(text: str) -> str:
    r"""An answer without what only says how it looks.

    >>> plain(r"$\boxed{\text{ 12 } \dfrac{1}{2}}$.")
    '12 \\frac{1}{2}'
    """
    found = text.strip()
    for _ in range(3):
        found = _WRAPPED.sub(lambda match: match["inside"], found)
        found = _last_boxed(found) or found
    found = _NOTHING.sub("", found).replace("−", "-").replace("{,}", ",")
    found = re.sub(r"\\[dtc]frac", r"\\frac", found)
    found = re.sub(r"\\frac\s*(\d)\s*(\d)", r"\\frac{\1}{\2}", found)
    return " ".join(found.split()).strip().removesuffix(".").strip().strip("*").strip()


def _numbers(text: str) -> list[Number]:
    """The readings of an answer that is a number, with or without its name and unit; empty for any other.

    `x = 5` is 5, `12 apples` is 12; `50 %` is a half and fifty, since a question may ask for either.
    """
    value = _EQUALS.sub("", text)
    value = re.sub(r"\s*\^?\s*\{?\\circ\}?$", "", value)
    percent = value.rstrip().endswith(("%", "\\%"))
    value = value.rstrip().removesuffix("%").removesuffix("\\").rstrip() if percent else value
    unit = _UNIT.fullmatch(value)
    value = unit["number"] if unit else value
    try:
        number = evaluate(tokenize(value)).number
    except (NotNumeric, ValueError, OverflowError):
        return []
    return [number, number / 100] if percent else [number]


def _close(one: Number, other: Number) -> bool:
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    return abs(one - other) <= ROUNDING * max(abs(one), abs(other), 1e-9)
