"""A broker of each test's own, and a worker that several share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.brokers import broker_at
from tests.tasks.workers import Worker, empty, own_broker, working


@pytest.fixture
def broker() -> Iterator[str]:
    """The address of an empty broker, which this process uses as well."""
    url = own_broker()
    empty(url)
    with broker_at(url):
        yield url


@pytest.fixture(scope="module")
def worker(django_db_setup: None) -> Iterator[Worker]:
    """A live worker for a module's tests; it starts slowly, and tests that kill have their own."""
    url = own_broker()
    empty(url)
    with broker_at(url), working(url) as made:
        yield made
