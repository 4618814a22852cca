"""Telling the problems of well-known benchmarks by a hash, so that they don't slip into training unseen.

Only hashes are kept: a benchmark's text stays with whoever has it.
"""

from __future__ import annotations

import re
import unicodedata

from annotator.core.solutions import digest

#: How LaTeX is set rather than what it says; numbers and signs stay, since they make another problem.
_SETTING = re.compile(r"\\(?:left|right|displaystyle|,|;|!|:|quad|qquad)(?![a-z])|[\s$~]|\\[()\[\]]")
_FRACTION = re.compile(r"\\[dt]frac(?![a-z])")


def normalised(text: str) -> str:
    r"""A problem's text without what copies of one benchmark differ in: case, spacing and how formulas are set.

    >>> normalised("Find  $\\dfrac{1}{2}$.") == normalised("find \\(\\frac{1}{2}\\)")
    True
    >>> normalised("What is 1 + 1?") == normalised("What is 1 + 2?")
    False
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SETTING.sub("", _FRACTION.sub(r"\\frac", folded)).rstrip(".?!:")


def fingerprint(text: str) -> bytes:
    """32 bytes that stand for a problem's text, however it is set."""
    return digest(["benchmark", normalised(text)])


def flag(benchmark: str) -> str:
    """How a native row says that a benchmark holds its problem."""
    return f"benchmark:{benchmark}"
