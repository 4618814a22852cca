"""Cutting an export into train, validation and test by problem, the same way each time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import accumulate

from annotator.core.sampling import normalise

TRAIN, VALIDATION, TEST = "train", "validation", "test"
NAMES = {2: (TRAIN, TEST), 3: (TRAIN, VALIDATION, TEST)}


class BadParts(ValueError):
    """Shares, a seed or a part that can't be; the message says what they look like."""


@dataclass(frozen=True)
class Parts:
    """Shares in per cent, such as (80, 10, 10), and a seed. ``only`` names the one part that is wanted, "" all."""

    shares: tuple[int, ...]
    seed: int = 0
    only: str = ""

    def __post_init__(self) -> None:
        if len(self.shares) not in NAMES or sum(self.shares) != 100 or min(self.shares) < 1:
            raise BadParts(
                "A split by problem is two or three shares that make 100, such as 80/10/10 or 90/10."
            )
        if self.only and self.only not in self.names:
            raise BadParts(f"The parts of this split are: {', '.join(self.names)}.")

    @property
    def names(self) -> tuple[str, ...]:
        """The parts, in the order of their shares."""
        return NAMES[len(self.shares)]

    def of(self, problem: str, *, holdout: bool = False) -> str:
        """The part of a problem: SHA-256 of seed and normalised text, so that near-duplicates stay together.

        The project's holdout is for evaluation: it never lands in train or validation.

        >>> parts = Parts((80, 10, 10), seed=1)
        >>> parts.of("Tom has 3 apples.") == parts.of("tom has 12 apples")
        True
        >>> parts.of("Anything at all", holdout=True)
        'test'
        """
        if holdout:
            return TEST
        text = f"{self.seed}\n{normalise(problem)}".encode("utf-8", "surrogatepass")
        draw = 100 * int.from_bytes(hashlib.sha256(text).digest()[:8], "big") / 2**64
        bounds = zip(self.names, accumulate(self.shares), strict=True)
        return next(name for name, bound in bounds if draw < bound)


def read_parts(shares: str, *, seed: object = 0, only: str = "") -> Parts:
    """Parts from words. Raises BadParts.

    >>> read_parts("90/10", seed="7")
    Parts(shares=(90, 10), seed=7, only='')
    """
    try:
        found = tuple(int(share) for share in shares.split("/"))
    except ValueError:
        found = ()
    try:
        number = int(str(seed or 0))
    except ValueError:
        raise BadParts("A seed is a whole number.") from None
    return Parts(found, number, only)
