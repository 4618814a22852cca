"""The two services: how each is found, started, known to be ready, and stopped."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from annotator.embedded.errors import ServicesUnavailable
from annotator.embedded.programs import (
    command_of,
    dies_with_its_parent,
    end,
    environment,
    major_version,
    not_as_root,
    postgres_binary,
    valkey_binary,
)

#: Free space below which PostgreSQL is not started, in MB.
NEEDED_FOR_A_NEW_FOLDER = 200
NEEDED_FOR_AN_OLD_FOLDER = 50
#: What PostgreSQL keeps of its pages, in MB: a sixteenth of the memory, within these. A queue of a million and its
#: indexes are 300 MB: with the usual 128, a new order would ask the system for them page by page.
LEAST_BUFFERS, MOST_BUFFERS = 64, 512
#: Where Linux says how many bytes a container may have, or "max": control groups of the second version and the first.
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
SETTINGS = ("listen_addresses=", "max_parallel_workers_per_gather=0", "jit=off")
THROWAWAY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
DATABASE = "stepmark"


class Service:
    """A child process of the keeper. Subclasses say how to start it, when it is ready, how to stop it."""

    name: str
    stop_signal: signal.Signals

    def __init__(self, var: Path, sockets: Path) -> None:
        self.var, self.sockets = var, sockets
        self.log = var / "log" / f"{self.name}.log"
        self.pidfile = var / "run" / f"{self.name}.pid"
        self.process: subprocess.Popen[bytes] | None = None
        self.prefix: list[str] = []
        self.identity: dict[str, Any] = {}
        self.failures = 0

    def command(self) -> list[str]:
        raise NotImplementedError

    def ready(self) -> bool:
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        raise NotImplementedError

    def prepare(self) -> None:
        """End a process that a killed keeper left behind, and remove its sockets."""
        self.log.write_bytes(b"")
        self.end_orphan()

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [*self.prefix, *self.command()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment(),
                preexec_fn=dies_with_its_parent(self.stop_signal),  # noqa: PLW1509 - see there
                **self.identity,
            )
        self.pidfile.write_text(str(self.process.pid))

    def wait_until_ready(self) -> None:
        assert self.process is not None
        while not self.ready():
            if self.process.poll() is not None:
                raise ServicesUnavailable(
                    f"{self.name} could not start: {self.reason()} (see {self.log}); if its folder is damaged, "
                    "put it back from a backup or forget it with 'make demo-reset'."
                )
            time.sleep(0.005)

    def reason(self) -> str:
        """The last thing that the log complains about."""
        lines = self.log.read_text(errors="replace").splitlines() or ["it said nothing"]
        said = [line for line in lines if re.search(r"FATAL|PANIC|[Ee]rror", line)] or lines
        return re.sub(r"^.*?(FATAL|PANIC|ERROR|error): *", "", said[-1]).strip().rstrip(".")

    def watch(self, tell: Callable[[Service], None]) -> None:
        process = self.process
        assert process is not None

        def wait() -> None:
            process.wait()
            tell(self)

        threading.Thread(target=wait, daemon=True).start()

    def restart(self, tell: Callable[[Service], None]) -> None:
        """After a death that nobody asked for. Waits a little longer each time, at most 5 s."""
        time.sleep(min(5.0, 0.1 * 2**self.failures))
        self.failures += 1
        sys.stdout.write(f"{self.name} died and is restarted\n")
        sys.stdout.flush()
        self.end_orphan()
        try:
            self.start()
            self.wait_until_ready()
        except ServicesUnavailable as error:
            sys.stdout.write(f"{error}\n")
        self.watch(tell)

    def stop(self) -> None:
        for signum, patience in ((self.stop_signal, 30), (signal.SIGQUIT, 5), (signal.SIGKILL, 5)):
            if self.process is None or self.process.poll() is not None:
                break
            self.process.send_signal(signum)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
        self.pidfile.unlink(missing_ok=True)

    def end_orphan(self) -> None:
        with contextlib.suppress(FileNotFoundError, ValueError):
            end(int(self.pidfile.read_text()), str(self.sockets), self.stop_signal)


class Valkey(Service):
    """Carries wake-ups between processes. Keeps nothing on disk: the jobs themselves are in PostgreSQL."""

    name = "valkey"
    stop_signal = signal.SIGTERM

    @property
    def path(self) -> Path:
        return self.sockets / "valkey.sock"

    def command(self) -> list[str]:
        options = {"port": "0", "unixsocket": str(self.path), "unixsocketperm": "700", "save": ""}
        options |= {"appendonly": "no", "dir": str(self.var / "run"), "daemonize": "no"}
        return [
            str(valkey_binary()),
            *(word for key, value in options.items() for word in (f"--{key}", value)),
        ]

    def start(self) -> None:
        self.path.unlink(missing_ok=True)
        super().start()

    def ready(self) -> bool:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1)
            connection.connect(str(self.path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16) == b"+PONG\r\n"
        return False

    def state(self) -> dict[str, Any]:
        return {"redis_url": f"redis+socket://{quote(str(self.path))}?virtual_host=0"}


class Postgres(Service):
    """PostgreSQL on ``var/postgres``; ``throwaway`` trades safety for speed."""

    name = "postgres"
    stop_signal = signal.SIGINT  # "fast": end the sessions, write a checkpoint, stop

    def __init__(self, var: Path, sockets: Path, throwaway: bool) -> None:
        super().__init__(var, sockets)
        self.data = var / "postgres"
        self.throwaway = throwaway
        self.settings = (*SETTINGS, f"shared_buffers={_buffers()}MB", *(THROWAWAY if throwaway else ()))

    def command(self) -> list[str]:
        options = [word for setting in self.settings for word in ("-c", setting)]
        return [str(postgres_binary()), "-D", str(self.data), "-k", str(self.sockets), *options]

    def prepare(self) -> None:
        super().prepare()
        for path in self.sockets.glob(".s.PGSQL.*"):
            path.unlink()
        self._check_space()
        self.prefix, self.identity = not_as_root()
        self._own(self.sockets)
        if self.data.exists():
            self._check_version()
            self._own(self.data)
        else:
            self._create()
        self._forget_a_reused_pid()

    def _check_space(self) -> None:
        needed = NEEDED_FOR_AN_OLD_FOLDER if self.data.exists() else NEEDED_FOR_A_NEW_FOLDER
        free = shutil.disk_usage(self.var).free // 2**20
        if free < needed:
            raise ServicesUnavailable(
                f"Only {free} MB are free on the disk of {self.var}, the database needs {needed}: make room."
            )

    def _check_version(self) -> None:
        try:
            made_by = (self.data / "PG_VERSION").read_text().strip()
            int(made_by)
        except (OSError, ValueError):
            raise ServicesUnavailable(
                f"{self.data} is not a database folder (it has no readable PG_VERSION): put it back from a backup, "
                "or forget it with 'make demo-reset'."
            ) from None
        installed = major_version(postgres_binary())
        if made_by != installed:
            raise ServicesUnavailable(
                f"{self.data} was made by PostgreSQL {made_by} and version {installed} is installed: move "
                "the data over with pg_dump of the old version, or forget it with 'make demo-reset'."
            )

    def _create(self) -> None:
        """Made beside its place and then renamed, so that an interrupted start leaves nothing half done."""
        new = self.data.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        self._own(new)
        initdb = [str(postgres_binary().parent / "initdb"), "-D", str(new), "-U", DATABASE, "-A", "trust"]
        initdb += ["--encoding=UTF8", "--locale=C", "--no-instructions"]
        initdb += ["--no-sync"] if self.throwaway else []
        if int(major_version(postgres_binary())) >= 17:  # C sorts, but knows the case of all letters
            initdb += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        self._run(initdb)
        single = [str(postgres_binary()), "--single", "-D", str(new), "postgres"]
        self._run(single, f"CREATE DATABASE {DATABASE}\n")
        new.rename(self.data)

    def _run(self, command: list[str], said: str = "") -> None:
        with self.log.open("ab") as output:
            done = subprocess.run(
                [*self.prefix, *command],
                input=said.encode(),
                check=False,
                stdout=output,
                stderr=output,
                env=environment(),
                **self.identity,
            )
        if done.returncode:
            raise ServicesUnavailable(f"The database could not be created: {self.reason()} (see {self.log}).")

    def _own(self, path: Path) -> None:
        """Where we are root: give the folder to the user that PostgreSQL will run as."""
        user = self.identity.get("user", os.geteuid())
        if os.geteuid() == 0 and path.stat().st_uid != user:
            for folder, _, files in os.walk(path):
                os.chown(folder, user, -1)
                for file in files:
                    os.chown(os.path.join(folder, file), user, -1, follow_symlinks=False)

    def _forget_a_reused_pid(self) -> None:
        """After a crash the number in postmaster.pid may by now be some other program's."""
        pidfile = self.data / "postmaster.pid"
        with contextlib.suppress(FileNotFoundError):
            try:
                pid = int(pidfile.read_text().split()[0])
            except (ValueError, IndexError):
                pidfile.unlink()  # cut short when the machine went down; PostgreSQL would refuse it
                return
            end(pid, str(self.data), self.stop_signal)
            if command_of(pid) and str(self.data) not in command_of(pid):
                pidfile.unlink()

    def start(self) -> None:
        """Tries for 10 s while the backends of a killed server still hold its shared memory."""
        deadline = time.monotonic() + 10
        while True:
            super().start()
            try:
                return self.wait_until_ready()
            except ServicesUnavailable as error:
                if "still in use" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def ready(self) -> bool:
        """The eighth line of postmaster.pid says so (pg_ctl looks there too)."""
        assert self.process is not None
        with contextlib.suppress(FileNotFoundError):
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            return len(lines) > 7 and lines[0] == str(self.process.pid) and lines[7].startswith("ready")
        return False

    def state(self) -> dict[str, Any]:
        folder = quote(str(self.sockets), safe="")
        return {"database_url": f"postgresql://{DATABASE}@/{DATABASE}?host={folder}"}


def _buffers() -> int:
    memory = min([os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_limits()]) // 2**20
    return max(LEAST_BUFFERS, min(MOST_BUFFERS, memory // 16))


def _limits() -> list[int]:
    """What the container allows, in bytes; nothing outside of one."""
    said = [path.read_text().strip() for path in LIMITS if path.is_file()]
    return [int(each) for each in said if each.isdigit()]
