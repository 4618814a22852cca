"""A circuit breaker: after several failures in a row a server is left alone for a while, then tried once.

Nygard 2007, Release It!, chapter 5. Only failures of the server count (it can't be reached, does not answer in
time, refuses us), never a reply that doesn't fit one solution.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

#: Failures in a row that open the circuit, and seconds until it is tried again: doubled each time, up to the last.
FAILURES = 5
FIRST_PAUSE = 10.0
LONGEST_PAUSE = 300.0
#: Seconds after which a trial that never reported back is forgotten, its thread having died.
TRIAL = 120.0


class Circuit(StrEnum):
    """CLOSED: in use. OPEN: left alone. HALF_OPEN: one request is trying whether the server is back."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class BreakerState:
    """What a page shows. ``since`` is in seconds since the epoch, ``retry_in`` in seconds from now (0: now)."""

    circuit: Circuit
    since: float
    failures: int
    last_error: str | None
    retry_in: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The same, for a column or a reply."""
        return {
            "circuit": self.circuit.value,
            "since": self.since,
            "failures": self.failures,
            "last_error": self.last_error,
            "retry_in": self.retry_in,
        }


class CircuitOpen(Exception):
    """The server has failed several times and is left alone; ``retry_in`` seconds remain."""

    def __init__(self, state: BreakerState) -> None:
        super().__init__(
            f"The server is left alone for {max(1, round(state.retry_in))} s after {state.failures} failures in a row."
            f" The last one: {state.last_error}"
        )
        self.state = state
        self.retry_in = state.retry_in


class Breaker:
    """One server's circuit; threads share it. ``clock`` counts seconds, ``wall`` tells the time."""

    def __init__(
        self,
        *,
        failures: int = FAILURES,
        pause: float = FIRST_PAUSE,
        longest: float = LONGEST_PAUSE,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._limit = failures
        self._first = self._pause = pause
        self._longest = longest
        self._clock, self._wall = clock, wall
        self._lock = threading.Lock()
        self._circuit, self._since = Circuit.CLOSED, wall()
        self._failures = 0
        self._error: str | None = None
        self._until = 0.0

    @property
    def state(self) -> BreakerState:
        """As of now."""
        with self._lock:
            return self._state()

    def enter(self) -> None:
        """Ask before a request. Raises CircuitOpen; after the pause one caller gets through, the others don't."""
        with self._lock:
            if self._circuit is Circuit.CLOSED:
                return
            if self._clock() < self._until:
                raise CircuitOpen(self._state())
            self._until = self._clock() + TRIAL
            self._move(Circuit.HALF_OPEN)

    def succeeded(self) -> None:
        """The server answered."""
        with self._lock:
            self._failures, self._pause = 0, self._first
            if self._circuit is not Circuit.CLOSED:
                self._move(Circuit.CLOSED)

    def failed(self, reason: str) -> None:
        """The server did not answer, or would not serve us; ``reason`` is a sentence without secrets."""
        with self._lock:
            self._failures += 1
            self._error = reason
            if self._circuit is Circuit.HALF_OPEN:
                self._pause = min(self._longest, self._pause * 2)
            if self._circuit is Circuit.HALF_OPEN or self._failures >= self._limit:
                self._until = self._clock() + self._pause
                if self._circuit is not Circuit.OPEN:
                    self._move(Circuit.OPEN)

    def gave_up(self) -> None:
        """A request ended without saying anything about the server; a trial must not block the next one."""
        with self._lock:
            if self._circuit is Circuit.HALF_OPEN:
                self._until = self._clock()
                self._move(Circuit.OPEN)

    def _move(self, circuit: Circuit) -> None:
        self._circuit, self._since = circuit, self._wall()

    def _state(self) -> BreakerState:
        open_for = max(0.0, self._until - self._clock()) if self._circuit is Circuit.OPEN else 0.0
        return BreakerState(self._circuit, self._since, self._failures, self._error, open_for)
