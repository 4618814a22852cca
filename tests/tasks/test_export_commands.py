"""Exports from the shell: recipes, parts, tables, and what changed between two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions import export_recipes
from annotator.actions.access import operator
from annotator.actions.export_choices import Recipe
from annotator.core import export_files
from annotator.models import ExportRun, Project
from annotator.queries.export_filters import LabelsFrom
from tests import factories as make
from tests.actions.leaving import brought
from tests.tasks.commands import DONE, UNUSABLE, Ended

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(slug="algebra")


@pytest.fixture
def labelled(project: Project) -> Project:
    """Two solutions with reference labels."""
    brought(make.solution(project), 1, 1, 1), brought(make.solution(project), 1, -1, None)
    return project


def export(out: Path, *arguments: object) -> Ended:
    given = ("--project", "algebra", "--labels", "reference", "--out", out)
    return Ended("export_labels", *given, *arguments, "--json")


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_recipe_gives_the_choices_and_options_change_them(labelled: Project, tmp_path: Path) -> None:
    kept = Recipe(format="trl", labels=LabelsFrom.REFERENCE)
    row = export_recipes.save(actor=operator(labelled), name="weekly", recipe=kept)
    out, given = tmp_path / "a.jsonl", ("--project", "algebra", "--recipe", "weekly", "--json")

    assert Ended("export_labels", *given, "--out", out).status == DONE
    assert [each["labels"] for each in written(out)] == [[True] * 3, [True, False]]
    assert Ended("export_labels", *given, "--out", out, "--format", "native").status == DONE
    assert "steps" in written(out)[0]
    runs = ExportRun.objects.order_by("pk").values_list("format", "recipe_id")
    assert list(runs) == [("trl", row.pk), ("native", None)]


def test_a_recipe_that_is_not_there_is_named(labelled: Project, tmp_path: Path) -> None:
    ended = export(tmp_path / "a.jsonl", "--recipe", "monthly")
    assert (ended.status, "no recipe 'monthly'" in ended.err) == (UNUSABLE, True)


def test_neither_a_format_nor_a_recipe_is_refused(labelled: Project, tmp_path: Path) -> None:
    assert export(tmp_path / "a.jsonl").status == UNUSABLE


def test_parts_go_to_files_of_their_own(labelled: Project, tmp_path: Path) -> None:
    ended = export(
        tmp_path / "rows.jsonl", "--format", "trl", "--split-by-problem", "50/50", "--separate-files"
    )
    assert ended.json["parts"].keys() == {"train", "test"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.test.jsonl", "rows.train.jsonl"]
    assert sum(each["written"] for each in ended.json["parts"].values()) == 2


def test_each_file_of_a_part_says_what_was_left_out(labelled: Project, tmp_path: Path) -> None:
    make.work(labelled)
    words = ("--labels", "reference", "--format", "trl", "--split-by-problem", "50/50", "--separate-files")
    ended = Ended("export_labels", "--project", "algebra", "--out", tmp_path / "rows.jsonl", *words)
    told = ended.out.splitlines()
    assert [line.split(".jsonl")[1] for line in told] == ["; left out: 1 no reference labels."] * 2


def test_a_table_is_a_format_like_any_other(labelled: Project, tmp_path: Path) -> None:
    export(tmp_path / "a.csv", "--format", "csv")
    assert (tmp_path / "a.csv").read_text().startswith("solution,problem,")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--min-agreement", "80"],
        ["--sources", "rumour"],
        ["--split-by-problem", "80/30"],
        ["--people", "nobody-9"],
        ["--separate-files"],
        ["--values", "soft", "--format", "trl"],
    ],
)
def test_a_choice_that_can_not_be_is_told(labelled: Project, tmp_path: Path, arguments: list[str]) -> None:
    ended = export(tmp_path / "a.jsonl", "--format", "native", *arguments)
    assert (ended.status, ended.out, list(tmp_path.iterdir())) == (UNUSABLE, "", [])


def test_two_exports_of_the_history_are_compared(labelled: Project, tmp_path: Path) -> None:
    first = export(tmp_path / "a.jsonl", "--format", "native").json["run"]
    brought(make.solution(labelled), 1, 1, 1)
    second = export(tmp_path / "b.jsonl", "--format", "trl").json["run"]
    ended = Ended("export_diff", first, second, "--project", "algebra", "--json")
    assert (ended.json["same"], ended.json["rows"]) == (2, {"added": 1, "retracted": 0})


def files(tmp_path: Path) -> tuple[Path, Path]:
    """Two native files, the second in another order and with other labels."""
    row = {"problem": {"text": "p"}, "steps": [{"text": "one"}, {"text": "two"}]}
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    old = [("a", [1, 1]), ("b", [1, -1]), ("c", [1, 1])]
    new = [("d", [1, 1]), ("b", [-1, None]), ("a", [1, 1])]
    for path, rows in ((before, old), (after, new)):
        path.write_text("\n".join(json.dumps({**row, "id": name, "labels": said}) for name, said in rows))
    return before, after


@pytest.mark.parametrize("at_once", [1, 50_000])
def test_two_files_are_compared_whatever_their_order(
    tmp_path: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_files, "SORTED_AT_ONCE", at_once)
    before, after = files(tmp_path)
    out = tmp_path / "changes.jsonl"
    ended = Ended("export_diff", before, after, "--out", out, "--json")
    assert ended.json == {
        "same": 1,
        "changed": 1,
        "rows": {"added": 1, "retracted": 1},
        "steps": {"flipped": 1, "added": 0, "retracted": 1},
    }
    assert [(each["change"], each["id"], each["step"]) for each in written(out)] == [
        ("flipped", "b", 0),
        ("retracted", "b", 1),
        ("retracted", "c", None),
        ("added", "d", None),
    ]


def test_changes_go_to_a_table_by_the_files_ending(tmp_path: Path) -> None:
    out = tmp_path / "changes.csv"
    Ended("export_diff", *files(tmp_path), "--out", out)
    assert out.read_text().splitlines()[:2] == ["change,id,annotator,step,before,after", "flipped,b,,0,1,-1"]


@pytest.mark.parametrize(
    "arguments",
    [["1", "2", "--project", "algebra"], ["a", "b", "--project", "algebra"], ["nowhere", "nothing"]],
)
def test_what_can_not_be_compared_is_told(project: Project, arguments: list[str]) -> None:
    assert Ended("export_diff", *arguments, "--json").status == UNUSABLE


def test_a_file_with_a_broken_row_is_not_compared(tmp_path: Path) -> None:
    before, after = files(tmp_path)
    after.write_text(after.read_text() + '\n{"problem": 1}')
    ended = Ended("export_diff", before, after, "--format", "native", "--json")
    assert (ended.status, "line 4" in ended.err) == (UNUSABLE, True)
