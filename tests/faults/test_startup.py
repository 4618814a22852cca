"""Starting the product: what is refused in one sentence, and that Ctrl-C leaves nothing behind."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.embedded import hold

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120


@pytest.fixture
def var() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="sm-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
    return found


@pytest.fixture
def port() -> int:
    return free_port()


def begin_demo(var: Path, port: int) -> subprocess.Popen[str]:
    """As a person's terminal would."""
    return subprocess.Popen(
        [sys.executable, "deploy/demo.py", "--port", str(port)],
        cwd=ROOT,
        env=fresh_environment(var),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def fresh_environment(var: Path) -> dict[str, str]:
    """Without what the test run itself set."""
    ours = (
        "DATABASE_URL",
        "REDIS_URL",
        "SECRET_KEY",
        "DJANGO_SETTINGS_MODULE",
        "STEPMARK_ENV",
        "PYTHONWARNINGS",
    )
    return {key: value for key, value in os.environ.items() if key not in ours} | {"STEPMARK_VAR": str(var)}


def run(var: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=fresh_environment(var),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def left_behind(var: Path) -> list[str]:
    """Command lines of processes that belong to this folder, by their words or their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words, environment = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if str(var).encode() in words + environment and words and int(entry.name) != os.getpid():
            found.append(words.replace(b"\0", b" ").decode())
    return found


def one_sentence(said: str) -> bool:
    return said.count("\n") == 1 and "Traceback" not in said


def test_a_port_in_use_is_said_before_anything_starts(var: Path, port: int) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        done = run(var, "deploy/make.py", "demo", "--port", str(port))
    assert done.returncode == 2
    assert f"Port {port} is in use" in done.stderr
    assert f"PORT={port + 1}" in done.stderr
    assert one_sentence(done.stderr)
    assert not (var / "postgres").exists()


def test_a_port_that_does_not_exist_is_refused(var: Path) -> None:
    done = run(var, "deploy/make.py", "demo", "--port", "70000")
    assert done.returncode == 2
    assert "70000 is not a port" in done.stderr


def test_a_broken_database_folder_is_said_in_one_sentence(var: Path, port: int) -> None:
    (var / "postgres").mkdir()
    done = run(var, "deploy/demo.py", "--port", str(port))
    assert done.returncode == 2
    assert "is not a database folder" in done.stderr
    assert "make demo-reset" in done.stderr
    assert one_sentence(done.stderr)


def test_a_command_says_the_same_of_a_broken_folder(var: Path) -> None:
    (var / "postgres").mkdir()
    done = run(var, "manage.py", "showmigrations")
    assert done.returncode == 2
    assert "is not a database folder" in done.stderr
    assert one_sentence(done.stderr)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_said_in_one_sentence(var: Path, port: int) -> None:
    mount = f"mount -t tmpfs -o size=5m none {var} && exec {sys.executable} deploy/demo.py --port {port}"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mount],
        cwd=ROOT,
        env=fresh_environment(var),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip("this machine lets nobody mount a small disk")
    assert done.returncode == 2
    assert re.search(r"Only \d MB are free .* make room", done.stderr)
    assert one_sentence(done.stderr)


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.8", "3.10"])
def test_an_old_python_says_what_it_needs(version: str, tmp_path: Path) -> None:
    old = find_python(version)
    if old is None:
        pytest.skip(f"there is no Python {version} here")
    done = subprocess.run(
        [old, "deploy/make.py", "demo"], cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert f"Stepmark needs Python 3.11 or newer and this is {version}" in done.stderr
    assert one_sentence(done.stderr)


def test_an_old_python_hands_over_to_a_newer_one_on_the_path(tmp_path: Path) -> None:
    old = next(filter(None, map(find_python, ["3.8", "3.10", "3.6", "2.7"])), None)
    if old is None:
        pytest.skip("there is no old Python here")
    (tmp_path / "python3.12").symlink_to(sys.executable)
    done = subprocess.run(
        [old, "deploy/make.py", "--help"],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "demo-reset" in done.stdout


def find_python(version: str) -> str | None:
    """One that runs: a version manager's stub may be found and refuse."""
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    places = [shutil.which(f"python{version}"), *map(str, versions.glob(f"{version}.*/bin/python"))]
    for place in filter(None, places):
        if subprocess.run([place, "-c", ""], capture_output=True).returncode == 0:
            return place
    return None


def test_a_first_command_finds_its_tables_and_leaves_no_process(var: Path) -> None:
    count = "from annotator.models import Project; print(Project.objects.count())"
    done = run(var, "manage.py", "shell", "--no-imports", "-c", count)
    assert done.stdout == "0\n", done.stderr
    deadline = time.monotonic() + 20
    while left_behind(var):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_reset_refuses_while_somebody_uses_the_database(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.delenv("REDIS_URL")
    with hold(var) as services:
        (var / "uploads" / "exports").mkdir(
            parents=True
        )  # named by numbers that the next database gives anew
        refused = run(var, "deploy/make.py", "demo-reset")
        services.release(wait=True)
    assert refused.returncode == 2
    assert "still uses the demo's database" in refused.stderr
    assert (var / "postgres").exists()
    assert run(var, "deploy/make.py", "demo-reset").returncode == 0
    assert list(var.iterdir()) == []
