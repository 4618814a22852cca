"""Whether a step's equations follow from what stands before them: features for formulas with variables.

Each equation is compared with those before it by values (see `algebra`): two sides that are always equal, an
equation that is a multiple of an earlier one, a solution that satisfies what was to be solved.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from annotator.scorers.builtin.algebra import Valued, Values, equations, same, valued

DERIVATIONS = (
    "derived_before_failed",
    "identities_hold",
    "identities_fail",
    "equations_open",
    "multiples_of_earlier",
    "not_derived_from_earlier",
    "solutions_hold",
    "solutions_fail",
    "solutions_fail_in_a_case",
    "solutions_untested",
    "substitutions_hold",
    "substitutions_fail",
    "value_changed",
    "values_agree",
    "values_differ",
    "sides_unread",
    "log_equation_pairs",
)
#: Earlier equations that are looked at, and those a solution is tried in.
REMEMBERED, TRIED = 30, 8
#: Values of a variable that are kept.
KEPT_VALUES = 4
#: Relative errors that roundings in the text may cause.
ROUNDED, SOLVED = 5e-3, 2e-3

#: Where a value is one of several, tried, or assumed.
_CASE = re.compile(
    r"\b(?:try|trying|test\w*|for|if|cases?|when|let|suppose|assum\w+|either|or|plug\w*|check\w*|at|range|roots?"
    r"|solutions|zeros?|intercepts?|vert\w+|points?|contradict\w+|impossible|not)\b",
    re.IGNORECASE,
)
_DIVISION = re.compile(r"remainder|quotient|\bmod\b|divi\w+ by|base")


#: Sides come again from step to step and from solution to solution.
_worth = lru_cache(maxsize=4_096)(valued)


class Equation(NamedTuple):
    """Both sides as values and as text."""

    left: Values
    right: Values
    variables: frozenset[str]
    sides: tuple[str, str]


@dataclass(slots=True)
class Derivation:
    """What has been written so far: equations, and the values that variables were found to have."""

    equations: list[Equation] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=dict)
    failed: bool = False

    def read(self, text: str) -> list[float]:
        """One number for each of DERIVATIONS; then the step becomes part of what is known."""
        counts = dict.fromkeys(DERIVATIONS, 0.0)
        counts["derived_before_failed"] = float(self.failed)
        for sides in equations(text):
            values = [_worth(side) for side in sides]
            for place, (left, right) in enumerate(pairwise(values)):
                counts["log_equation_pairs"] += 1
                pair = (sides[place], sides[place + 1])
                if left is None or right is None:
                    counts["sides_unread"] += 1
                elif not left.variables and not right.variables:
                    if left.operations + right.operations and not _DIVISION.search(text):
                        agree = same(left.values, right.values, ROUNDED)
                        counts["values_agree" if agree else "values_differ"] += 1
                elif pair[0] != pair[1]:
                    for name in self._judge(left, right, pair, (place, len(sides)), text):
                        counts[name] += 1
        self.equations = self.equations[-REMEMBERED:]
        self.failed |= bool(
            counts["solutions_fail"] + counts["substitutions_fail"] + counts["identities_fail"]
        )
        return [
            value if name == "derived_before_failed" else math.log1p(value) for name, value in counts.items()
        ]

    def _judge(
        self, left: Valued, right: Valued, sides: tuple[str, str], at: tuple[int, int], text: str
    ) -> list[str]:
        """Names of what one pair of sides in the text shows; ``at``: its place in a chain of so many sides."""
        place, length = at
        if (
            not right.variables
            and len(left.variables) == 1
            and not left.operations
            and sides[0][0] not in "-+({["
        ):
            return self._solution(next(iter(left.variables)), right.values[0], place, text)
        if left.variables & right.variables or (place and length > 2):
            if same(left.values, right.values):
                return ["identities_hold"]
            if place and left.variables == right.variables:
                return ["identities_fail"]
        variables = left.variables | right.variables
        found = self._substitution(variables, sides)
        difference = _difference(left.values, right.values)
        if not all(abs(value) > 1e-9 for value in difference):
            return found
        comparable = [
            one for one in self.equations[-REMEMBERED:] if one.variables == variables and one.sides != sides
        ]
        follows = any(_proportional(difference, _difference(one.left, one.right)) for one in comparable)
        if follows:
            found.append("multiples_of_earlier")
        elif comparable:
            found.append("not_derived_from_earlier")
        if not place and left.variables == right.variables and left.operations and not follows:
            found.append("equations_open")
        self.equations.append(Equation(left.values, right.values, variables, sides))
        return found

    def _solution(self, variable: str, number: float, place: int, text: str) -> list[str]:
        """`x = 3`: whether it satisfies one of the last equations in x."""
        before = self.values.setdefault(variable, [])
        found = []
        if before and not place and not any(abs(number - one) <= 1e-3 * max(1.0, abs(one)) for one in before):
            found.append("value_changed")
        tested, holds = False, False
        for one in self.equations[-TRIED:]:
            if variable in one.variables and all(
                name == variable or self._settled(name) for name in one.variables
            ):
                agrees = self._agrees(one.sides, SOLVED, variable, number)
                tested |= agrees is not None
                holds |= bool(agrees)
        if not tested:
            found.append("solutions_untested")
        elif holds:
            found.append("solutions_hold")
        else:
            in_a_case = bool(before) or bool(_CASE.search(text))
            found.append("solutions_fail_in_a_case" if in_a_case else "solutions_fail")
        self.values[variable] = [*before, number][-KEPT_VALUES:]
        return found

    def _substitution(self, variables: frozenset[str], sides: tuple[str, str]) -> list[str]:
        """An equation in known variables alone: whether it holds."""
        if not all(self._settled(name) for name in variables):
            return []
        agrees = self._agrees(sides, ROUNDED)
        return [] if agrees is None else ["substitutions_hold" if agrees else "substitutions_fail"]

    def _settled(self, variable: str) -> bool:
        return len(set(self.values.get(variable, ()))) == 1

    def _agrees(
        self, sides: tuple[str, str], tolerance: float, variable: str = "", number: float = 0.0
    ) -> bool | None:
        def known(name: str) -> Values:
            value = number if name == variable else self.values[name][-1]
            return (value, value, value)

        left, right = valued(sides[0], known), valued(sides[1], known)
        return None if left is None or right is None else same(left.values, right.values, tolerance)


def _difference(left: Values, right: Values) -> Values:
    return (left[0] - right[0], left[1] - right[1], left[2] - right[2])


def _proportional(one: Values, other: Values) -> bool:
    """Whether one is the other times a number; ``other`` is not zero."""
    first = one[0] / other[0]
    return all(abs(a / b - first) <= 1e-6 * max(1.0, abs(first)) for a, b in zip(one, other, strict=True))
