"""The same verbs for the shell: what they print, where, and how they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotator.models import Annotation, Membership, Project, ReferenceLabels, Solution
from annotator.queries import exports as queries
from tests import factories as make
from tests.files import bring, jsonl, native, processbench
from tests.tasks.commands import CHECK_FAILED, DONE, UNUSABLE, Ended
from tests.tasks.workers import ROOT

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(slug="algebra")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def fill(path: Path, *rows: dict[str, Any] | bytes) -> None:
    path.write_bytes(jsonl(*rows).getvalue())


def test_create_project_makes_it_and_says_so() -> None:
    ended = Ended("create_project", "algebra", "--mode", "all_steps", "--labels-per-solution", 3, "--json")

    made = Project.objects.get(slug="algebra")
    assert (ended.status, ended.json["project"], made.mode, made.labels_train) == (
        DONE,
        "algebra",
        "all_steps",
        3,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["algebra"],
        ["two words"],
        ["geometry", "--gold-rate", "2"],
        ["geometry", "--gold-rate", "nan"],
        ["geometry", "--labels-per-solution", "0"],
        ["geometry", "--mode", "guess"],
        [],
    ],
)
def test_create_project_refuses_what_it_cannot_make(project: Project, arguments: list[str]) -> None:
    ended = Ended("create_project", *arguments)

    assert (ended.status, ended.out) == (UNUSABLE, "")
    assert Project.objects.count() == 1


def test_create_project_says_what_a_name_in_addresses_may_hold() -> None:
    ended = Ended("create_project", "two words")

    assert "letters, digits, - and _" in ended.err
    assert "two words" in ended.err


def test_create_user_prints_a_made_up_password_once(project: Project) -> None:
    ended = Ended("create_user", "ann", "--project", "algebra", "--role", "manager", "--json")

    assert ended.status == DONE
    assert User.objects.get().check_password(ended.json["password"])
    assert Membership.objects.get().role == ended.json["role"] == "manager"


def test_create_user_lets_somebody_who_is_there_join_another_project(project: Project) -> None:
    Ended("create_user", "ann")
    ended = Ended("create_user", "ann", "--project", "algebra", "--role", "manager", "--json")
    assert (ended.status, ended.json["role"], "password" in ended.json) == (0, "manager", False)


def test_create_user_never_prints_a_password_that_was_given() -> None:
    ended = Ended("create_user", "ann", "--password", "quite-a-long-secret-17")

    assert ended.status == DONE
    assert "quite-a-long" not in ended.out + ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["ann", "--project", "geometry"],
        ["ann", "--password", "short"],
        ["ann", "--role", "king"],
        ["ann", "--role", "manager"],
        ["two words"],
    ],
)
def test_create_user_makes_nobody_when_something_is_wrong(arguments: list[str]) -> None:
    ended = Ended("create_user", *arguments)

    assert (ended.status, ended.out, User.objects.count()) == (UNUSABLE, "", 0)


def test_import_solutions_reports_every_row(project: Project, file: Path) -> None:
    fill(file, processbench(0), processbench(0), processbench(1, label=9), processbench(2))

    ended = Ended("import_solutions", file, "--project", "algebra", "--json")

    report = ended.json
    assert ended.status == CHECK_FAILED
    assert report.keys() >= {"read", "imported", "duplicates", "rejected", "errors", "batch"}
    assert (report["read"], report["imported"], report["duplicates"], report["rejected"]) == (4, 2, 1, 1)
    (error,) = report["errors"]
    assert (error.keys(), error["line"], error["field"]) == ({"line", "field", "message"}, 3, "label")


def test_import_solutions_names_line_and_field_to_a_person(project: Project, file: Path) -> None:
    fill(file, processbench(0, label=9), processbench(1))

    assert (
        "rows.jsonl, line 1, label: expected" in Ended("import_solutions", file, "--project", "algebra").err
    )


def test_a_clean_import_ends_with_0_and_so_does_a_second_one(project: Project, file: Path) -> None:
    fill(file, processbench(0), processbench(1))
    arguments = ("import_solutions", file, "--project", "algebra", "--labels", "gold", "--json")

    assert [Ended(*arguments).status, Ended(*arguments).json["duplicates"]] == [DONE, 2]


def test_import_solutions_keeps_reference_labels_unless_told_otherwise(project: Project, file: Path) -> None:
    fill(file, processbench(0))
    Ended("import_solutions", file, "--project", "algebra")

    assert (ReferenceLabels.objects.count(), Annotation.objects.count()) == (1, 0)


@pytest.mark.parametrize(
    ("rows", "arguments"),
    [
        pytest.param([processbench(0)], ["--project", "geometry"], id="no such project"),
        pytest.param([processbench(0)], [], id="no project"),
        pytest.param([processbench(0)], ["--project", "algebra", "--format", "xml"], id="no such format"),
        pytest.param([processbench(0)], ["--project", "algebra", "--labels", "guesses"], id="no such labels"),
        pytest.param([{"a": 1}], ["--project", "algebra"], id="not recognised"),
        pytest.param([], ["--project", "algebra"], id="empty"),
    ],
)
def test_import_solutions_says_what_it_cannot_use(
    project: Project, file: Path, rows: list[Any], arguments: list[str]
) -> None:
    fill(file, *rows)
    ended = Ended("import_solutions", file, *arguments, "--json")

    assert (ended.status, ended.out, Solution.objects.count()) == (UNUSABLE, "", 0)


def test_a_file_that_is_not_there_is_named(project: Project, file: Path) -> None:
    ended = Ended("import_solutions", file, "--project", "algebra")

    assert (ended.status, "rows.jsonl can't be read" in ended.err) == (UNUSABLE, True)


def test_a_failure_of_ours_is_not_called_a_bad_input(
    project: Project, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr("annotator.actions.import_chunks.write_labels", broken)
    fill(file, processbench(0))

    with pytest.raises(ValueError, match="a bug"):
        Ended("import_solutions", file, "--project", "algebra")


@pytest.fixture
def labelled(project: Project) -> Project:
    """Three solutions with reference labels, one of them with a neutral step."""
    bring(project, native(0, 1, 1, 1), native(1, 1, -1, None), native(2, 1, 0, 1))
    return project


def export(out: object, *arguments: object) -> Ended:
    given = ("--project", "algebra", "--labels", "reference", "--out", out)
    return Ended("export_labels", *given, "--format", "trl", *arguments)


def test_export_labels_writes_the_file_and_its_checksum(labelled: Project, file: Path) -> None:
    ended = export(file, "--neutral", "correct", "--include-holdout", "--json")

    assert ended.status == DONE
    assert ended.json.keys() >= {"written", "left_out", "lost_fields", "sha256"}
    assert (ended.json["written"], ended.json["left_out"]) == (3, {})
    assert len(file.read_bytes().splitlines()) == 3


def test_export_labels_describes_the_file_beside_it(labelled: Project, file: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "labels.json"
    ended = export(file, "--neutral", "correct", "--manifest", manifest, "--json")
    said = json.loads(manifest.read_bytes())
    assert (said["sha256"], said["written"]) == (ended.json["sha256"], ended.json["written"])
    assert (tmp_path / "labels.md").read_text() == said["card"]


def test_export_labels_says_how_many_it_left_out_and_why(labelled: Project, file: Path) -> None:
    make.gold(labelled)
    ended = export(file, "--neutral", "correct", "--include-holdout", "--json")

    assert ended.json["left_out"] == {"gold": 1}


def test_a_missing_neutral_policy_is_asked_for_and_nothing_is_written(labelled: Project, file: Path) -> None:
    ended = export(file, "--include-holdout", "--json")

    assert (ended.status, ended.out, list(file.parent.iterdir())) == (UNUSABLE, "", [])
    assert "--neutral" in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--after-first-error", "mask"],
        ["--neutral", "perhaps"],
        ["--format", "xml"],
        ["--labels", "guesses"],
        ["--project", "geometry"],
    ],
)
def test_export_labels_says_what_it_cannot_do(labelled: Project, file: Path, arguments: list[str]) -> None:
    ended = export(file, *arguments)

    assert (ended.status, ended.out, list(file.parent.iterdir())) == (UNUSABLE, "", [])


def test_a_folder_that_is_not_there_is_named(labelled: Project, tmp_path: Path) -> None:
    ended = export(tmp_path / "nowhere" / "rows.jsonl", "--neutral", "correct")

    assert (ended.status, "nowhere" in ended.err) == (UNUSABLE, True)


def test_an_export_that_breaks_off_leaves_the_old_file_as_it_was(
    labelled: Project, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("yesterday's export")
    rows = queries.rows

    def break_off(**choice: Any) -> Iterator[Any]:
        yield next(rows(**choice))
        raise KeyboardInterrupt

    monkeypatch.setattr(queries, "rows", break_off)
    with pytest.raises(KeyboardInterrupt):
        export(file, "--neutral", "correct", "--include-holdout")

    assert [(path.name, path.read_text()) for path in file.parent.iterdir()] == [
        (file.name, "yesterday's export")
    ]


def test_out_dash_writes_the_labels_and_nothing_else_to_stdout(labelled: Project, capfdbinary: Any) -> None:
    ended = export("-", "--neutral", "correct", "--include-holdout")

    written = [json.loads(line)["labels"] for line in capfdbinary.readouterr().out.splitlines()]
    assert (ended.status, ended.out) == (DONE, "")
    assert written == [[True] * 3, [True, False], [True] * 3]
    assert "Wrote 3 rows" in ended.err


def test_out_dash_and_json_would_mix_and_are_refused(labelled: Project) -> None:
    assert export("-", "--neutral", "correct", "--json").status == UNUSABLE


def test_the_shell_gets_the_status_and_one_sentence_without_a_traceback() -> None:
    """Through manage.py, as a person calls it."""
    ended = subprocess.run(
        [sys.executable, "manage.py", "export_labels", "--format", "xml"],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
    )

    assert (ended.returncode, ended.stdout) == (UNUSABLE, "")
    assert "Traceback" not in ended.stderr
