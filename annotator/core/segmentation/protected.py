r"""Where a text must not be cut: formulas and code.

Protected are ``$$…$$``, ``\[…\]``, ``\(…\)``, ``$…$`` (not currency), ``\begin{e}…\end{e}`` (nested),
Asymptote figures ``[asy]…[/asy]``, fences of three or more backticks or tildes, and inline code. What is
opened and never closed protects nothing, except a fence: it runs to the end of the text, as in Markdown.

Everything here is linear in the text (up to a logarithm): tokens are found in one pass and each closer is
looked up by bisection, so a million openers without a closer cost a million look-ups, not a million scans.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

Span = tuple[int, int]

_FENCE_LINE = re.compile(r"^[ \t]*((?:[-*+>]|\d{1,3}[.)])[ \t]+)?(`{3,}|~{3,})([^\n]*)$", re.M)
_TOKEN = re.compile(r"\\(begin|end)\{([A-Za-z]+\*?)\}|\\.|\$|`+|\[/?asy\]")
_BACKTICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t\r]*(?=\n)")
_COMMAND = re.compile(r"\\[A-Za-z]+(?:\{[^{}]*\})?")
_WORD = re.compile(r"[A-Za-z]{3,}")
_OPERATORS = frozenset({"mod", "sin", "cos", "tan", "log", "exp", "gcd", "lcm", "max", "min", "deg"})
_CLOSERS = {r"\[": r"\]", r"\(": r"\)", "[asy]": "[/asy]"}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    start: int
    end: int
    name: str = ""


def fences(text: str) -> list[Span]:
    """Code fences, from the first mark of the opening line to the end of the closing one.

    >>> fences("a\\n```py\\nx\\n```\\nb")
    [(2, 13)]
    """
    spans: list[Span] = []
    start, mark = -1, ""
    for line in _FENCE_LINE.finditer(text):
        run, rest = line.group(2), line.group(3)
        if not mark:
            # A backtick in the rest of the line makes it inline code: ```x``` opens no fence.
            if run[0] == "~" or "`" not in rest:
                start, mark = line.start(2), run
        elif line.group(1) is None and run.startswith(mark) and not rest.strip():
            spans.append((start, line.end(2)))
            mark = ""
    if mark:
        spans.append((start, len(text)))
    return spans


def protected_spans(text: str) -> list[Span]:
    r"""Sorted, disjoint ``(start, end)`` ranges; a cut at p is forbidden where start < p < end.

    >>> protected_spans(r"It costs $2, so $y=x^2$ and \(z. Q\).")
    [(16, 23), (28, 36)]
    """
    code = fences(text)
    return _merge(sorted([*code, *_Scanner(text, code).spans()]))


def _merge(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


class _Scanner:
    """Pairs the openers and closers that lie outside code fences."""

    def __init__(self, text: str, code: list[Span]) -> None:
        self.text = text
        self.tokens = list(_outside(_tokens(text), code))
        self.starts = [token.start for token in self.tokens]
        self.blanks = [match.start() for match in _BLANK_LINE.finditer(text)]
        self.places: dict[str, list[int]] = defaultdict(list)
        for index, token in enumerate(self.tokens):
            self.places[token.kind].append(index)
        self.openers = sorted(self.places[r"\["] + self.places[r"\("])
        self.doubles = [
            index for index in self.places["$"] if index + 1 < len(self.tokens) and self._is_double(index)
        ]
        self.runs: dict[int, list[int]] = defaultdict(list)
        runs = (_Token("`", run.start(), run.end()) for run in _BACKTICKS.finditer(text))
        for run in _outside(runs, code):
            self.runs[run.end - run.start].append(run.start)
        self.environments = _pair_environments(self.tokens)

    def spans(self) -> Iterator[Span]:
        index = 0
        while index < len(self.tokens):
            token = self.tokens[index]
            end = self._close(index, token)
            if end is not None:
                yield token.start, end
                index = bisect_left(self.starts, end)
            else:
                index += 2 if token.kind == "$" and self._is_double(index) else 1

    def _close(self, index: int, token: _Token) -> int | None:
        if token.kind == "$":
            return self._close_display(index) if self._is_double(index) else self._close_inline(index)
        if token.kind == "`":
            return self._close_code(token)
        if token.kind == "begin":
            return self.environments.get(index)
        closer = self._next(_CLOSERS.get(token.kind, ""), index)
        return None if closer is None else self.tokens[closer].end

    def _next(self, kind: str, index: int) -> int | None:
        places = self.places.get(kind, [])
        at = bisect_right(places, index)
        return places[at] if at < len(places) else None

    def _is_double(self, index: int) -> bool:
        after = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        return after is not None and after.kind == "$" and after.start == self.tokens[index].end

    def _close_display(self, index: int) -> int | None:
        at = bisect_left(self.doubles, index + 2)
        return self.tokens[self.doubles[at] + 1].end if at < len(self.doubles) else None

    def _close_inline(self, index: int) -> int | None:
        """The next dollar, if the two can be a formula rather than two prices.

        No blank line and no other formula between; the closing dollar touches no digit after it; where the
        inside starts with a digit or a space, it holds no prose (``$5 for two ($x``); where it does not start
        with a space, it does not end with one (``$5, $7``).
        """
        closer = self._next("$", index)
        if closer is None:
            return None
        start, stop = self.tokens[index].end, self.tokens[closer].start
        opener = bisect_right(self.openers, index)
        if opener < len(self.openers) and self.openers[opener] < closer:
            return None
        if self._has_blank_line(start, stop) or self.text[stop + 1 : stop + 2].isdigit():
            return None
        first, last = self.text[start], self.text[stop - 1]
        if first.isdigit() or first.isspace():
            inside = _COMMAND.sub(" ", self.text[start:stop])
            if any(word not in _OPERATORS for word in _WORD.findall(inside)):
                return None
        if last.isspace() and not first.isspace():
            return None
        return stop + 1

    def _close_code(self, token: _Token) -> int | None:
        length = token.end - token.start
        places = self.runs.get(length, [])
        at = bisect_right(places, token.start)
        if at == len(places) or self._has_blank_line(token.end, places[at]):
            return None
        return places[at] + length

    def _has_blank_line(self, start: int, end: int) -> bool:
        at = bisect_left(self.blanks, start)
        return at < len(self.blanks) and self.blanks[at] < end


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        found = match.group()
        if match.group(1):
            yield _Token(match.group(1), match.start(), match.end(), match.group(2))
        elif found[0] == "`":
            yield _Token("`", match.start(), match.end())
        else:
            # An escaped dollar, bracket or backslash is a token of a kind that opens nothing.
            yield _Token(found, match.start(), match.end())


def _outside(tokens: Iterator[_Token], code: list[Span]) -> Iterator[_Token]:
    ends = iter([*code, (1 << 62, 1 << 62)])
    start, end = next(ends)
    for token in tokens:
        while token.start >= end:
            start, end = next(ends)
        if token.start < start:
            yield token


def _pair_environments(tokens: list[_Token]) -> dict[int, int]:
    r"""For each ``\begin`` that has its ``\end``: token index → where the ``\end{…}`` ends."""
    ends: dict[int, int] = {}
    stack: list[int] = []
    open_names: dict[str, int] = defaultdict(int)
    for index, token in enumerate(tokens):
        if token.kind == "begin":
            stack.append(index)
            open_names[token.name] += 1
        elif token.kind == "end" and open_names[token.name]:
            while True:
                begun = stack.pop()
                open_names[tokens[begun].name] -= 1
                if tokens[begun].name == token.name:
                    ends[begun] = token.end
                    break
    return ends
