"""What workers see of a scorer's server, kept for the page that shows it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from annotator.models import Scorer
from annotator.scorers.base import Scorer as RunningScorer
from annotator.scorers.breaker import CircuitOpen
from annotator.scorers.http import RequestFailed

#: Seconds before what failed for the server's sake is tried again, and before settings that don't work are.
PAUSE, LONG_PAUSE = 10.0, 300.0


@dataclass(frozen=True)
class NotNow:
    """Why a job can't go on, and the seconds until another try. ``state``: failing, open, half_open, refused."""

    reason: str
    pause: float
    state: str = "failing"


def trouble(error: Exception) -> NotNow:
    """What an error says of the server, and how long to leave it alone."""
    if isinstance(error, CircuitOpen):
        return NotNow(error.state.last_error or str(error), max(PAUSE, error.retry_in), "open")
    if isinstance(error, RequestFailed):
        return NotNow(str(error), PAUSE)
    return NotNow(str(error), LONG_PAUSE, "refused")


def state_of(found: RunningScorer) -> str:
    """The circuit to the scorer's server; "closed" where it has none."""
    state = getattr(found, "state", None)
    return str(state.circuit.value) if state is not None else "closed"


def note(scorer: Scorer, seen: NotNow | None) -> None:
    """Keep what a worker saw, for the page. Written only where it says something new."""
    before = scorer.circuit
    if seen is None:
        if before:
            Scorer.objects.filter(pk=scorer.pk).update(circuit={})
        return
    since = before.get("since") if before.get("state") == seen.state else None
    circuit = {"state": seen.state, "since": since or int(time.time()), "error": seen.reason[:500]}
    if circuit != before:
        Scorer.objects.filter(pk=scorer.pk).update(circuit=circuit)
