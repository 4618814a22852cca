"""A broker of each test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.brokers import broker_at
from tests.tasks.workers import empty, own_broker


@pytest.fixture
def broker() -> Iterator[str]:
    """The address of an empty broker, which this process uses as well."""
    url = own_broker()
    empty(url)
    with broker_at(url):
        yield url
