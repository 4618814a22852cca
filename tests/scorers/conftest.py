"""A stub server that is as new for each test, and no client that outlives its test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from annotator.scorers import http
from tests.scorers.stub import Stub

if os.environ.get("STEPMARK_REQUIRE_TORCH") == "1" and find_spec("torch") is None:
    raise pytest.UsageError("STEPMARK_REQUIRE_TORCH=1, but PyTorch is not installed.")


@pytest.fixture(scope="session")
def _running() -> Iterator[list[Stub]]:
    """The one that is running, if any; a test that leaves it dead or busy makes the next start another."""
    servers: list[Stub] = []
    yield servers
    for server in servers:
        server.kill()


@pytest.fixture
def stub(_running: list[Stub]) -> Iterator[Stub]:
    if not _running:
        _running.append(Stub())
    (server,) = _running
    yield server
    http.forget_all()
    if not server.is_as_new():
        server.kill()
        _running.clear()
