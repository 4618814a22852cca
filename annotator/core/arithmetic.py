"""The value of an expression of numbers: a precedence parser over Python ints and floats.

Nothing here is ever executed as code. Every input is bounded: `MAX_SIDE_TOKENS` of one expression,
`MAX_DEPTH` of nesting, `MAX_BITS` of a number, so that no text can make it slow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from annotator.core.mathtext import NotNumeric, Number, Token, literal

MAX_SIDE_TOKENS = 200
MAX_DEPTH = 30
MAX_BITS = 1000
MAX_EXPONENT = 256
MAX_FACTORIAL = 150
MAX_BINOMIAL = 500


class Value(NamedTuple):
    """``scale`` is the largest magnitude met on the way, to which rounding error is relative. ``operations``
    counts what was computed, so a bare number has 0."""

    number: Number
    scale: float
    operations: int


def evaluate(tokens: Sequence[Token]) -> Value:
    """The value of a whole expression. Raises NotNumeric for anything but numbers and known operations.

    >>> from annotator.core.mathtext import tokenize
    >>> evaluate(tokenize(r"\\frac{5!}{3!} + 2^3 \\times (1 + 1)")).number
    36
    """
    if not tokens or len(tokens) > MAX_SIDE_TOKENS:
        raise NotNumeric("nothing, or too much, to evaluate")
    parser = _Parser(tokens)
    number = parser.sum()
    if parser.at < len(tokens):
        raise NotNumeric("something is left over")
    return Value(number, parser.scale, parser.operations)


_CLOSING = {"(": ")", "[": "]", "{": "}"}
#: What may follow an operand directly and multiply it, as in 2(3), (3)(4), 2\\sqrt{3} or 2π.
_IMPLICIT = frozenset("([{FRBπ")


class _Parser:
    """Recursive descent: sum > product > sign > power > postfix > atom."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.kinds = [token.kind for token in tokens]
        self.kinds.append("end")
        self.at = 0
        self.depth = 0
        self.scale = 0.0
        self.operations = 0

    def sum(self) -> Number:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotNumeric("nested too deeply")
        left = self.product()
        percent = self.kinds[self.at - 1] == "%"
        while (operator := self.kinds[self.at]) in ("+", "-"):
            self.at += 1
            right = self.product()
            if percent != (self.kinds[self.at - 1] == "%"):
                raise NotNumeric("a percentage added to a plain number has no fixed meaning")
            left = self.keep(left + right if operator == "+" else left - right)
        self.depth -= 1
        return left

    def product(self) -> Number:
        left = self.sign()
        while True:
            kind = self.kinds[self.at]
            if kind in ("*", "x"):
                self.at += 1
                left = self.keep(left * self.sign())
            elif kind == "/":
                self.at += 1
                left = self.keep(_divide(left, self.sign()))
            elif kind in _IMPLICIT:
                self.refuse_mixed_number()
                left = self.keep(left * self.power())
            else:
                return left

    def refuse_mixed_number(self) -> None:
        """`2\\frac{1}{2}` is two and a half or one, and `12 (3 + 4)` may be a remark: neither is judged."""
        after_number = self.at > 0 and self.kinds[self.at - 1] == "n"
        token = self.tokens[self.at]
        if after_number and (token.kind == "F" or (token.kind in "([" and token.spaced)):
            raise NotNumeric("ambiguous product")

    def sign(self) -> Number:
        flips = 0
        while self.kinds[self.at] in ("+", "-"):
            flips += self.kinds[self.at] == "-"
            self.at += 1
        value = self.power()
        return -value if flips % 2 else value

    def power(self) -> Number:
        base = self.postfix()
        if self.kinds[self.at] != "^":
            return base
        self.at += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotNumeric("nested too deeply")
        exponent = self.sign()
        self.depth -= 1
        return self.keep(_power(base, exponent))

    def postfix(self) -> Number:
        value = self.atom()
        if self.kinds[self.at] == "!":
            self.at += 1
            value = self.keep(_factorial(value))
            if self.kinds[self.at] == "!":
                raise NotNumeric("a double factorial")
        if self.kinds[self.at] == "%":
            self.at += 1
            value = self.keep(value / 100)
        return value

    def atom(self) -> Number:
        kind = self.kinds[self.at]
        if kind == "n":
            self.at += 1
            number = literal(self.tokens[self.at - 1].text)
            self.scale = max(self.scale, abs(number))
            return number
        if kind == "π":
            self.at += 1
            return math.pi
        if kind in _CLOSING:
            return self.group()
        if kind == "F":
            self.at += 1
            above, below = self.arguments()
            return self.keep(_divide(above, below))
        if kind == "B":
            self.at += 1
            return self.keep(_binomial(*self.arguments()))
        if kind == "R":
            self.at += 1
            return self.root()
        raise NotNumeric("a number was expected")

    def group(self) -> Number:
        closing = _CLOSING[self.kinds[self.at]]
        self.at += 1
        value = self.sum()
        if self.kinds[self.at] == "C":
            self.at += 1
            value = self.keep(_binomial(value, self.sum()))
        if self.kinds[self.at] != closing:
            raise NotNumeric("a bracket is not closed")
        self.at += 1
        return value

    def arguments(self) -> tuple[Number, Number]:
        """Two arguments: {a}{b}, or two digits as in \\frac12."""
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if token is not None and token.kind == "n" and len(token.text) == 2 and token.text.isdigit():
            self.at += 1
            return int(token.text[0]), int(token.text[1])
        return self.argument(), self.argument()

    def argument(self) -> Number:
        if self.kinds[self.at] not in ("{", "n"):
            raise NotNumeric("an argument was expected")
        return self.atom()

    def root(self) -> Number:
        degree: Number = 2
        if self.kinds[self.at] == "[":
            degree = self.group()
        value = self.atom() if self.kinds[self.at] in ("{", "(", "n") else None
        if value is None or value < 0 or not 2 <= degree <= 10:
            raise NotNumeric("not a real root")
        if degree == 2 and isinstance(value, int):
            whole = math.isqrt(value)
            return self.keep(whole if whole * whole == value else math.sqrt(value))
        return self.keep(float(value) ** (1 / degree))

    def keep(self, value: Number) -> Number:
        self.operations += 1
        if isinstance(value, int):
            if value.bit_length() > MAX_BITS:
                raise NotNumeric("too large")
        elif not math.isfinite(value):
            raise NotNumeric("not finite")
        self.scale = max(self.scale, abs(float(value)))
        return value


def _divide(above: Number, below: Number) -> Number:
    if below == 0:
        raise NotNumeric("division by zero")
    if isinstance(above, int) and isinstance(below, int) and above % below == 0:
        return above // below
    return _bounded(above) / _bounded(below)


def _bounded(value: Number) -> float:
    number = float(value)
    if number and not 1e-150 < abs(number) < 1e300:
        raise NotNumeric("outside the range that floats hold safely")
    return number


def _power(base: Number, exponent: Number) -> Number:
    if (
        abs(exponent) > MAX_EXPONENT
        or (base == 0 and exponent < 0)
        or (base < 0 and exponent != int(exponent))
    ):
        raise NotNumeric("not a power that is computed here")
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if base.bit_length() * exponent > MAX_BITS:
            raise NotNumeric("too large")
        return int(base**exponent)
    if base and abs(math.log10(abs(base)) * exponent) > 140:
        raise NotNumeric("too large")
    return float(float(base) ** exponent)


def _factorial(value: Number) -> int:
    if not isinstance(value, int) or not 0 <= value <= MAX_FACTORIAL:
        raise NotNumeric("not a factorial that is computed here")
    return math.factorial(value)


def _binomial(above: Number, below: Number) -> int:
    whole = isinstance(above, int) and isinstance(below, int)
    if not whole or not (0 <= above <= MAX_BINOMIAL and 0 <= below <= MAX_BINOMIAL):
        raise NotNumeric("not a binomial that is computed here")
    return math.comb(int(above), int(below))
