r"""Equations with variables and functions: `(x+1)^2 = x^2 + 2x + 2` never holds, `\sin^2 x + \cos^2 x = 1` always does.

What the numeric check leaves open, in formulas that are marked as such, goes to the symbolic server. Precise rather
than complete, as `checks` is: an equation that holds for some values is a condition and is not checked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise

from annotator.core import symbolic
from annotator.core.checks import MAX_CHECKS, Check, Verdict, check_equations
from annotator.core.segmentation.protected import protected_spans

#: Equations of one text that are asked for, and characters of a formula that is looked at.
MOST, LONGEST = 20, 4_000

#: Where an equation ends: another relation, a comma, words, a line.
_MARK = re.compile(
    r"(?<![\\<>!=:])=(?!=)|[,;<>≤≥≈≠\n]|:|\\\\|\\(?:quad|qquad|implies|Rightarrow|Longrightarrow|rightarrow|to|approx"
    r"|leq?|geq?|neq?|equiv|iff|Leftrightarrow|mid|in|lt|gt|sim|simeq|cong|propto|because|therefore|land|lor|pmod|bmod"
    r"|pm|mp|(?:begin|end)\s*\{_*\*?\}|(?:text|mathrm|textbf|mbox)\s*\{_*\})(?![A-Za-z])"
)
#: A row that goes on with the chain of the row above.
_GOES_ON = re.compile(r"\\\\\s*&?\s*(?==)|\\(?:begin|end)\{(?:align|aligned|equation|gather|split)\*?\}")
_DELIMITERS = re.compile(r"^(?:\$\$?|\\\(|\\\[)|(?:\$\$?|\\\)|\\\])$")
#: Not mathematics of this kind: dots, primes, percentages, numbers to a base, bars.
_LEFT_ALONE = re.compile(
    r"\.\.|\\[lcv]?dots|'|\\prime|%|\\circ|°|\\(?:overline|bar|dot|vec|hat|overrightarrow)\b|\d_|\?|_\\"
)
#: Where a refutation could be a matter of reading: f(x), i and e, mixed numbers.
_AMBIGUOUS = re.compile(
    r"[A-Za-z]\s*(?:\\left)?\(|(?<![\\A-Za-z])[ieEIdC](?![A-Za-z])|\d\s*\\[dt]?frac|[A-Za-z]\{?\s*\\"
)
_NOT_CLAIMED = re.compile(
    r"\b(?:no|not|never|false|impossible|contradict\w*|cannot|can't|suppose|assume|if|wrong|incorrect)\b",
    re.IGNORECASE,
)


def check_all(text: str, *, seconds: float = 5.0) -> list[Check]:
    r"""`checks.check_equations`, then the symbolic server on what it left open; in order. No new question is asked
    once ``seconds`` are over.

    >>> [str(check.verdict) for check in check_all(r"So $(x+1)^2 = x^2 + 2x + 1$ and $3 + 4 = 8$.")]
    ['holds', 'does_not_hold']
    """
    numeric = check_equations(text)
    found = [check for check in numeric if check.verdict is not Verdict.NOT_CHECKED]
    until = time.monotonic() + seconds
    for start, end, left, right in _open_equations(text, tuple(found)):
        if time.monotonic() > until:
            break
        verdict = _verdict(text, left, right)
        if verdict is not Verdict.NOT_CHECKED:
            found.append(Check(verdict, start, end))
    open_ones = [
        one for one in numeric if one.verdict is Verdict.NOT_CHECKED and not _meets(one.start, one.end, found)
    ]
    return sorted([*found, *open_ones], key=lambda check: check.start)[:MAX_CHECKS]


def contradicted(text: str) -> bool:
    """Whether an equation of the text does not hold by the numeric check alone: fast enough for a whole project."""
    return any(check.verdict is Verdict.DOES_NOT_HOLD for check in check_equations(text))


def _verdict(text: str, left: str, right: str) -> Verdict:
    said = symbolic.identity(left, right)
    if said is None:
        return Verdict.NOT_CHECKED
    if said:
        return Verdict.HOLDS
    has_variable = re.search(r"(?<![\\A-Za-z])[A-Za-z]", left + " " + right)
    if not has_variable or _AMBIGUOUS.search(left + " " + right) or _NOT_CLAIMED.search(text):
        return Verdict.NOT_CHECKED
    return Verdict.DOES_NOT_HOLD


def _open_equations(text: str, known: Sequence[Check]) -> Iterator[tuple[int, int, str, str]]:
    """Place and sides of each equation in a marked formula that no check has decided yet."""
    count = 0
    for start, end in protected_spans(text):
        formula = text[start:end]
        if not formula.startswith(("$", "\\(", "\\[", "\\begin")) or len(formula) > LONGEST:
            continue
        for (left, at), (right, then) in _pairs(formula):
            place, stop = start + at, start + then + len(right)
            if _meets(place, stop, known) or _trivial(left, right):
                continue
            count += 1
            if count > MOST:
                return
            yield place, stop, left, right


def _pairs(formula: str) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    """Neighbouring sides of every chain of equations, each with its place."""
    inner = _DELIMITERS.sub(_blank, formula)
    inner = _GOES_ON.sub(_blank, inner).replace("&", " ")
    marks = [(match.start(), match.end(), match[0] == "=") for match in _MARK.finditer(_flat(inner))]
    chain: list[tuple[str, int]] = []
    begin = 0
    for start, end, is_equation in [*marks, (len(inner), len(inner), False)]:
        side = inner[begin:start]
        chain.append((side.strip(), begin + len(side) - len(side.lstrip())))
        begin = end
        if not is_equation:
            yield from pairwise(chain)
            chain = []


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _flat(formula: str) -> str:
    """The formula with what stands in braces made invisible: `\\sum_{k=1}^n k` holds no equation."""
    flat, depth = [], 0
    for letter in formula:
        depth -= letter == "}"
        flat.append(letter if depth <= 0 else "_")
        depth += letter == "{"
    return "".join(flat)


def _trivial(left: str, right: str) -> bool:
    """Nothing to ask: a side is missing or cut in two, a name is given, or it isn't read here."""
    both = left + "=" + right
    if not left or not right or _LEFT_ALONE.search(both):
        return True
    if any(
        side.count(one) != side.count(other) for side in (left, right) for one, other in ("()", "{}", "[]")
    ):
        return True
    return bool(re.fullmatch(r"\s*[A-Za-z](?:_\{?\w+\}?)?\s*", left)) and not re.search(
        rf"(?<![\\A-Za-z]){re.escape(left.strip())}", right
    )


def _meets(start: int, end: int, known: Sequence[Check]) -> bool:
    return any(check.start < end and start < check.end for check in known)
