"""Starts the stub server and tells it what to do."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotator.core.solutions import Step
from annotator.scorers.base import Scored, ScoreFailure, ScoringInput

SCRIPT = Path(__file__).with_name("stub_server.py")


class Stub:
    """A running stub server. ``url`` is its address."""

    def __init__(self, port: int = 0) -> None:
        self._process = subprocess.Popen([sys.executable, SCRIPT, str(port)], stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"
        self.hosts = (f"127.0.0.1:{self.port}",)

    def tell(self, fault: str | None = None, **more: Any) -> None:
        """From now on, fail like that; without a fault, be well."""
        self._ask("POST", "/control", {"fault": fault, **more})

    def seen(self, path: str = "") -> list[dict[str, Any]]:
        """Requests so far, those to one path or all."""
        found = self._ask("GET", "/seen")["requests"]
        return [one for one in found if path in one["path"]]

    def most_busy(self) -> int:
        """The most requests that were under way at once."""
        return int(self._ask("GET", "/seen")["most_busy"])

    def is_as_new(self) -> bool:
        """Forget all. False where the process died or is still busy with what it was told."""
        return self._process.poll() is None and self._ask("POST", "/reset", {})["busy"] == 0

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)
        if self._process.stdout is not None:
            self._process.stdout.close()


def solution(*texts: str, problem: str = "What is 1 + 1?") -> ScoringInput:
    """Steps that take labels; a text that starts with ``>`` is context."""
    steps = [Step(t[1:], kind="observation", judged=False) if t.startswith(">") else Step(t) for t in texts]
    return ScoringInput(problem, tuple(steps))


def run(scorer: Any, *items: ScoringInput) -> list[Scored | ScoreFailure]:
    found: list[Scored | ScoreFailure] = scorer.score(items, cancelled=lambda: False)
    return found


def scored(results: Sequence[Scored | ScoreFailure]) -> Scored:
    (only,) = results
    assert isinstance(only, Scored), only
    return only


def failure(results: Sequence[Scored | ScoreFailure]) -> ScoreFailure:
    (only,) = results
    assert isinstance(only, ScoreFailure), only
    return only
