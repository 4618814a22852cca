"""Starts the small language model's server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCRIPT = Path(__file__).with_name("small_model_server.py")


@contextmanager
def serving() -> Iterator[int]:
    """The port of a server that answers until the block is left."""
    process = subprocess.Popen([sys.executable, SCRIPT], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()
