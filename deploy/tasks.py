"""The subcommands of deploy/make.py."""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks import CannotGoOn, check_port, check_space, only_demo, var_folder
from environment import PYTHON, ROOT, set_up

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
DEMO_DATA: tuple[str, ...] = (
    "postgres",
    "postgres.new",
    "run",
    "sockets",
    "log",
    "static",
    "static.stamp",
    "uploads",
)
DEMO_DATA += ("secret_key", "demo.lock")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="deploy/make.py", description="Set up, try and check Stepmark.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("setup", help="install everything into .venv and frontend/, start nothing")
    commands.add_parser(
        "demo", help="set up, start everything, print the address and the logins"
    ).add_argument("--port", type=int, default=os.environ.get("PORT") or "8000")
    commands.add_parser("demo-reset", help="forget the demo's data")
    commands.add_parser("test", help="run all tests; further words go to pytest")
    commands.add_parser("lint", help="formatting, types, import contracts, migrations")
    commands.add_parser(
        "bench",
        help="measure the demo's start and requests per second, a million rows re-ranked, a large file in and out",
    )
    options, words = parser.parse_known_args(arguments)
    if words and options.command != "test":
        parser.error(f"unknown: {' '.join(words)}")
    try:
        return _run(options, words)
    except CannotGoOn as failure:
        print(failure, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _run(options: argparse.Namespace, words: list[str]) -> int:
    match options.command:
        case "setup":
            set_up(dev=False)
        case "demo":
            demo(options.port)
        case "demo-reset":
            demo_reset()
        case "test":
            return test(words)
        case "lint":
            return lint()
        case "bench":
            set_up(dev=True)
            measured = ("bench.py", "bench_queue.py", "bench_files.py")
            return max(
                subprocess.run([PYTHON, ROOT / "deploy" / each], cwd=ROOT).returncode for each in measured
            )
    return 0


def demo(port: int) -> None:
    """The quick checks first; then this process becomes the demo's supervisor."""
    var = var_folder(ROOT)
    os.close(only_demo(var))
    check_port(port)
    check_space(var, 50, "The demo")
    set_up(dev=False)
    os.chdir(ROOT)
    os.execv(PYTHON, [str(PYTHON), "deploy/demo.py", "--port", str(port)])


def demo_reset() -> None:
    """Remove the demo's folder, unless something still uses it."""
    var = var_folder(ROOT)
    if not var.exists():
        print("There is no demo data.")
        return
    demo_lock = only_demo(var)
    if (var / "run").is_dir():
        users = os.open(var / "run" / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotGoOn("A command still uses the demo's database: wait for it or stop it.") from None
    for name in DEMO_DATA:  # by name: STEPMARK_VAR may be a folder that holds other things
        path = var / name
        path.unlink(missing_ok=True) if not path.is_dir() or path.is_symlink() else shutil.rmtree(path)
    os.close(demo_lock)
    print(f"The demo's data in {var} is gone.")


def test(words: list[str]) -> int:
    with ThreadPoolExecutor() as pool:
        browser = pool.submit(find_browser)
        set_up(dev=True)
        chromium = browser.result() or playwrights_browser()
    command: list[str | Path] = [PYTHON, "-m", "pytest", "-n", "2", "--dist", "worksteal", *words]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "STEPMARK_CHROMIUM": chromium}).returncode


def find_browser() -> str | None:
    """A system's Chromium, got with apt-get where we may and Playwright has none; None where we may not."""
    if found := os.environ.get("STEPMARK_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None):
        return found
    if _downloaded_by_playwright() or os.geteuid() or not shutil.which("apt-get"):
        return None
    print("Installing Chromium for the browser tests with apt-get.", flush=True)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in ("update -qq", "install -y -qq --no-install-recommends chromium"):
        subprocess.run(["apt-get", *words.split()], env=env, capture_output=True)
    return shutil.which("chromium")


def _downloaded_by_playwright() -> bool:
    home = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    return any(Path(home).glob("chromium*"))


def playwrights_browser() -> str:
    """Empty, which means Playwright's own; downloaded where it isn't there yet. Raises CannotGoOn."""
    if not _downloaded_by_playwright():
        got = subprocess.run([PYTHON, "-m", "playwright", "install", "chromium"], cwd=ROOT)
        if got.returncode:
            raise CannotGoOn(
                "The browser tests need Chromium and none could be had: install it (apt-get install "
                "chromium), or set STEPMARK_CHROMIUM to its path."
            )
    return ""


def lint() -> int:
    """Everything that can be said without running the program; all of it, whatever fails."""
    set_up(dev=True)
    tools = PYTHON.parent
    templates = sorted((ROOT / "frontend" / "templates").rglob("*.html"))
    # Looking for missing migrations needs no database; Django warns when it finds none.
    no_database = "ignore:Got an error checking a consistent migration history:RuntimeWarning"
    migrations = [PYTHON, "-W", no_database, "manage.py", "makemigrations", "--check", "--dry-run"]
    checks = {
        "ruff check": [tools / "ruff", "check", "."],
        "ruff format": [tools / "ruff", "format", "--check", "."],
        "mypy": [tools / "mypy"],
        "lint-imports": [tools / "lint-imports"],
        "djade": [tools / "djade", "--check", "--target-version", "5.2", *templates],
        "migrations": migrations,
    }
    failed = []
    with ThreadPoolExecutor(2) as pool:
        for name, done in zip(checks, pool.map(_checked, checks.values()), strict=True):
            print(f"── {name}: {'failed' if done.returncode else 'ok'}", flush=True)
            if done.returncode:
                failed.append(name)
                print(done.stdout, flush=True)
    print(f"Failed: {', '.join(failed)}." if failed else "Nothing to complain about.")
    return 1 if failed else 0


def _checked(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "STEPMARK_ENV": "test"}
    return subprocess.run(
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
