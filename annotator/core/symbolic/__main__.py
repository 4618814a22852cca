"""The server: a line of JSON in, a line of JSON out, until its input ends. Its client kills it when it is slow."""

from __future__ import annotations

import json
import select
import sys

from annotator.core.symbolic import jail
from annotator.core.symbolic.work import OPERATIONS, begin

#: Seconds of computing for one question, and seconds without one after which the server ends.
SECONDS, IDLE = 2, 600


def main() -> None:
    """Answer questions ``{"id", "op", "left", "right"}`` with ``{"id", "verdict": true | false | null}``."""
    begin()
    jail.lock()
    _say({"ready": True})
    while select.select([sys.stdin], [], [], IDLE)[0]:
        line = sys.stdin.readline()
        if not line:
            return
        asked = json.loads(line)
        jail.allow_seconds(SECONDS)
        try:
            verdict = OPERATIONS[asked["op"]](asked["left"], asked["right"])
        except Exception:  # noqa: BLE001  two libraries' own, RecursionError, MemoryError, what the jail refuses
            verdict = None
        _say({"id": asked["id"], "verdict": verdict})


def _say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
