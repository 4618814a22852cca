"""Where each rule would cut, before formulas and code are taken into account.

Each function yields ascending offsets at which a new piece may begin. A cut at a line break comes right
after the last newline, so that a piece keeps its indentation (unfenced Python would change its meaning else).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SPACE = re.compile(r"\s+")
_STEP = re.compile(
    r"^[ \t]*(?:\#{1,6}[ \t]*)?(?:[-*+][ \t]+)?(?:\*\*|__)?"
    r"step[ \t]*(\d{1,4})(?:\*\*|__)?[ \t\r]*(?:[:.)\u2013\u2014-]|$)"
    r"|(?<=[.!?)][ ])(?-i:Step)[ ](\d{1,4}):",
    re.M | re.I,
)
_NUMBER = re.compile(r"^([ \t]*)(?:\*\*)?(\d{1,3})[.)](?=[ \t\r\n*])", re.M)
_WIDE_END = re.compile(r"(?<![。！？])[。！？]++[”’」』）]*+(?=\S)")
_END = re.compile(r"([.!?…]+|[。！？]+)[\"'”’»)\]}*_`$\\」』）]*\Z")
_END_ENVIRONMENT = re.compile(r"\s*\\end\{[A-Za-z]+\*?\}\Z")
_LAST_CHARACTERS = frozenset(".!?…。！？\"'”’»)]}*_`$\\」』）")
_WORD_BEFORE = re.compile(r"[^\s(\[{\"'“‘]+\Z")
_INITIAL_BEFORE = re.compile(r"(?:^|[\s(])[A-Z]\.\s?\Z")
_INITIAL_AFTER = re.compile(r"[A-Z]\.(?:\s|$)")
_OPENING = frozenset("$\\([{“‘\"'*`#¿¡«")
#: How far back a sentence end is looked for; a closing run longer than this is no sentence's.
_WINDOW = 48

_NEVER_END = """
e.g i.e cf vs viz fig figs eq eqs eqn eqns ref refs sec secs ch thm lem prop def cor ex pp vol ed eds resp
approx w.l.o.g s.t w.r.t dr mr mrs ms prof st jr sr dept
"""
_MAY_END = "etc al a.m p.m ft in lb lbs oz hr hrs min mi yd no nos p inc ltd co u.s"
#: A full stop after these never ends a sentence.
ABBREVIATIONS = frozenset(_NEVER_END.split())
#: After these it does only where a capital letter follows: "5 ft. 3 in." but "apples, etc. Then".
MAY_END = frozenset(_MAY_END.split())


@dataclass(frozen=True, slots=True)
class Marker:
    """A place where an item with a number begins."""

    start: int
    number: int


def blank_lines(text: str) -> Iterator[int]:
    """After each blank line."""
    return _line_breaks(text, at_least=2)


def lines(text: str) -> Iterator[int]:
    """After each line break."""
    return _line_breaks(text, at_least=1)


def _line_breaks(text: str, at_least: int) -> Iterator[int]:
    for space in _SPACE.finditer(text):
        run = space.group()
        if run.count("\n") >= at_least:
            yield space.start() + run.rindex("\n") + 1


def step_markers(text: str) -> Iterator[Marker]:
    """``Step k:`` at the start of a line (with Markdown's marks or not), or right after a sentence.

    >>> [m.number for m in step_markers("Step 1: a. Step 2: b\\n**Step 3** c\\n### Step 4. d, see Step 1: x")]
    [1, 2, 4]
    """
    for match in _STEP.finditer(text):
        yield Marker(match.start(), int(match.group(1) or match.group(2)))


def numbered_markers(text: str) -> Iterator[Marker]:
    """``1.`` or ``1)`` at the start of a line, where it goes on counting.

    A number counts when it is the first, follows the one before, or starts again at 0 or 1 no deeper than the
    list it interrupts: so "2." of a nested list and a stray "1998." are text.

    >>> [m.number for m in numbered_markers("1. a\\n   1. deeper\\n7. stray\\n2. b")]
    [1, 2]
    """
    number, depth = -1, 0
    for match in _NUMBER.finditer(text):
        here, indent = int(match.group(2)), len(match.group(1).expandtabs(4))
        restarts = here <= 1 and indent <= depth
        if number == -1 or (here == number + 1 and indent <= depth + 1) or restarts:
            if number == -1 or restarts:
                depth = indent
            number = here
            yield Marker(match.start(), here)


def sentences(text: str) -> Iterator[int]:
    """After each sentence and each blank line.

    A sentence ends with ``.``, ``!``, ``?`` or an ellipsis, closing marks, and white space before a capital,
    a digit or an opening mark; not after an abbreviation, a list number, an initial, or a factorial before a
    digit. The wide marks of Chinese and Japanese need no space.
    """
    cuts = {match.end() for match in _WIDE_END.finditer(text)}
    for space in _SPACE.finditer(text):
        start, end = space.span()
        if start == 0 or end == len(text):
            continue
        run = space.group()
        if run.count("\n") >= 2 or (text[start - 1] in _LAST_CHARACTERS and _ends_sentence(text, start, end)):
            newline = run.rfind("\n")
            cuts.add(end if newline < 0 else start + newline + 1)
    return iter(sorted(cuts))


def _ends_sentence(text: str, start: int, end: int) -> bool:
    window = text[max(0, start - _WINDOW) : start]
    window = _END_ENVIRONMENT.sub("", window)
    found = _END.search(window)
    if found is None:
        return False
    mark, before = found.group(1), window[: found.start()]
    match = _WORD_BEFORE.search(before)
    word = match.group().lower() if match else ""
    after = text[end]
    capital = after.isalpha() and not after.islower()
    if "…" in mark or ".." in mark:
        return capital
    if mark == ".":
        if word.strip("*_") in ABBREVIATIONS or (word in MAY_END and not capital):
            return False
        if _is_list_number(text, start, before, word) or _is_initial(text, end, before, word):
            return False
    if mark.endswith("!") and after.isdigit():
        return not word or not word[-1].isalnum()
    return capital or after.isdigit() or after in _OPENING


def _is_list_number(text: str, start: int, before: str, word: str) -> bool:
    if not word.strip("*").isdigit():
        return False
    lead = before[: len(before) - len(word)].rstrip(" \t#>*-+")
    return lead.endswith("\n") or (not lead and start <= _WINDOW)


def _is_initial(text: str, end: int, before: str, word: str) -> bool:
    if len(word) != 1 or not before[-1:].isupper():
        return False
    return bool(_INITIAL_AFTER.match(text, end) or _INITIAL_BEFORE.search(before[:-1]))
