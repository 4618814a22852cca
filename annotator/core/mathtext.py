"""Tokens of arithmetic as people and LaTeX write it. The time is linear in the text, of which at most
`MAX_CHARS` characters are read."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_CHARS = 20_000
MAX_DIGITS = 30

Number = int | float


class NotNumeric(ValueError):
    """The text is not an expression of numbers alone, or is beyond the caps."""


def words(text: str) -> frozenset[str]:
    """A set of words, written as people read it."""
    return frozenset(text.split())


class Token(NamedTuple):
    """``kind``: n number, w word, = relation, ~ approximate relation, ; hard break, | soft break (a line),
    ? something that can't be evaluated, F \\frac, B \\binom, C \\choose, R root, else the operator itself."""

    kind: str
    text: str
    start: int
    end: int
    spaced: bool


_TOKEN = re.compile(
    r"""
      (?P<hard>\$\$|\\[\[\]]|\\(?:begin|end)\{[^{}\n]{0,30}\}|[<>]=|(?<![\d\s)}])!=|(?<![=\-])[=\-]+>)
    | (?P<soft>(?:\n|\\\\)[\s&]*(?:(?<=\n)[-*•]\s+)?)
    | (?P<power>(?<=[\d)])\*\*(?=[\d(]))
    | (?P<space>(?:[ \t\r\f\v~&$€£¥°\u00a0\u202f\#] | \\[,;!:>()$\x20] | \*\*
        | \^\s?(?:\{\s?\\circ\s?\}|\\circ(?![A-Za-z])))+)
    | (?P<repeating>\d*\.\d*\s?\\(?:overline|bar|dot)(?![A-Za-z]))
    | (?P<num>\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)
    | \\(?:text|textbf|textit|mathrm|mbox|operatorname)\s?\{(?P<label>[^{}\n]{0,80})\}
    | \\(?P<command>[A-Za-z]+)
    | (?P<rel>=+)
    | (?P<approx>≈|≃)
    | (?P<times>[xX](?=\s*\$?\d|\s+\())
    | (?P<op>[-+−–*×·∙⋅÷/^!%()\[\]{}²³√π\u2044])
    | (?P<word>[^\W\d_][^\W_]*(?:['’]+[^\W\d_]*)?)
    | (?P<odd>\.{2,}|…|_|\|)
    | (?P<other>\\.?|[^\s])
    """,
    re.VERBOSE,
)

_SPACE_COMMANDS = words(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr quad qquad displaystyle textstyle boxed mathbf fbox "
    "degree dollar limits"
)
_HARD_COMMANDS = words(
    "implies Rightarrow Longrightarrow rightarrow to iff Leftrightarrow therefore because le leq ge geq lt "
    "gt ne neq leqslant geqslant equiv land lor qed"
)
_COMMANDS = {
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), "F"),
    **dict.fromkeys(("binom", "dbinom", "tbinom"), "B"),
    **dict.fromkeys(("times", "cdot", "ast", "bullet"), "*"),
    **dict.fromkeys(("approx", "simeq", "doteq"), "~"),
    **dict.fromkeys(("lbrace", "lbrack"), "("),
    **dict.fromkeys(("rbrace", "rbrack"), ")"),
    "sqrt": "R",
    "div": "/",
    "choose": "C",
    "pi": "π",
}
_OPERATORS = {
    **dict.fromkeys("×·∙⋅", "*"),
    **dict.fromkeys("÷\u2044", "/"),
    **dict.fromkeys("−–", "-"),
    "√": "R",
}
_LABEL_WORD = re.compile(r"[^\W\d_]+")


def tokenize(text: str) -> list[Token]:
    """Tokens of the first `MAX_CHARS` characters; spacing, currency signs and math delimiters fall away.

    >>> "".join(token.kind for token in tokenize(r"$5 \\cdot \\frac{1}{2} = 2.5$"))
    'n*F{n}{n}=n'
    """
    tokens: list[Token] = []
    spaced = False
    for match in _TOKEN.finditer(text[:MAX_CHARS]):
        group = match.lastgroup or "other"
        body = match.group()
        if group == "space":
            spaced = True
            continue
        start, end = match.span()
        if group == "label":
            _add_label(tokens, match.group("label"), start, end)
        elif (kind := _kind(group, body)) == "superscript":
            tokens += (
                Token("^", "^", start, end, spaced),
                Token("n", "2" if body == "²" else "3", start, end, False),
            )
        elif kind:
            tokens.append(Token(kind, body, start, end, spaced))
        spaced = _sets_apart(group, body)
    return tokens


def _sets_apart(group: str, body: str) -> bool:
    """Whether what follows counts as set apart by a space."""
    return group in ("soft", "label") or (group == "command" and body[1:] in ("quad", "qquad"))


_GROUP_KINDS = {
    "hard": ";",
    "soft": "|",
    "power": "^",
    "num": "n",
    "rel": "=",
    "approx": "~",
    "times": "x",
    "word": "w",
    "odd": "?",
    "repeating": "?",
    "other": ";",
}


def _kind(group: str, body: str) -> str:
    if group == "op":
        return "superscript" if body in "²³" else _OPERATORS.get(body, body)
    if group == "command":
        name = body[1:]
        if name in _SPACE_COMMANDS:
            return ""
        return ";" if name in _HARD_COMMANDS else _COMMANDS.get(name, "?")
    return _GROUP_KINDS[group]


def _add_label(tokens: list[Token], label: str, start: int, end: int) -> None:
    """Words inside \\text{…} behave as words do outside of it; with figures inside, nothing is evaluated."""
    if any(character.isdigit() for character in label):
        tokens.append(Token("?", label, start, end, True))
        return
    for word in _LABEL_WORD.findall(label):
        tokens.append(Token("w", word, start, end, True))


def literal(text: str) -> Number:
    """The value of a number as written, thousands separators included.

    >>> literal("1,234.50"), literal("7")
    (1234.5, 7)
    """
    plain = text.replace("{,}", "").replace("\\,", "").replace(",", "")
    if len(plain) > MAX_DIGITS:
        raise NotNumeric("number too long")
    return float(plain) if "." in plain else int(plain)


def decimals(text: str) -> int:
    """Digits shown after the point."""
    return len(text) - text.index(".") - 1 if "." in text else 0
