"""What is looked at before anything slow begins. Each failure is one sentence that says what to do."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import socket
from pathlib import Path

HOST = "127.0.0.1"


class CannotGoOn(Exception):
    """Shown to the person as it is; the exit status is 2."""


def var_folder(root: Path) -> Path:
    """Where the demo keeps its data."""
    return Path(os.environ.get("STEPMARK_VAR") or root / "var").resolve()


def check_port(port: int) -> None:
    """Raise CannotGoOn unless the demo could listen there."""
    if not 1 <= port <= 65535:
        raise CannotGoOn(f"{port} is not a port: give one from 1024 to 65535, such as PORT=8001.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CannotGoOn(
                    f"Port {port} is in use by another program: stop it, or choose PORT={port + 1}, say."
                ) from None
            raise CannotGoOn(
                f"Port {port} can't be used ({error.strerror}): choose another, such as PORT=8001."
            ) from None


def check_space(folder: Path, megabytes: int, what: str) -> None:
    """Raise CannotGoOn when the disk of that folder, or of its nearest existing parent, is too full."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free // 2**20
    if free < megabytes:
        raise CannotGoOn(
            f"{what} needs {megabytes} MB and {folder} has only {free} MB left: make room on that disk."
        )


def only_demo(var: Path) -> int:
    """Take the lock that one demo holds per folder; it ends with the process. Raises CannotGoOn."""
    try:
        var.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(var / "demo.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CannotGoOn(
            f"{var} can't be written ({error.strerror}): run this as its owner, or name another folder in "
            "STEPMARK_VAR."
        ) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        where = os.read(descriptor, 100).decode() or "it is still starting"
        os.close(descriptor)
        raise CannotGoOn(
            f"The demo is already running ({where}): use it, or stop it with Ctrl-C first."
        ) from None
    return descriptor
