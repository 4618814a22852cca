"""Numbers and small formulas as LaTeX, the way a model would type them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Num = int | Fraction


def tex(value: Num) -> str:
    r"""A whole number as digits, any other as a fraction.

    >>> tex(Fraction(-3, 4)), tex(Fraction(6, 2))
    ('-\\frac{3}{4}', '3')
    """
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def decimal(value: Num) -> str:
    """A terminating decimal, at most six places.

    >>> decimal(Fraction(353, 2))
    '176.5'
    """
    text = f"{value.numerator / value.denominator:.6f}"
    return text.rstrip("0").rstrip(".")


def frac(top: object, bottom: object) -> str:
    r"""``\frac{top}{bottom}`` without reducing it."""
    return rf"\frac{{{top}}}{{{bottom}}}"


def quotient(top: Num, bottom: Num) -> str:
    r"""A fraction and, where that differs, its value.

    >>> quotient(76, 38), quotient(1, 2)
    ('\\frac{76}{38} = 2', '\\frac{1}{2}')
    """
    value = Fraction(top) / Fraction(bottom)
    written = frac(tex(top), tex(bottom))
    return written if tex(value) == written else f"{written} = {tex(value)}"


def binom(n: int, k: int) -> str:
    r"""``\binom{n}{k}``."""
    return rf"\binom{{{n}}}{{{k}}}"


def paren(value: Num) -> str:
    """A negative number in brackets, so that it can follow an operator.

    >>> paren(-3), paren(3)
    ('(-3)', '3')
    """
    return f"({tex(value)})" if value < 0 else tex(value)


def signed(value: int) -> str:
    """A term's sign and size, to follow another term.

    >>> signed(-3), signed(3)
    ('- 3', '+ 3')
    """
    return f"- {-value}" if value < 0 else f"+ {value}"


def poly(coefficients: Sequence[int], name: str = "x") -> str:
    """A polynomial, highest power first, zero terms left out.

    >>> poly([1, -5, 0, 6]), poly([-2, 1])
    ('x^3 - 5x^2 + 6', '-2x + 1')
    """
    degree = len(coefficients) - 1
    out = ""
    for index, coefficient in enumerate(coefficients):
        if coefficient == 0:
            continue
        power = degree - index
        size = abs(coefficient)
        letter = "" if power == 0 else name if power == 1 else f"{name}^{power}"
        body = letter if size == 1 and letter else f"{size}{letter}"
        if out:
            out += f" - {body}" if coefficient < 0 else f" + {body}"
        else:
            out = f"-{body}" if coefficient < 0 else body
    return out or "0"


def fenced(code: str) -> str:
    """A fenced block of Python."""
    return f"```python\n{code}\n```"
