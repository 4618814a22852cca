"""Checks the arithmetic that a step claims: `16 - 3 - 4 = 9` holds, `17 × 11 + 9 = 190` does not.

Precise rather than complete: whatever has a variable, an unknown word in the place of a number, or more than
one reading is ``NOT_CHECKED``, so that ``DOES_NOT_HOLD`` can be shown to a person as a reason to look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotator.core.arithmetic import Value, evaluate
from annotator.core.equations import UNIT_POWER, Chain, Side, chains
from annotator.core.mathtext import NotNumeric, Number, Token, decimals, literal, tokenize
from annotator.core.units import conversion, differ_in_size

MAX_CHECKS = 200
#: Relative error that floating point alone may cause.
ROUNDING = 1e-9
#: Relative error within which a conversion may be a rounded one.
ROUGHLY = 0.02


class Verdict(StrEnum):
    """NOT_CHECKED: not a claim about numbers alone, or beyond the caps."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does_not_hold"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True)
class Check:
    """One claim `left = right`; ``start`` and ``end`` are its character offsets in the text.

    ``left`` and ``right`` are the values found, None where a side is not a number; ``relative_error`` is
    |left - right| / max(|left|, |right|), in [0, 2], None when not checked.
    """

    verdict: Verdict
    start: int
    end: int
    left: Number | None = None
    right: Number | None = None
    relative_error: float | None = None


def check_equations(text: str) -> list[Check]:
    """Every equation in the text, in order, each with its verdict; linear in the text's length.

    >>> [str(check.verdict) for check in check_equations("She has 16 - 3 - 4 = 9 eggs, and 9 * 2 = $19.")]
    ['holds', 'does_not_hold']
    >>> [str(check.verdict) for check in check_equations(r"\\(x = 3 + 4 = 7\\)")]
    ['not_checked', 'holds']
    """
    return (
        check_tokens(tokenize(text), units=True)
        if "=" in text or "≈" in text or "\\approx" in text or "equals" in text
        else []
    )


def check_tokens(tokens: Sequence[Token], *, units: bool = False) -> list[Check]:
    """As `check_equations`, for text that is tokenized already; without ``units`` by the numbers alone, as the built-in
    scorer's weights were fitted."""
    checks: list[Check] = []
    for chain in chains(tokens):
        checks += [_check_pair(chain, index, units) for index in range(len(chain.relations))]
        if len(checks) >= MAX_CHECKS:
            return checks[:MAX_CHECKS]
    return checks


def _check_pair(chain: Chain, index: int, units: bool) -> Check:
    relation, left, right = chain.relations[index], chain.sides[index], chain.sides[index + 1]
    left_tokens = _within_brackets(left.tokens, keep_end=True)
    right_tokens = _within_brackets(right.tokens, keep_end=False)
    start = left_tokens[0].start if left_tokens else relation.start
    end = right_tokens[-1].end if right_tokens else relation.end
    left_value, right_value = _value(left_tokens), _value(right_tokens)
    if left_value is None or right_value is None or (units and any(map(_adds_unlike, (left, right)))):
        known = [value.number if value else None for value in (left_value, right_value)]
        return Check(Verdict.NOT_CHECKED, start, end, *known)
    factor = conversion(left.units, right.units) if units and not _share_a_unit(left, right) else None
    if factor is not None:
        return _check_conversion(start, end, left_value, right_value, factor)
    verdict = _verdict(left_value, right_value, right_tokens, approximate=relation.kind == "~")
    if verdict is Verdict.DOES_NOT_HOLD and (
        _has_another_reading(chain, index, left_value, right_tokens)
        or _is_a_rounded_operand(left_value, right_value, left_tokens + right_tokens)
    ):
        verdict = Verdict.NOT_CHECKED
    error = None if verdict is Verdict.NOT_CHECKED else _relative_error(left_value.number, right_value.number)
    return Check(verdict, start, end, left_value.number, right_value.number, error)


def _adds_unlike(side: Side) -> bool:
    """`1 hour + 20 minutes`: the numbers alone say nothing."""
    return any(token.kind in "+-" for token in side.tokens) and differ_in_size(side.units)


def _share_a_unit(left: Side, right: Side) -> bool:
    return bool((left.units & right.units) - {UNIT_POWER})


def _check_conversion(start: int, end: int, left: Value, right: Value, factor: float) -> Check:
    """`2 hours = 120 minutes`: the left number in the right one's unit. Inches and miles are rounded as people do.

    What is off by more than two per cent does not hold, where nothing was computed on the way and nobody speaks of a
    map's scale (a length that stands for a larger one).
    """
    error = _relative_error(left.number * factor, right.number)
    if error <= ROUNDING or (error <= ROUGHLY and isinstance(right.number, float)):
        return Check(Verdict.HOLDS, start, end, left.number, right.number, error)
    may_be_scale = factor < 1 and right.number > left.number * factor
    if error <= ROUGHLY or left.operations + right.operations or may_be_scale:
        return Check(Verdict.NOT_CHECKED, start, end, left.number, right.number)
    return Check(Verdict.DOES_NOT_HOLD, start, end, left.number, right.number, error)


def _within_brackets(tokens: list[Token], *, keep_end: bool) -> list[Token]:
    """What is left of a side when brackets that open or close outside of it are cut off.

    In `(20 × 5 = 100)` the sides are `(20 × 5` and `100)`. A left side keeps what follows its last unmatched
    opening bracket; a right side what precedes its first unmatched closing one. The opposite kind spoils it.
    """
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind in ("(", "[", "{"):
            opened.append(index)
        elif token.kind in (")", "]", "}"):
            if opened:
                opened.pop()
            elif keep_end:
                return []
            else:
                return tokens[:index]
    if not opened:
        return tokens
    return tokens[opened[-1] + 1 :] if keep_end else []


def _value(tokens: list[Token]) -> Value | None:
    try:
        return evaluate(tokens)
    except NotNumeric:
        return None


def _verdict(left: Value, right: Value, right_tokens: list[Token], *, approximate: bool) -> Verdict:
    if left.operations + right.operations == 0:
        return Verdict.NOT_CHECKED
    readings = [right.number]
    if len(right_tokens) == 2 and right_tokens[1].kind in "%!":
        readings.append(literal(right_tokens[0].text))
    scale = max(left.scale, right.scale)
    for reading in readings:
        if _same(left.number, reading, scale) or _same_as_shown(
            left.number, reading, right_tokens, approximate
        ):
            return Verdict.HOLDS
    if approximate and _relative_error(left.number, right.number) <= 0.005:
        return Verdict.HOLDS
    return Verdict.DOES_NOT_HOLD


def _same(left: Number, right: Number, scale: float) -> bool:
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    return abs(left - right) <= ROUNDING * max(scale, 1e-9)


def _same_as_shown(left: Number, right: Number, right_tokens: list[Token], approximate: bool) -> bool:
    """A number shown with k decimals stands for what rounds, or is cut off, to it.

    Without decimals only ≈ grants that: `10 / 3 = 3` does not hold, `10 / 3 ≈ 3` does.
    """
    shown = [token for token in right_tokens if token.kind == "n"]
    if len(shown) != 1 or any(token.kind not in "n-%" for token in right_tokens):
        return False
    places = decimals(shown[0].text)
    if places == 0 and not approximate:
        return False
    unit = 10.0**-places * (
        0.01 if right_tokens[-1].kind == "%" and right == literal(shown[0].text) / 100 else 1
    )
    cut = math.trunc(left / unit + math.copysign(1e-9, left)) * unit
    return abs(left - right) <= 0.5 * unit * (1 + 1e-6) or abs(cut - right) <= unit * 1e-6


def _relative_error(left: Number, right: Number) -> float:
    largest = max(abs(left), abs(right))
    return float(abs(left - right) / largest) if largest else 0.0


def _has_another_reading(chain: Chain, index: int, left_value: Value, right_tokens: list[Token]) -> bool:
    """Unequal numbers that need not be a mistake.

    A bare number that ends a phrase (`heating to 400 degrees = 20 + 8`), sides in different units
    (`1/2 hour = 30 minutes`), division with remainder (`9 ÷ 7 = 1 remainder 2`), and run-on chains
    (`5 + 3 = 8 * 2 = 16`), where the result is taken up before the next operation.
    """
    left, right = chain.sides[index], chain.sides[index + 1]
    if index == 0 and chain.after_words and left_value.operations == 0:
        return True
    if left.units and right.units and not _share_a_unit(left, right):
        return True
    goes_on = index + 1 < len(chain.relations)
    if chain.remainder_follows and not goes_on:
        return True
    first = right_tokens[0]
    return (
        goes_on and len(right_tokens) > 1 and first.kind == "n" and literal(first.text) == left_value.number
    )


def _is_a_rounded_operand(left: Value, right: Value, tokens: list[Token]) -> bool:
    """`2.8284^2 = 8`: a decimal of three places or more may have been rounded before it was used."""
    rounded = any(token.kind == "n" and decimals(token.text) >= 3 for token in tokens)
    return rounded and _relative_error(left.number, right.number) < 1e-3
