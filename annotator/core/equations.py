"""Finds chains of equations, `a = b ≈ c`, in running text and LaTeX.

Words decide where an expression begins and ends: in "She has 5 apples + 3 apples = 8 apples and sells 2" the
units fall away and the last words end the chain. A side that can't be trusted to be complete is spoiled: it
holds a token of kind ``?``, which has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from annotator.core.mathtext import Token, words

MAX_UNIT_WORDS = 4
#: Stands among a side's units where one of them is squared or cubed.
UNIT_POWER = "^"


@dataclass(slots=True)
class Side:
    tokens: list[Token] = field(default_factory=list)
    units: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Chain:
    """`a = b ≈ c`: three sides, two relations."""

    sides: list[Side] = field(default_factory=lambda: [Side()])
    relations: list[Token] = field(default_factory=list)
    after_words: bool = False
    remainder_follows: bool = False


_OPERATOR_WORDS = {"times": "*", "plus": "+", "minus": "-"}
_OPERATOR_BY = {"divided": "/", "multiplied": "*"}
_SKIPPED_AFTER_RELATION = words("approximately about exactly only just roughly around")
#: Words that end an expression even where a unit could stand.
_STOP_WORDS = words(
    "a and so then is are was were the which that because since where when if or but this we i he she it "
    "they to has have had get gets gives with not now thus therefore hence as let giving"
)
#: A number after these is part of something larger than the expression that follows.
_SPOILERS = words(
    "of than half twice double triple thrice third quarter times by minus plus square root cube sin cos tan "
    "log ln exp mod gcd lcm max min sum product difference from divided multiplied less more remaining every"
)
_TOTALS = words("total sum product cost amount number value result profit difference quotient")
_MAGNITUDES = words(
    "hundred hundreds thousand thousands million millions billion billions trillion dozen dozens pair pairs "
    "score half halves quarter quarters mod choose squared cubed percent th st nd rd"
)
_REMAINDER_WORDS = words("remainder remainders remaining quotient full complete whole r")
_SHORT_UNITS = words("cm mm km kg mg ml lb lbs oz ft in kb mb gb min hr hrs sec mph kph pm am km/h")
_OPERAND_END = frozenset("n)]}%!π")
_OPERAND_START = frozenset("n([{FRBπ")
_BINARY = frozenset("+-*/^x")


def chains(tokens: Sequence[Token]) -> list[Chain]:
    """All chains with at least one relation, in order.

    >>> from annotator.core.mathtext import tokenize
    >>> [len(chain.sides) for chain in chains(tokenize("x = 3 + 4 = 7, so 2 apples are left"))]
    [3]
    """
    return _Reader(tokens).read()


class _Reader:
    """Walks the tokens once and gathers chains; words decide where an expression begins and ends."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.chain = Chain()
        self.found: list[Chain] = []
        self.last_word: Token | None = None
        self.spoiled = False

    def read(self) -> list[Chain]:
        """All chains with at least one relation."""
        at, tokens = 0, self.tokens
        while at < len(tokens):
            kind = tokens[at].kind
            if kind == "w":
                at = self.word(at)
                continue
            if kind == ";" or (kind == "|" and not self.next_is_relation(at)):
                self.finish(at)
                self.last_word, self.spoiled = None, False
            elif kind in ("=", "~"):
                self.relation(tokens[at])
            elif kind != "|":
                self.operand_or_operator(at)
            at += 1
        self.finish(at)
        return self.found

    def next_is_relation(self, at: int) -> bool:
        return at + 1 < len(self.tokens) and self.tokens[at + 1].kind in ("=", "~")

    @property
    def side(self) -> Side:
        return self.chain.sides[-1]

    def finish(self, at: int) -> None:
        if self.chain.relations:
            following = self.tokens[at : at + 6]
            self.chain.remainder_follows = any(token.text.lower() in _REMAINDER_WORDS for token in following)
            self.found.append(self.chain)
        if self.chain.relations or self.side.tokens:
            self.chain = Chain()

    def spoil(self, token: Token) -> None:
        self.side.tokens.append(Token("?", token.text, token.start, token.end, token.spaced))

    def relation(self, token: Token) -> None:
        self.chain.relations.append(token)
        self.chain.sides.append(Side())
        self.last_word, self.spoiled = None, False

    def operand_or_operator(self, at: int) -> None:
        token, side = self.tokens[at], self.side
        if not side.tokens and not self.chain.relations and (self.spoiled or self.continues_words(at)):
            self.spoil(token)
        if not side.tokens and not self.chain.relations:
            self.chain.after_words = self.last_word is not None
        if token.kind == "n" and side.tokens and side.tokens[-1].kind in "n%!":
            self.spoil(token)
        if token.kind == "x" and not (side.tokens and side.tokens[-1].kind in _OPERAND_END):
            self.spoil(token)
        side.tokens.append(token)
        self.last_word, self.spoiled = None, False

    def continues_words(self, at: int) -> bool:
        """An operator, or a bracket that touches a word, right after words goes on from something unnamed."""
        token, word = self.tokens[at], self.last_word
        if word is None:
            return False
        touching = not token.spaced
        if token.kind in "([":
            return touching or len(word.text) == 1
        if token.kind == "-":
            return touching or len(word.text) == 1 or self.spaced_after(at)
        return token.kind in "+*/^!%)]}x" or (token.kind == "n" and touching)

    def spaced_after(self, at: int) -> bool:
        return at + 1 == len(self.tokens) or self.tokens[at + 1].spaced

    def word(self, at: int) -> int:
        """Consume the word at that place, and the unit words after it; returns the next place."""
        token = self.tokens[at]
        text = token.text.lower()
        side = self.side
        if text in ("equals", "equal") and (side.tokens or self.chain.relations):
            self.relation(token)
            return at + 1 + self.is_word(at + 1, "to")
        if side.tokens and side.tokens[-1].kind in _OPERAND_END:
            return self.word_after_operand(at, text)
        if side.tokens and side.tokens[-1].kind in "([{":
            self.finish(at)
        elif side.tokens or self.chain.relations:
            if text not in _SKIPPED_AFTER_RELATION:
                self.spoil(token)
            return at + 1
        self.before_expression(token, text)
        return at + 1

    def before_expression(self, token: Token, text: str) -> None:
        previous = self.last_word.text.lower() if self.last_word else ""
        if text in _SPOILERS:
            self.spoiled = not (text == "of" and previous in _TOTALS)
        elif text in _STOP_WORDS - {"the", "a"}:
            self.spoiled = False
        self.last_word = token

    def is_word(self, at: int, text: str) -> bool:
        return at < len(self.tokens) and self.tokens[at].kind == "w" and self.tokens[at].text.lower() == text

    def word_after_operand(self, at: int, text: str) -> int:
        token = self.tokens[at]
        operator = _OPERATOR_WORDS.get(text) or (self.is_word(at + 1, "by") and _OPERATOR_BY.get(text))
        if text == "of" and at + 1 < len(self.tokens) and self.tokens[at + 1].kind in _OPERAND_START:
            operator = "*"
        if operator:
            self.side.tokens.append(Token(operator, token.text, token.start, token.end, True))
            return at + (2 if text in _OPERATOR_BY else 1)
        if self.is_variable(token):
            self.spoil(token)
            return at + 1
        return self.unit(at)

    def is_variable(self, token: Token) -> bool:
        touching = self.side.tokens[-1].end == token.start
        if len(token.text) == 1:
            return touching or token.text.lower() not in "ai"
        return (touching and len(token.text) <= 3 and token.text.lower() not in _SHORT_UNITS) or any(
            character.isdigit() for character in token.text
        )

    def unit(self, at: int) -> int:
        """Words after a number: a unit where an operator or relation follows, else the end of the chain."""
        words: set[str] = set()
        end = at
        while end < len(self.tokens) and len(words) < MAX_UNIT_WORDS:
            token = self.tokens[end]
            if token.kind == "/" and end + 1 < len(self.tokens) and self.tokens[end + 1].kind == "w":
                end += 1
                continue
            text = token.text.lower()
            per = end > at and self.tokens[end - 1].kind == "/"
            if token.kind != "w" or text in _STOP_WORDS or (len(text) == 1 and not per):
                break
            words.add(text)
            end += 1
        self.side.units |= words
        if words & _MAGNITUDES:
            self.spoil(self.tokens[at])
        past_power = self.after_unit_power(end) if words else end
        if past_power > end:
            self.side.units.add(UNIT_POWER)
        end = past_power
        following = self.tokens[end].kind if end < len(self.tokens) else ";"
        if following in _BINARY or following in "=~)]}" or (following == "|" and self.next_is_relation(end)):
            return max(end, at + 1)
        self.finish(at)
        self.before_expression(self.tokens[at], self.tokens[at].text.lower())
        return at + 1

    def after_unit_power(self, at: int) -> int:
        """Past the exponent of a unit, as in cm^2 and cm^{2}: it says nothing of the number before."""
        kinds = "".join(token.kind for token in self.tokens[at : at + 4])
        if kinds.startswith("^n"):
            return at + 2
        return at + 4 if kinds == "^{n}" else at
