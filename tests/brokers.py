"""Pointing this process at another broker, a dead one for example, and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from annotator import jobs
from annotator.config import celery_app

#: Nothing listens here.
DEAD = "redis+socket:///nowhere/valkey.sock?virtual_host=0"


@contextmanager
def broker_at(url: str) -> Iterator[None]:
    """Wake workers through the broker at ``url``; what this process remembers of the other one is forgotten."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "_silent_until", 0.0)
        patch.setattr(celery_app.conf, "broker_url", url)
        _forget_connections()
        try:
            yield
        finally:
            _forget_connections()


def _forget_connections() -> None:
    celery_app._pool = None
    celery_app.amqp._producer_pool = None
