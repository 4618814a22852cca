"""Broken lines of every format through the import command: each is imported, known already, or rejected with a reason.

STEPMARK_FUZZ_LINES says how many lines in all; `docs/imports.md` has the figure of a long run.
"""

from __future__ import annotations

import os
import random
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import pytest

from annotator.core.codecs import CODECS
from annotator.models import Project, Solution
from tests import factories as make
from tests.core.test_codecs_shared import FILES, NO_FORMAT
from tests.mutations import broken
from tests.tasks.commands import CHECK_FAILED, DONE, Ended

pytestmark = pytest.mark.django_db
#: File → the format it is read as. What is in no format is read as the one that says of each line why.
SHARED = {name: known[0] for name, known in FILES.items()} | dict.fromkeys(NO_FORMAT, "native")
LINES = int(os.environ.get("STEPMARK_FUZZ_LINES", "208"))
EACH = max(1, LINES // (len(CODECS) + len(SHARED)))
#: What the file's labels become, and whether its rows stand in an array.
MEANINGS = (("reference", False), ("gold", False), ("annotations", False), ("reference", True))
ROWS = 200


@pytest.mark.parametrize("name", list(CODECS))
def test_broken_samples_are_imported_or_rejected_and_counted(name: str, tmp_path: Path) -> None:
    _import_broken([CODECS[name].sample], name, f"sample {name}", tmp_path)


@pytest.mark.parametrize("name", list(SHARED))
def test_broken_rows_of_real_files_are_imported_or_rejected_and_counted(
    name: str, tmp_path: Path, shared_data: Path
) -> None:
    with (shared_data / f"{name}.jsonl").open("rb") as file:
        rows = list(islice((orjson.loads(line) for line in file), ROWS))
    _import_broken(rows, SHARED[name], name, tmp_path)


def _import_broken(rows: list[Any], format_name: str, seed: str, folder: Path) -> None:
    """Lines under each meaning of labels, and an array, into a project each; then once more, which brings nothing."""
    chance = random.Random(seed)
    path = folder / "broken.json"
    share = -(-EACH // len(MEANINGS))
    for labels, as_array in MEANINGS:
        lines = [orjson.dumps(rows[0]), *(broken(chance.choice(rows), chance) for _ in range(share))]
        data = b"[" + b",\n".join(lines) + b"]" if as_array else b"\n".join(lines)
        path.write_bytes(data)
        project = make.project()
        first = _imported(path, project, format_name, labels)
        assert as_array or first["read"] == sum(bool(line.strip()) for line in data.split(b"\n"))
        assert Solution.objects.filter(project=project).count() == first["imported"]
        again = _imported(path, project, format_name, labels)
        assert (again["imported"], again["rejected"]) == (0, first["rejected"])
        _leaves_as_json(project, folder / "out.jsonl", first["imported"])


def _imported(path: Path, project: Project, format_name: str, labels: str) -> dict[str, Any]:
    ended = Ended(
        "import_solutions",
        path,
        "--project",
        project.slug,
        "--format",
        format_name,
        "--labels",
        labels,
        "--json",
    )
    assert ended.status in (DONE, CHECK_FAILED), ended.err
    told = ended.json
    assert told["read"] == told["imported"] + told["duplicates"] + told["rejected"]
    assert (ended.status == CHECK_FAILED) == (told["rejected"] > 0)
    assert all(error["message"].strip() and error["line"] > 0 for error in told["errors"])
    return told


def _leaves_as_json(project: Project, out: Path, solutions: int) -> None:
    ended = Ended(
        "export_labels", "--project", project.slug, "--format", "native", "--labels", "reference",
        "--include-gold", "--out", out, "--json",
    )  # fmt: skip
    assert ended.status == DONE, ended.err
    told = ended.json
    assert told["written"] + sum(told["left_out"].values()) == solutions
    assert sum(1 for line in out.read_bytes().splitlines() if orjson.loads(line)) == told["written"]
