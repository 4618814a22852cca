"""What every test stands on: a throwaway database, no way out of this machine, real files and a browser."""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.test import TransactionTestCase

#: In the order of preference; Playwright's own browser is what remains.
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


class OutsideWorld(Exception):
    """A test tried to reach another machine."""


def pytest_configure() -> None:
    # Playwright's synchronous interface runs an event loop in the test's thread; Django would refuse to work.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"


def pytest_unconfigure() -> None:
    settings = sys.modules.get("tests.settings")
    if settings is not None and settings.services is not None:
        settings.services.release(wait=True)


@pytest.fixture(autouse=True, scope="session")
def _only_this_machine() -> Iterator[None]:
    """Sockets reach loopback addresses and Unix sockets, nothing else."""

    def refusing(connect: Any) -> Any:
        def guarded(self: socket.socket, address: Any) -> Any:
            if self.family != socket.AF_UNIX and not _is_loopback(address[0]):
                raise OutsideWorld(f"a test may not connect to {address}")
            return connect(self, address)

        return guarded

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", refusing(socket.socket.connect))
    patch.setattr(socket.socket, "connect_ex", refusing(socket.socket.connect_ex))
    yield
    patch.undo()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


#: With little in them, this takes a hundredth of what truncating the tables does. First all wait for who still writes.
EMPTY = """
DO $$ DECLARE
  kept text[] := '{django_content_type,auth_permission,django_migrations}';
  filled text[] := array(SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> ALL (kept));
  one text;
BEGIN
  SET LOCAL session_replication_role = replica;
  FOREACH one IN ARRAY filled LOOP EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', one); END LOOP;
  FOREACH one IN ARRAY filled LOOP EXECUTE format('DELETE FROM %I', one); END LOOP;
END $$
"""


def _emptied() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(EMPTY)


@pytest.fixture(autouse=True, scope="session")
def _tables_are_emptied_whatever_is_under_way() -> Iterator[None]:
    """A request or thread that a test left behind may collide with the emptying of the tables: then once more."""

    def patiently(self: Any) -> None:
        for pause in (0.2, 0.5, 1.0, 2.0):
            try:
                return _emptied()
            except OperationalError:
                time.sleep(pause)
        return _emptied()

    patch = pytest.MonkeyPatch()
    patch.setattr(TransactionTestCase, "_fixture_teardown", patiently)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The test database goes at the end, also where a request of a closed browser still holds a connection."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the public data sets, which are not part of the repository."""
    folder = Path(os.environ.get("STEPMARK_SHARED", "../shared")) / "data"
    if not folder.is_dir():
        reason = f"there is no {folder}: set STEPMARK_SHARED to the folder that holds data/"
        if os.environ.get("STEPMARK_REQUIRE_SHARED") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """A system's Chromium where there is one. No sandbox: in a container, tests run as root."""
    found = os.environ.get("STEPMARK_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    where = {"executable_path": found} if found else {}
    return {**browser_type_launch_args, "args": arguments, **where}
