"""Who gets what, by chance: the train/holdout split and the route of a claim. Arithmetic only, no database."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

HOLDOUT_SHARE = 0.1

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NOISE = re.compile(r"[^\w#]+")


class Route(StrEnum):
    """How a solution came to a person. AUDIT keeps a simple random sample whatever the priority says.

    SIBLING is never drawn: it stands in for PRIORITY or HOLDOUT while the last problem has solutions left.
    """

    PRIORITY = "priority"
    SIBLING = "sibling"
    AUDIT = "audit"
    HOLDOUT = "holdout"
    GOLD = "gold"


@dataclass(frozen=True)
class Shares:
    """The chance of each route; what is left over goes to PRIORITY. Their sum is at most 1 without gold."""

    gold: float
    audit: float
    holdout: float


def normalise(text: str) -> str:
    """A problem's text without what near-duplicates differ in: case, punctuation, spacing and numbers.

    >>> normalise("Tom has 3 apples.") == normalise("tom has  12 apples")
    True
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NOISE.sub(" ", _NUMBER.sub("#", folded)).strip()


def in_holdout(key: str, text: str, share: float = HOLDOUT_SHARE) -> bool:
    """Whether a problem belongs to the holdout: HMAC-SHA256 of its normalised text under the project's key.

    Near-duplicates share a normalised text and so a side; without the key nobody can choose a side.

    >>> in_holdout("k", "Tom has 3 apples.") == in_holdout("k", "tom has 4 apples")
    True
    """
    mac = hmac.new(key.encode(), normalise(text).encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
    return int.from_bytes(mac[:8], "big") / 2**64 < share


def choose_route(gold_draw: float, route_draw: float, shares: Shares) -> list[Route]:
    """Routes to try in order, from two uniform draws in [0, 1): the drawn one first, then what may stand in for it.

    Gold and audit never stand in, so that their rates hold; priority and holdout do when the drawn route has nothing.

    >>> [route.value for route in choose_route(0.5, 0.05, Shares(gold=0.05, audit=0.1, holdout=0.1))]
    ['audit', 'priority', 'holdout']
    >>> choose_route(0.01, 0.9, Shares(gold=0.05, audit=0.1, holdout=0.1))[0].value
    'gold'
    """
    if route_draw < shares.audit:
        order = [Route.AUDIT, Route.PRIORITY, Route.HOLDOUT]
    elif route_draw < shares.audit + shares.holdout:
        order = [Route.HOLDOUT, Route.PRIORITY]
    else:
        order = [Route.PRIORITY, Route.HOLDOUT]
    return [Route.GOLD, *order] if gold_draw < shares.gold else order
