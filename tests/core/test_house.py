"""The house rules that no linter knows: small rooms, and nothing that belongs to one machine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE = 400
MAX_FUNCTION = 40
#: A route of the demo tells one solution from its first step to its last; cut in two, nobody could check it by reading.
MAX_STORY = 65
STORIES = ROOT / "annotator" / "core" / "demo" / "families"
#: Folders of ours, and the kinds of files people write in them.
FOLDERS = (
    "annotator",
    "deploy",
    "docs",
    "frontend/src",
    "frontend/templates",
    "frontend/tests",
    "tests",
    ".ci",
)
KINDS = {".py", ".js", ".mjs", ".css", ".html", ".md", ".yml", ".yaml", ".toml", ".sh", ""}
TOP = ("manage.py", "Makefile", "README.md", "pyproject.toml", "frontend/build.mjs", "frontend/package.json")
LOCKS = ("frontend/package-lock.json", "requirements.txt", "requirements-dev.txt", "requirements-node.txt")
#: Registries are a matter of whoever installs, so no lock and no script names an address of one; a path of one
#: machine means nothing on the next.
FOREIGN = re.compile(
    r"https?://[^\s\"']*(?:/simple\b|\.whl\b|\.tgz\b)|(?:index|registry)[-_]url|--registry\b|--index\b"
    r"|(?<![\w.}/-])/(?:root|home/\w+|Users/\w+|work)/"
)


def written() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in KINDS and "__pycache__" not in path.parts:
                yield path
    yield from (ROOT / name for name in TOP if (ROOT / name).exists())


def by_hand() -> list[Path]:
    """Python that people wrote: Django generates migrations."""
    return [path for path in written() if path.suffix == ".py" and "migrations" not in path.parts]


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Each function's name and its lines without the docstring."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            has_docstring = ast.get_docstring(node) is not None
            described = _lines(first) if has_docstring else 0
            yield node.name, _lines(node) - described


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_files_stay_small() -> None:
    code = [
        path for path in written() if path.suffix not in {".md", ".toml"} and "migrations" not in path.parts
    ]
    sizes = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in code}

    assert {str(path): lines for path, lines in sizes.items() if lines >= MAX_FILE} == {}


def test_functions_stay_small() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{name}": lines
        for path in by_hand()
        for name, lines in functions(path)
        if lines >= (MAX_STORY if STORIES in path.parents else MAX_FUNCTION)
    }

    assert long == {}


def test_no_module_is_named_for_having_no_subject() -> None:
    vague = {"utils", "util", "helpers", "helper", "misc", "common"}

    assert [str(path.relative_to(ROOT)) for path in by_hand() if path.stem in vague] == []


@pytest.mark.parametrize("name", ["registry address", "machine path"])
def test_nothing_names_a(name: str) -> None:
    locks = [ROOT / lock for lock in LOCKS if (ROOT / lock).exists()]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in [*written(), *locks]
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := FOREIGN.search(line)) and match.group().startswith("/") == (name == "machine path")
    ]

    assert found == []


def test_pages_read_through_queries() -> None:
    """A page's module asks actions and queries; it makes no query of its own."""
    asking = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "annotator" / "web").glob("*.py")
        if re.search(r"\.objects\b", path.read_text(encoding="utf-8"))
    }

    assert asking == set()
