"""What is computed behind the door: whether two answers are the same, and whether an equation always or never holds.

Only `__main__` imports this module. Both parse LaTeX by a grammar (latex2sympy's, built with ANTLR), which makes
sympy objects of what it knows and refuses the rest. For its numbers it goes by sympy's `parse_expr`, which evaluates
text as Python: here that takes literals of numbers and nothing else, so no text is ever evaluated.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import sympy
import sympy.parsing.sympy_parser
import sympy.physics.units  # what simplify imports at its first use
from latex2sympy2_extended import latex2sympy
from math_verify import LatexExtractionConfig, parse, verify

logging.getLogger("math_verify").setLevel(logging.CRITICAL)
warnings.simplefilter("ignore")

_LATEX = [LatexExtractionConfig()]
#: Nodes of an expression beyond which nothing is simplified.
MOST_NODES = 300
#: Computed before the door is shut, so that what libraries load late is loaded.
_FIRST = (
    ("x^2 + 2x", "x(x+2)"),
    (r"\sin^2 x + \cos^2 x", "1"),
    (r"\sum_{i=1}^{3} i", "6"),
    (r"\int_0^1 x dx", r"\frac{1}{2}"),
    (r"\sqrt{8} + \log_2 8", r"2\sqrt{2} + 3"),
)
#: What an equation may be made of to be refuted: algebra with exact numbers, where nothing is a matter of convention.
_ALGEBRA = (sympy.Add, sympy.Mul, sympy.Pow, sympy.Symbol, sympy.Integer, sympy.Rational)
#: `4(1)`, which the grammar takes for a mixed number.
_PRODUCT = re.compile(r"([\d)])\s*(?=(?:\\left\s*)?\()")

_LITERAL = re.compile(r"(?P<whole>[0-9]{1,300})|[0-9]{0,300}\.[0-9]{1,300}|[0-9]{1,300}\.", re.ASCII)


def _number(text: str, *_: Any, **__: Any) -> Any:
    """In place of `parse_expr`. Raises SympifyError for anything but a number's literal."""
    found = _LITERAL.fullmatch(text.strip())
    if found is None:
        raise sympy.SympifyError(text)
    return sympy.Integer(int(found["whole"])) if found["whole"] else sympy.Float(found[0])


def begin() -> None:
    """Have built what is built at first use, then take `parse_expr` away."""
    for left, right in _FIRST:
        same(left, right)
        identity(left, right)
    sympy.parsing.sympy_parser.parse_expr = _number


def same(gold: str, answer: str) -> bool | None:
    """Whether two final answers in LaTeX are the same by math-verify; None where one of them can't be read."""
    left, right = _answer(gold), _answer(answer)
    if not left or not right:
        return None
    return bool(verify(left, right, timeout_seconds=None))


def _answer(text: str) -> list[Any]:
    return list(parse(f"${text}$", _LATEX, fallback_mode="no_fallback", parsing_timeout=None))


def identity(left: str, right: str) -> bool | None:
    """True where both sides are equal for every value of their variables, False where for none, else None.

    False needs a difference that is a number other than 0, from algebra with exact numbers alone: what depends on a
    variable may well be a condition, and decimals may be rounded.
    """
    sides = [latex2sympy(_PRODUCT.sub(r"\1 \\cdot ", side)) for side in (left, right)]
    if not all(isinstance(side, sympy.Expr) for side in sides):
        return None
    if sum(1 for side in sides for _ in sympy.preorder_traversal(side)) > MOST_NODES:
        return None
    exact = all(isinstance(node, _ALGEBRA) for side in sides for node in sympy.preorder_traversal(side))
    difference = sympy.simplify(sides[0].doit() - sides[1].doit())
    if difference == 0:
        return True
    if exact and difference.is_number and difference.is_finite and abs(difference.evalf()) > 1e-9:
        return False
    return None


OPERATIONS: Mapping[str, Callable[[str, str], bool | None]] = {"same": same, "identity": identity}
