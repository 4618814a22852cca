"""The keeper: the process that owns both services and ends with their last user."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import queue
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotator.embedded.errors import ServicesUnavailable
from annotator.embedded.services import Postgres, Service, Valkey

#: The kernel's limit for the path of a Unix socket is 108 bytes with the final NUL.
LONGEST_SOCKET_PATH = 107


def keep(var: Path, throwaway: bool) -> int:
    """Run the services until the last user is gone or a signal comes; restart one that dies."""
    run = var / "run"
    events: queue.SimpleQueue[Service | None] = queue.SimpleQueue()
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, lambda *_: events.put(None))
    running: list[Service] = []
    try:
        sockets = socket_folder(var)
        services: tuple[Service, ...] = (Postgres(var, sockets, throwaway), Valkey(var, sockets))
        for service in services:
            running.append(service)
            service.prepare()
            service.start()
        for service in running:
            service.wait_until_ready()
            service.watch(events.put)
        _say(run, {"pid": os.getpid(), **{key: value for s in running for key, value in s.state().items()}})
        threading.Thread(target=_when_unused, args=(run, events.put), daemon=True).start()
        while (dead := events.get()) is not None:
            dead.restart(events.put)
    except ServicesUnavailable as error:
        _say(run, {"error": str(error)})
        return 1
    except OSError as error:
        _say(run, {"error": f"The embedded services can't use {error.filename or var}: {error.strerror}."})
        return 1
    else:
        (run / "keeper.json").unlink()
        return 0
    finally:
        for service in reversed(running):
            service.stop()
        if throwaway:
            shutil.rmtree(var, ignore_errors=True)


def _say(run: Path, state: dict[str, Any]) -> None:
    new = run / "keeper.json.new"
    new.write_text(json.dumps(state))
    new.replace(run / "keeper.json")


def _when_unused(run: Path, tell: Callable[[None], None]) -> None:
    opened = os.open(run / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
    # Both locks last until the process is gone. The kernel then closes the lowest number first, and a user who
    # waits for this one must find keeper.lock free.
    descriptor = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 200)
    os.close(opened)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    tell(None)


def socket_folder(var: Path) -> Path:
    """A folder of our own whose path is short enough for a socket's name. Raises ServicesUnavailable."""
    name = f"stepmark-{hashlib.sha256(os.fsencode(var)).hexdigest()[:12]}"
    places = [var / "sockets", Path(os.environ.get("XDG_RUNTIME_DIR") or "/nonexistent") / name]
    places.append(Path(tempfile.gettempdir()) / f"{name}-{os.geteuid()}")
    for place in places:
        fits = len(os.fsencode(place / ".s.PGSQL.5432.lock")) <= LONGEST_SOCKET_PATH
        if fits and "," not in str(place) and place.parent.is_dir():
            place.mkdir(mode=0o700, exist_ok=True)
            info = place.lstat()
            if not place.is_dir() or place.is_symlink() or (os.geteuid() and info.st_uid != os.geteuid()):
                raise ServicesUnavailable(f"The folder {place} belongs to somebody else; remove it.")
            place.chmod(0o700)
            return place
    raise ServicesUnavailable(
        f"The path {var} is too long for a socket ({LONGEST_SOCKET_PATH} characters at most) and so is the "
        "folder for temporary files: set TMPDIR to a shorter one, such as /tmp."
    )
