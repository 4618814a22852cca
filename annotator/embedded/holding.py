"""A user's side: get hold of the services, starting a keeper where none lives, and let go of them."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotator.embedded.errors import ServicesUnavailable

ROOT = Path(__file__).resolve().parents[2]
Named = tuple[str | None, str | None]


@dataclass
class Services:
    """Where the services are, and the hold on them. Ends with `release`, ``with``, or the process."""

    database_url: str
    redis_url: str
    _run: Path | None = None
    _users: int | None = field(default=None, repr=False)
    _keeper: int = field(default=0, repr=False)

    def release(self, *, wait: bool = False) -> None:
        """Let go. With ``wait``, return when the services have stopped, if nobody else uses them."""
        if self._users is None or self._run is None:
            return
        users, self._users = self._users, None
        # Only the last user is granted the first; the second fails where the keeper was faster.
        last = _try_lock(users, fcntl.LOCK_EX) or not _try_lock(users, fcntl.LOCK_SH)
        os.close(users)
        deadline = time.monotonic() + 60
        while wait and last and _keeper_lives(self._run) and time.monotonic() < deadline:
            time.sleep(0.01)
        if self._keeper and wait and last and not _keeper_lives(self._run):
            with contextlib.suppress(ChildProcessError):  # somebody else's child
                os.waitpid(self._keeper, 0)

    def alive(self) -> bool:
        """Whether the services still have their keeper; always true of services from the environment."""
        return self._run is None or _keeper_lives(self._run)

    def __enter__(self) -> Services:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def named() -> Named:
    """What the environment names: a database and a broker, each None where it doesn't."""
    return os.environ.get("DATABASE_URL"), os.environ.get("REDIS_URL")


def hold(var: Path, *, throwaway: bool = False, given: Named | None = None) -> Services:
    """Services for as long as this process lives: those the environment names, else embedded ones in ``var``.

    ``given`` stands for the environment, for a caller that has since written what it holds there.
    ``throwaway`` is for tests: no fsync, and the folder is removed at the end. Raises ServicesUnavailable.
    """
    database, broker = named() if given is None else given
    if database and broker:
        return Services(database, broker)
    run = _prepare(var)
    users = os.open(run / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(users, fcntl.LOCK_SH)
        with _locked(run / "start.lock"):
            state = _read_state(run, errors=False) or _start_keeper(var.resolve(), run, throwaway)
    except BaseException:  # Ctrl-C above all: a keeper that was just started ends before we do
        Services("", "", run, users).release(wait=True)
        raise
    return Services(database or state["database_url"], broker or state["redis_url"], run, users, state["pid"])


def secret_key(var: Path) -> str:
    """The random key of this folder's demo, made at the first call; only its owner can read the file."""
    path = var / "secret_key"
    with _locked(_prepare(var) / "secret.lock"):
        if not path.exists() or not path.stat().st_size:
            new = path.with_suffix(".new")
            new.touch(mode=0o600)
            new.write_text(secrets.token_urlsafe(48))
            new.replace(path)
        return path.read_text()


def _prepare(var: Path) -> Path:
    run = var.resolve() / "run"
    try:
        run.mkdir(mode=0o700, parents=True, exist_ok=True)
        (var / "log").mkdir(exist_ok=True)
    except OSError as error:
        raise ServicesUnavailable(
            f"The folder {var} can't be created ({error.strerror}); make room for it or give it to this user."
        ) from error
    if not os.access(run, os.W_OK | os.X_OK):
        raise ServicesUnavailable(
            f"The folder {var} belongs to another user; run this as that user or give the folder to this one."
        )
    return run


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _keeper_lives(run: Path) -> bool:
    try:
        descriptor = os.open(run / "keeper.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:  # a throwaway folder, already gone
        return False
    try:
        return not _try_lock(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def _start_keeper(var: Path, run: Path, throwaway: bool) -> dict[str, Any]:
    (run / "keeper.json").unlink(missing_ok=True)  # a killed keeper's
    log = var / "log" / "keeper.log"
    # The lock is taken here and inherited, so there is no moment in which the new keeper seems dead.
    with _locked(run / "keeper.lock") as lock, log.open("wb") as output:
        subprocess.Popen(
            [sys.executable, "-m", "annotator.embedded", "keep", str(var), str(lock), str(int(throwaway))],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[lock],
            start_new_session=True,
        ).returncode = 0  # it outlives us: nothing to wait for, nothing to warn about
    state = _read_state(run)
    if state is None:
        raise ServicesUnavailable(f"The embedded services ended while they were starting; see {log}.")
    return state


def _read_state(run: Path, *, errors: bool = True) -> dict[str, Any] | None:
    """What the living keeper says once its services answer; None where no keeper lives, or it is ending.

    ``errors``: raise what a keeper says that could not start. False where it is an earlier one's, to be tried again.
    """
    while True:
        alive = _keeper_lives(run)  # before the file: what a keeper says last must be seen
        # One cut short when the machine went down says nothing, like one that isn't there.
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            state: dict[str, Any] = json.loads((run / "keeper.json").read_text())
            if alive and "error" not in state:
                return state
            if errors and "error" in state and not alive:
                (run / "keeper.json").unlink()
                raise ServicesUnavailable(state["error"])
        if not alive:
            return None
        time.sleep(0.01)
