"""Which folders models may come from, and what their files are: the part of a local model that needs no PyTorch."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

from annotator.scorers.remote import InvalidSettings

#: What decides a score: weights, and what says how to build the model and cut text into tokens.
WEIGHTS = "*.safetensors"
DECISIVE = (WEIGHTS, "*.json", "*.jinja", "*.model", "*.txt")
#: Bytes read at a time.
CHUNK = 4 * 2**20

Stamp = tuple[str, int, int]


class InvalidModel(InvalidSettings):
    """A folder that holds no model of this family, in a sentence for people."""


def model_folder(path: str | None, allowed: Collection[str]) -> Path:
    """The folder that the settings name: a path, or a name inside one of the folders that the installation opens.

    Links are followed first, so nothing outside those folders is ever read. Raises InvalidSettings; what it says of a
    folder outside them does not depend on whether that is there.
    """
    if path is None:
        raise InvalidSettings(
            "'path' is missing: the model's folder, or its name inside one of STEPMARK_MODEL_FOLDERS."
        )
    roots = [Path(one).resolve() for one in allowed]
    for root in roots:
        try:
            folder = (root / path).resolve()  # an absolute path stands for itself
            there = folder != root and folder.is_relative_to(root) and folder.is_dir()
        except (OSError, RuntimeError):  # a name that is too long, a link in a circle
            continue
        if there:
            _check(folder)
            return folder
    raise InvalidSettings(
        f"There is no model folder '{path}' that this installation opens to scorers. "
        "Its operator lists such folders in STEPMARK_MODEL_FOLDERS."
    )


def _check(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise InvalidModel(f"{folder.name} holds no config.json; it is not a model as transformers saves it.")
    if (folder / "adapter_config.json").exists():
        raise InvalidModel(f"{folder.name} holds an adapter. Merge it into its base first.")
    if not any(folder.glob(WEIGHTS)):
        raise InvalidModel(f"{folder.name} holds no weights as safetensors; pickled weights are never read.")


def files(folder: Path) -> list[Path]:
    """The files that decide a score, in the order of their names."""
    return sorted({path for pattern in DECISIVE for path in folder.glob(pattern) if path.is_file()})


def stamp(folder: Path) -> tuple[Stamp, ...]:
    """Name, size and time of change of those files: cheap to look at, and other where a file was replaced."""
    return tuple((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files(folder))


def digest(folder: Path) -> str:
    """SHA-256 over names and contents of the files that decide a score. Each file is read once in a process' life."""
    total = hashlib.sha256()
    for path in files(folder):
        total.update(f"{path.name}\0{_file_digest(path)}\n".encode())
    return total.hexdigest()


_known: dict[tuple[str, Stamp], str] = {}
_lock = threading.Lock()


def _file_digest(path: Path) -> str:
    state = path.stat()
    key = (str(path), (path.name, state.st_size, state.st_mtime_ns))
    with _lock:
        if key not in _known:
            content = hashlib.sha256()
            for chunk in _chunks(path):
                content.update(chunk)
            _known[key] = content.hexdigest()
        return _known[key]


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def write_whole(path: Path, content: bytes) -> None:
    """A file that is there with all of its content, or not at all, whenever a kill comes."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
