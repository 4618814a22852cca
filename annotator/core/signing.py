"""Signatures of messages to other programs, and how such a program checks one."""

from __future__ import annotations

import hashlib
import hmac

#: Seconds that a message's time may differ from the clock of whoever checks it.
TOLERANCE = 300


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """HMAC-SHA256 (RFC 2104) of ``timestamp.body`` under the secret, in hexadecimal.

    >>> signature("s", 1, b"{}")[:16]
    'b253639bcd705ed1'
    """
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def is_genuine(secret: str, timestamp: int, body: bytes, given: str, now: float) -> bool:
    """Whether a message comes from whoever knows the secret, and just now, so that nobody can send it again later.

    >>> is_genuine("s", 100, b"{}", signature("s", 100, b"{}"), now=130)
    True
    >>> is_genuine("s", 100, b"{}", signature("s", 100, b"{}"), now=1000)
    False
    """
    fresh = abs(now - timestamp) <= TOLERANCE
    return fresh and hmac.compare_digest(signature(secret, timestamp, body), given)
