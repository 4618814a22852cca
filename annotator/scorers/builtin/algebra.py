r"""Values of formulas with variables: each variable stands for three fixed numbers, so that two formulas of equal
values are taken for the same one. Fast and approximate: it feeds features, and never shows a person a verdict.

Nothing here is executed as code; sides are capped in length and depth, numbers in size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

MAX_SIDE_CHARS = 200
MAX_DEPTH = 20
MAX_SIDES = 12
LARGEST = 1e12
LARGEST_EXPONENT = 60.0
LARGEST_FACTORIAL = 20.0

Values = tuple[float, float, float]
#: What a variable stands for. Raises KeyError for one it does not know.
Known = Callable[[str], Values]

_FORMULA = re.compile(
    r"\$\$(.+?)\$\$|\$(.+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]"
    r"|\\begin\{(?:align|aligned|equation|gather)\*?\}(.+?)\\end\{",
    re.DOTALL,
)
_NO_MEANING = re.compile(
    r"\\(?:left|right|[Bb]igg?[lr]?|displaystyle|limits)(?![A-Za-z])|(?<!\\)\\[,;!: ]|&|\\boxed(?=\{)"
)
_GOES_ON = re.compile(r"\\\\(?:\[[^\]]*\])?\s*(?==)")
_ENDS = re.compile(
    r"\\\\|\\(?:quad|qquad|implies|Rightarrow|Longrightarrow|rightarrow|to|approx|leq?|geq?|neq?|equiv|iff"
    r"|Leftrightarrow|mid|in|lt|gt|sim|simeq|cong|propto|because|therefore|land|lor|quotient)(?![A-Za-z])"
    r"|\\(?:text|mathrm|textbf|mbox|begin|end|operatorname)\s*\{[^{}]*\}|[<>≤≥≈≠\n;:]|,(?!\d{3})|!="
)
_TOKEN = re.compile(
    r"\s*(?:(\d+(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*|\.\d+)|\\([A-Za-z]+)"
    r"|([A-Za-z])(?:_(?:\{(\w{1,3})\}|(\w)))?|(.))",
    re.DOTALL,
)
_COMMANDS = {
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), "F"),
    **dict.fromkeys(("cdot", "times", "ast"), "*"),
    **dict.fromkeys(("circ", "degree"), "d"),
    "sqrt": "R",
    "div": "/",
    "pi": "p",
}
_SYMBOLS = {**dict.fromkeys("·×", "*"), **dict.fromkeys("−–", "-"), "÷": "/", "π": "p", "√": "R"}
_PLAIN = frozenset("+-*/^(){}[]!")
_GREEK = frozenset(("alpha", "beta", "gamma", "theta", "phi", "lambda", "mu", "omega"))
#: Letters that name a function where a bracket follows; i is the imaginary unit as often as not.
_FUNCTION_LETTERS = frozenset("fghPQFGTS")
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "ln": math.log,
    "log": math.log10,
    "exp": math.exp,
}
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_STARTS = frozenset("nvFRp({f[")
_END = "end"


class Unreadable(ValueError):
    """Not a formula that is read here."""


class Valued(NamedTuple):
    """A side's values, its variables, and how many operations it took: a bare number or variable has none."""

    values: Values
    variables: frozenset[str]
    operations: int


def equations(text: str) -> Iterator[list[str]]:
    r"""The sides of each chain of equations in the text's formulas, in order.

    >>> list(equations(r"So $x + 1 = 3, x = 2$ and \(y = 2x = 4\)."))
    [['x + 1', '3'], ['x', '2'], ['y', '2x', '4']]
    """
    if "=" not in text:
        return
    formulas = [
        next(part for part in match.groups() if part is not None) for match in _FORMULA.finditer(text)
    ]
    if not formulas and "\\" not in text and len(text) < 2 * MAX_SIDE_CHARS:
        formulas = [text]
    for formula in formulas:
        if "=" not in formula:
            continue
        for part in _ENDS.split(_GOES_ON.sub("", _NO_MEANING.sub(" ", formula))):
            sides = [side.strip().rstrip(".").strip() for side in part.split("=")]
            if 1 < len(sides) <= MAX_SIDES:
                yield sides


def stands_for(variable: str) -> Values:
    """The three numbers of a variable that nothing is known of."""
    code = sum(ord(letter) * (place + 3) for place, letter in enumerate(variable))
    return (1.2345 + code * 7 % 97 / 61, 2.7182 + code * 31 % 97 / 61, 0.4321 + code * 53 % 97 / 61)


def valued(side: str, known: Known = stands_for) -> Valued | None:
    r"""What a side is worth, None where it can't be read.

    >>> valued(r"\frac{6}{4} + 2^3").values
    (9.5, 9.5, 9.5)
    >>> same(valued("(x+1)(x-1)").values, valued("x^2 - 1").values)
    True
    """
    if len(side) > MAX_SIDE_CHARS:
        return None
    try:
        reader = _Reader(side, known)
        values = reader.sum()
        if reader.kind != _END or not all(abs(value) < LARGEST for value in values):
            return None
    except (Unreadable, ArithmeticError, ValueError, LookupError):
        return None
    return Valued(values, frozenset(reader.variables), reader.operations)


def same(left: Values, right: Values, tolerance: float = 1e-6) -> bool:
    """Whether two triples agree, by ``tolerance`` relative to the larger of them and 1."""
    return all(abs(a - b) <= tolerance * max(1.0, abs(a), abs(b)) for a, b in zip(left, right, strict=True))


def _tokens(side: str) -> Iterator[tuple[str, str]]:
    """Kind and text: n number, v variable, f function, F fraction, R root, p pi, d degrees, else the sign itself."""
    for match in _TOKEN.finditer(side):
        number, command, letter, long_index, index, other = match.groups()
        if number:
            yield "n", number.replace(",", "")
        elif command:
            if command in _COMMANDS:
                yield _COMMANDS[command], command
            elif command in _GREEK:
                yield "v", command
            elif command in _FUNCTIONS:
                yield "f", command
            else:
                raise Unreadable(command)
        elif letter:
            if letter in "iI" or (letter in _FUNCTION_LETTERS and side[match.end() : match.end() + 1] == "("):
                raise Unreadable(letter)
            yield "v", letter + (long_index or index or "")
        elif not other.isspace():
            sign = _SYMBOLS.get(other, other)
            if sign not in _PLAIN and sign not in "pR":
                raise Unreadable(other)
            yield sign, other
    yield _END, ""


def _each(operation: Callable[[float, float], float], left: Values, right: Values) -> Values:
    return (operation(left[0], right[0]), operation(left[1], right[1]), operation(left[2], right[2]))


class _Reader:
    """Recursive descent: sum > product > sign > power > atom."""

    def __init__(self, side: str, known: Known) -> None:
        self.tokens = list(_tokens(side))
        self.at = 0
        self.known = known
        self.variables: set[str] = set()
        self.operations = 0
        self.depth = 0

    @property
    def kind(self) -> str:
        return self.tokens[self.at][0]

    def take(self, kind: str) -> bool:
        if self.kind != kind:
            return False
        self.at += 1
        return True

    def sum(self) -> Values:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")
        left = self.product()
        while self.kind in ("+", "-"):
            adds = self.kind == "+"
            self.at += 1
            right = self.product()
            self.operations += 1
            left = _each((lambda a, b: a + b) if adds else (lambda a, b: a - b), left, right)
        self.depth -= 1
        return left

    def product(self) -> Values:
        left = self.sign()
        while True:
            kind = self.kind
            if kind in ("*", "/"):
                self.at += 1
                right = self.sign()
                left = _each((lambda a, b: a * b) if kind == "*" else (lambda a, b: a / b), left, right)
            elif kind in _STARTS:
                if kind in "nF" and self.tokens[self.at - 1][0] == "n":
                    raise Unreadable("a mixed number, or two numbers side by side")
                left = _each(lambda a, b: a * b, left, self.power())
            else:
                return left
            self.operations += 1

    def sign(self) -> Values:
        negative = False
        while self.kind in ("+", "-"):
            negative ^= self.kind == "-"
            self.at += 1
        value = self.power()
        return (-value[0], -value[1], -value[2]) if negative else value

    def power(self) -> Values:
        base = self.atom()
        while self.take("!"):
            self.operations += 1
            base = _each(_factorial, base, base)
        if not self.take("^"):
            return base
        if self.kind == "d" or (self.kind == "{" and self.tokens[self.at + 1][0] == "d"):
            self.at += 1 if self.kind == "d" else 3
            return _each(lambda a, _: math.radians(a), base, base)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")
        exponent = self.argument() if self.kind in ("n", "{") else self.sign()
        self.depth -= 1
        self.operations += 1
        return _each(_raised, base, exponent)

    def argument(self) -> Values:
        if self.kind not in ("{", "n", "v", "p"):
            raise Unreadable("an argument was expected")
        return self.atom()

    def atom(self) -> Values:
        kind, text = self.tokens[self.at]
        if kind == _END:
            raise Unreadable("something is missing")
        self.at += 1
        if kind == "n":
            number = float(text)
            return (number, number, number)
        if kind == "p":
            return (math.pi, math.pi, math.pi)
        if kind == "v":
            self.variables.add(text)
            return self.known(text)
        if kind in _CLOSING:
            value = self.sum()
            if not self.take(_CLOSING[kind]):
                raise Unreadable("a bracket is not closed")
            return value
        self.operations += 1
        if kind == "F":
            return self.fraction()
        if kind == "R":
            degree = self.atom() if self.kind == "[" else (2.0, 2.0, 2.0)
            return _each(_root, self.argument(), degree)
        if kind == "f":
            return self.function(_FUNCTIONS[text])
        raise Unreadable(kind)

    def fraction(self) -> Values:
        r"""Two arguments: {a}{b}, or two digits as in \frac12."""
        kind, text = self.tokens[self.at]
        if kind == "n" and len(text) == 2 and text.isdigit():
            self.at += 1
            part = float(text[0]) / float(text[1])
            return (part, part, part)
        above = self.argument()
        return _each(lambda a, b: a / b, above, self.argument())

    def function(self, function: Callable[[float], float]) -> Values:
        exponent = self.argument() if self.take("^") else (1.0, 1.0, 1.0)
        inner = self.power()
        return _each(_raised, _each(lambda a, _: function(a), inner, inner), exponent)


def _raised(base: float, exponent: float) -> float:
    if abs(exponent) > LARGEST_EXPONENT or (base < 0 and exponent != int(exponent)):
        raise Unreadable("not a real power, or too large")
    return float(base**exponent)


def _root(value: float, degree: float) -> float:
    if value < 0 or degree <= 0:
        raise Unreadable("not a real root")
    return float(value ** (1 / degree))


def _factorial(value: float, _: float) -> float:
    if not 0 <= value <= LARGEST_FACTORIAL or value != int(value):
        raise Unreadable("not a factorial, or too large")
    return float(math.factorial(int(value)))
