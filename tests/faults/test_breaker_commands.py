"""Commands given the wrong files and words: one sentence and exit status 2, and nothing of the machine is harmed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from annotator.models import Project
from tests import factories as make
from tests.files import jsonl, native
from tests.tasks.commands import DONE, UNUSABLE, Ended
from tests.tasks.workers import ROOT

pytestmark = pytest.mark.django_db
NOT_TEXT = os.fsdecode(b"\xff")


@pytest.fixture
def project() -> Project:
    return make.project(slug="algebra")


@pytest.fixture
def labelled(project: Project, tmp_path: Path) -> Project:
    """A project with one solution whose labels can be exported as reference labels."""
    file = tmp_path / "rows.jsonl"
    file.write_bytes(jsonl(native(0, 1, 1, 1)).getvalue())
    ended = Ended("import_solutions", file, "--project", "algebra")
    assert ended.status == DONE, ended.err
    return project


def export(to: object) -> Ended:
    return Ended(
        "export_labels", "--project", "algebra", "--format", "native", "--labels", "reference", "--out", to
    )


def test_an_export_through_a_link_writes_where_the_link_points(labelled: Project, tmp_path: Path) -> None:
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)

    assert export(link).status == DONE

    assert link.is_symlink()
    assert target.read_text().startswith("{")
    assert target.stat().st_mode & 0o777 == 0o640


def test_an_export_into_a_pipe_or_a_device_leaves_it_what_it_is(labelled: Project, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        ended = export(pipe)
        read = reader.communicate(timeout=20)[0]

    assert ended.status == DONE
    assert pipe.is_fifo()
    assert read.startswith(b"{")


@pytest.mark.parametrize("out", ["", ".", "/", "..", "x" * 400, "/proc/x", "nowhere/x"])
def test_an_export_to_a_place_that_takes_no_file_says_so(labelled: Project, out: str) -> None:
    ended = export(out)

    assert ended.status == UNUSABLE
    assert "can't be written" in ended.err


def test_an_export_leaves_nothing_half_written_beside_its_file(labelled: Project, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    before = sorted(tmp_path.iterdir())

    assert export(tmp_path / "taken").status == UNUSABLE

    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "words",
    [
        ["create_project", NOT_TEXT],
        ["create_project", "geometry", "--name", NOT_TEXT],
        ["create_user", NOT_TEXT],
        ["score_solutions", "--project", NOT_TEXT],
    ],
)
def test_words_that_are_no_text_are_refused(project: Project, words: list[str]) -> None:
    ended = Ended(*words)

    assert ended.status == UNUSABLE
    assert "is not UTF-8 text" in ended.err


def test_a_file_whose_name_is_no_text_is_imported(project: Project, tmp_path: Path) -> None:
    file = tmp_path / f"rows{NOT_TEXT}.jsonl"
    file.write_bytes(jsonl(native()).getvalue())

    ended = Ended("import_solutions", file, "--project", "algebra", "--json")

    assert (ended.status, ended.json["imported"]) == (DONE, 1)


def test_a_port_that_is_no_number_is_refused_by_make(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "deploy/make.py", "demo"],
        cwd=ROOT,
        env={**os.environ, "PORT": "abc", "STEPMARK_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == UNUSABLE
    assert "invalid int value: 'abc'" in done.stderr
    assert "Traceback" not in done.stderr
