"""Services that are killed at bad moments, and folders that a power cut left half written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from annotator.embedded import Services, ServicesUnavailable, hold, secret_key
from tests.faults.test_startup import ROOT, begin_demo, fresh_environment, left_behind, port, var

__all__ = ["port", "var"]  # fixtures
PATIENCE = 40


def soon(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def answers(database_url: str) -> bool:
    try:
        with psycopg.connect(database_url, connect_timeout=2) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.Error:
        return False


def keeper_of(var: Path) -> int | None:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"annotator.embedded" in words and os.fsencode(var) in words:
            return int(entry.name)
    return None


@pytest.fixture
def services(var: Path) -> Iterator[Services]:
    with hold(var, given=(None, None)) as held:
        yield held
        held.release(wait=True)


def test_a_database_killed_again_while_it_recovers_comes_back(services: Services, var: Path) -> None:
    pidfile = var / "run" / "postgres.pid"
    for _ in range(3):
        killed = pidfile.read_text()
        os.kill(int(killed), signal.SIGKILL)
        assert soon(lambda killed=killed: pidfile.read_text() not in {killed, ""})  # type: ignore[misc]

    assert soon(lambda: answers(services.database_url))
    assert services.alive()


@pytest.mark.parametrize("left", ["", "abc"])
def test_files_that_a_power_cut_left_half_written_do_not_keep_the_services_from_starting(
    services: Services, var: Path, left: str
) -> None:
    services.release(wait=True)
    (var / "run" / "keeper.json").write_text(left)
    (var / "postgres" / "postmaster.pid").write_text(left)

    with hold(var, given=(None, None)) as again:
        assert answers(again.database_url)
        again.release(wait=True)


def test_an_empty_secret_key_is_made_anew(var: Path) -> None:
    secret_key(var)
    (var / "secret_key").write_text("")

    assert len(secret_key(var)) > 32


@pytest.mark.parametrize("damage", ["PG_VERSION", "global/pg_control"])
def test_a_damaged_database_folder_says_what_to_do(services: Services, var: Path, damage: str) -> None:
    services.release(wait=True)
    (var / "postgres" / damage).write_bytes(b"\xff\xfe")

    with pytest.raises(ServicesUnavailable, match="make demo-reset"):
        hold(var, given=(None, None))


def test_a_file_where_the_sockets_folder_belongs_is_named(var: Path) -> None:
    (var / "sockets").write_text("")

    with pytest.raises(ServicesUnavailable, match=r"can't use .*sockets: File exists"):
        hold(var, given=(None, None))


def test_what_an_earlier_keeper_died_of_does_not_end_the_next_start(services: Services, var: Path) -> None:
    services.release(wait=True)
    (var / "run" / "keeper.json").write_text('{"error": "what went wrong then"}')

    with hold(var, given=(None, None)) as again:
        assert answers(again.database_url)
        again.release(wait=True)


def test_ctrl_c_ends_a_command_in_one_sentence(services: Services, var: Path) -> None:
    command = subprocess.Popen(
        [
            sys.executable,
            "manage.py",
            "shell",
            "--no-imports",
            "-c",
            "print('up', flush=True); import time; time.sleep(60)",
        ],
        cwd=ROOT,
        env=fresh_environment(var),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts what it puts in the background deaf to Ctrl-C, and children inherit that.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  no thread runs here
    )
    assert command.stdout is not None
    assert command.stdout.readline() == "up\n"
    command.send_signal(signal.SIGINT)
    said = command.communicate(timeout=PATIENCE)[1]

    assert command.returncode == 130
    assert said == "\nStopped; what was already done is kept.\n"


@pytest.mark.parametrize("after", ["run/keeper.lock", "postgres.new"])
def test_ctrl_c_during_a_first_start_returns_when_nothing_is_left(var: Path, port: int, after: str) -> None:
    starting = begin_demo(var, port)
    assert soon((var / after).exists)
    starting.send_signal(signal.SIGINT)
    said = starting.communicate(timeout=PATIENCE)[0]

    assert starting.returncode == 0
    assert said.endswith("\nStopped.\n")
    assert left_behind(var) == []
