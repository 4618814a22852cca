"""Kinds of wording in a step, counted in its lower-case text.

Searching each alternative at every word took half of the fast pass's time. So each kind names the letters that its
matches contain, one or another: a text without them is passed over, and the count is the same.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple


class Wording(NamedTuple):
    """``pattern``: what is counted; ``needs``: every match contains one of these."""

    pattern: re.Pattern[str]
    needs: tuple[str, ...]

    def count(self, lower: str) -> int:
        """Matches in a text in lower case."""
        for need in self.needs:
            if need in lower:
                return len(self.pattern.findall(lower))
        return 0


def _wording(pattern: str, needs: str) -> Wording:
    return Wording(re.compile(pattern), tuple(needs.split()))


WORDINGS = {
    "hedges": _wording(
        r"\b(?:approximately|about|roughly|probably|perhaps|maybe|seems?|likely|might|unclear|however)\b",
        "approx about roughly probably perhaps maybe seem likely might unclear however",
    ),
    "assumes": _wording(
        r"\b(?:assum\w+|suppose|let's say|presum\w+|not (?:specified|given|stated)|would mean)\b",
        "ssum suppose let's presum not would",
    ),
    "second_thoughts": _wording(
        r"\b(?:wait|mistake|incorrect|actually|re-?check|correction|instead|contradict\w*|error)\b",
        "wait mistake correct actually check instead contradict error",
    ),
    "concludes": _wording(
        r"\b(?:therefore|thus|hence|so,|in conclusion|finally)",
        "therefore thus hence so, conclusion finally",
    ),
    "restates": _wording(
        r"\b(?:we (?:know|are given|have)|given|let's (?:break|start|define)|to (?:find|solve|determine))\b",
        "we given let's to",
    ),
    "questions": _wording(r"\?", "?"),
    "compares_with_more_or_less": _wording(
        r"\b(?:more|less|fewer|greater|older|younger|taller) than\b|\btwice\b|\btimes as\b",
        "than twice times",
    ),
    "percentages": _wording(r"%|\bpercent", "% percent"),
    "fractions": _wording(r"\\d?frac|\d/\d|\b(?:half|third|quarter)s?\b", "frac / half third quarter"),
    "solves_for_unknown": _wording(
        r"\b(?:solv\w+|substitut\w+|subtract\w*|simplif\w+|isolat\w+|divid\w+ both)\b|\b[xyz]\s*=",
        "solv subst subtr simplif isolat divid =",
    ),
    "shares_of_a_whole": _wording(
        r"\b(?:remaining|rest|left|each|every|per|total|altogether|combined|average)\b",
        "remaining rest left each every per total altogether combined average",
    ),
    "units_of_time": _wording(
        r"\b(?:hours?|minutes?|seconds?|days?|weeks?|months?|years?)\b",
        "hour minute second day week month year",
    ),
    "rounds": _wording(
        r"\b(?:round\w*|nearest|whole number|integer|ceil\w*|floor)\b",
        "round nearest whole integer ceil floor",
    ),
}


def counted(lower: str) -> list[float]:
    """The logarithm of one plus the count of each of WORDINGS, in order."""
    return [math.log1p(wording.count(lower)) for wording in WORDINGS.values()]
