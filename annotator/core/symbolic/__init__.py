"""Symbolic mathematics on somebody's text, in a process that can be killed.

sympy has no bounds of its own: `9^{9^9}` fills the memory, and no thread can be stopped. So one child process
answers, a line of JSON a question; one that takes too long, or too much memory, is killed, and the next question
starts another. Nothing is ever undecided by accident: a question without an answer is `None`, like one that can't be
read.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import selectors
import subprocess
import sys
import threading
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

#: Seconds for an answer. The child also ends itself after 2 to 3 s of computing: this limit is for a busy machine.
SECONDS = 10.0
#: Seconds to import sympy on a busy machine.
START_SECONDS = 60.0
#: Longest side of a question, in characters; deepest nesting of brackets.
LONGEST, DEEPEST = 1_000, 12
#: A factorial or power that no answer needs: five digits, or a power of a power of two digits and more.
_BOMB = re.compile(
    r"\d{5}\s*!|\^\s*\{?\s*\d{5}|!\s*!|\d\s*\^\s*\{?\s*\d+\s*\}?\s*\^|\\[dt]?binom\s*\{[^{}]*(?:\^|\d{5})|\^\s*\{\s*\d+\s*\^"
)
_ROOT = Path(__file__).parents[3]


class Symbolic:
    """A client with its child. Threads share it: one question at a time. ``starts`` counts children."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.starts = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._asked = 0
        self._buffer = b""

    def same(self, gold: str, answer: str) -> bool | None:
        """Whether two final answers in LaTeX are the same; None where that can't be said."""
        return self._patiently("same", gold, answer)

    def identity(self, left: str, right: str) -> bool | None:
        """True where both sides of an equation in LaTeX are always equal, False where never, None else."""
        return self._patiently("identity", left, right)

    def close(self) -> None:
        """End the child; the next question starts another."""
        with self._lock:
            self._end()

    def _patiently(self, op: str, left: str, right: str) -> bool | None:
        try:
            return self.ask(op, left, right)
        except TimeoutError:
            return None

    def ask(self, op: str, left: str, right: str) -> bool | None:
        """One question. Raises TimeoutError where the clock ran out: on a busy machine that says little of it."""
        if not (_askable(left) and _askable(right)):
            return None
        with self._lock:
            self._asked += 1
            question = {"id": self._asked, "op": op, "left": left, "right": right}
            for _ in range(2):
                child, started = self._running()
                if child is None:
                    raise TimeoutError("no child could be started")
                sent = _write(child, question)
                try:
                    answer = self._read(child, self.seconds) if sent else None
                except TimeoutError:
                    self._end()
                    raise
                if isinstance(answer, dict) and answer.get("id") == self._asked:
                    verdict = answer.get("verdict")
                    return verdict if isinstance(verdict, bool) else None
                self._end()
                if sent or started:
                    return None  # it was killed over this question; an idle child that had ended deserves a second try
        return None

    def _running(self) -> tuple[subprocess.Popen[bytes] | None, bool]:
        """The child, and whether it was started just now; None where none can be had."""
        if self._child is not None and self._child.poll() is None:
            return self._child, False
        self._end()
        self._child, self._buffer = _start(), b""
        self.starts += 1
        try:
            ready = self._read(self._child, START_SECONDS) == {"ready": True}
        except TimeoutError:
            ready = False
        if not ready:
            self._end()
        return self._child, True

    def _read(self, child: subprocess.Popen[bytes], seconds: float) -> Any:
        """The child's next line as JSON, None where it has ended. Raises TimeoutError."""
        assert child.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as waiting:
            waiting.register(child.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not waiting.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                part = os.read(child.stdout.fileno(), 65_536)
                if not part:
                    return None
                self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            return json.loads(line)
        except ValueError:
            return None

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        with contextlib.suppress(OSError):
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
        child.wait()

    def forget(self) -> None:
        """In a forked process: the child belongs to the parent. Its pipes are closed here, and it is left alone."""
        child, self._child = self._child, None
        self._lock = threading.Lock()
        if child is not None:
            child.returncode = 0  # else it would be waited for, which only the parent may
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()


def _start() -> subprocess.Popen[bytes]:
    """A child that sees nothing of this process's environment: no key, no address of a database."""
    return subprocess.Popen(
        [sys.executable, "-m", "annotator.core.symbolic"],
        cwd=_ROOT,
        env={
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
    )


def _write(child: subprocess.Popen[bytes], question: dict[str, Any]) -> bool:
    assert child.stdin is not None
    try:
        child.stdin.write(json.dumps(question).encode() + b"\n")
    except OSError:
        return False
    return True


def _askable(side: str) -> bool:
    """Whether a side is short and flat enough, with brackets that close; most bombs end here and cost nothing."""
    if not side.strip() or len(side) > LONGEST or not side.replace("\n", " ").isprintable():
        return False
    depth = 0
    for letter in side:
        depth += (letter in "({[") - (letter in ")}]")
        if depth > DEEPEST:
            return False
    if _BOMB.search(side):
        return False
    return side.count("{") - side.count("\\{") == side.count("}") - side.count("\\}")


_shared = Symbolic()
os.register_at_fork(after_in_child=_shared.forget)
atexit.register(_shared.close)


@lru_cache(maxsize=10_000)
def _asked(op: str, left: str, right: str) -> bool | None:
    return _shared.ask(op, left, right)


def same(gold: str, answer: str) -> bool | None:
    """`Symbolic.same` of this process's child; what was answered before costs nothing."""
    try:
        return _asked("same", gold, answer)
    except TimeoutError:
        return None


def identity(left: str, right: str) -> bool | None:
    """`Symbolic.identity` of this process's child; what was answered before costs nothing."""
    try:
        return _asked("identity", left, right)
    except TimeoutError:
        return None


def warm() -> None:
    """Have the child ready, so that the next question takes no longer than its answer."""
    identity("x", "x")


def close() -> None:
    """End this process's child; between tests, and before a process ends."""
    _shared.close()
