"""Labels bought in some order, replayed from the shell on generated solutions."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotator.core.demo.generator import generate
from annotator.core.replay.pace import Pace
from annotator.management.commands import simulate_labeling
from annotator.models import Project
from annotator.scorers.builtin import learner
from tests import factories as make
from tests.files import jsonl, processbench
from tests.tasks.commands import DONE, UNUSABLE, Ended


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ensembles of two: what is told of them is looked at, not how good they are."""
    monkeypatch.setattr(learner, "MEMBERS", 2)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """About 60 generated solutions."""
    rows = [
        {
            "id": record.external_id,
            "generator": None,
            "problem": record.problem.text,
            "steps": [step.text for step in record.steps],
            "final_answer_correct": record.answer_correct,
            "label": record.first_error,
        }
        for record in generate(20, seed=5)
        if record.first_error is not None
    ]
    path = tmp_path_factory.mktemp("replay") / "rows.jsonl"
    path.write_bytes(jsonl(*rows).getvalue())
    return path


def test_the_three_curves_are_told_beside_random(file: Path, tmp_path: Path) -> None:
    plot = tmp_path / "curves.svg"
    ended = Ended(
        *("simulate_labeling", file, "--format", "processbench", "--strategy", "mistakes"),
        *("--budget", 0.2, 1, "--seeds", 2, "--plot", plot, "--json"),
    )
    said = ended.json
    assert ended.status == DONE
    assert (said["strategy"], said["seeds"], said["budgets"], said["in_seconds"]) == (
        "mistakes",
        2,
        [0.2, 1.0],
        None,
    )
    found = said["misjudged_found"]["curves"]
    assert all(o >= m for o, m in zip(found["oracle"]["mean"], found["mistakes"]["mean"], strict=True))
    assert found["mistakes"]["mean"][-1] == pytest.approx(1.0)
    assert said["whole_set"]["accuracy"]["curves"]["mistakes"]["mean"][-1] == 1.0
    assert set(said["retrained"]) == {"auc", "f1"}
    assert plot.read_text().startswith("<svg")


def test_people_get_tables(file: Path) -> None:
    ended = Ended("simulate_labeling", file, "--strategy", "random", "--budget", 0.3, 1, "--seeds", 1)
    assert "(c) Step AUC of the scorer trained on what was bought" in ended.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--budget", "0"], "A budget is a share"),
        (["--budget", "20"], "A budget is a share"),
        (["--seeds", "0"], "--seeds is a number"),
        (["--format", "guess"], "no format is called 'guess'"),
    ],
)
def test_what_makes_no_sense_is_unusable(file: Path, arguments: list[str], says: str) -> None:
    ended = Ended("simulate_labeling", file, *arguments)
    assert (ended.status, says in ended.err) == (UNUSABLE, True)


def test_a_file_without_labels_or_with_few_problems_is_unusable(tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl"
    path.write_bytes(jsonl(processbench(0, 1), processbench(1, -1)).getvalue())
    ended = Ended("simulate_labeling", path)
    assert (ended.status, "Fewer than 10 problems" in ended.err) == (UNUSABLE, True)
    assert Ended("simulate_labeling", tmp_path / "none.jsonl").status == UNUSABLE


@pytest.mark.django_db
def test_seconds_need_measured_times(file: Path) -> None:
    project: Project = make.project(slug="algebra")
    ended = Ended("simulate_labeling", file, "--project", project.slug)
    assert (ended.status, "Only 0 annotations have a measured time" in ended.err) == (UNUSABLE, True)


@pytest.mark.django_db
def test_with_a_projects_pace_budgets_are_told_in_seconds_too(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.project(slug="algebra")
    monkeypatch.setattr(simulate_labeling, "pace", lambda _project: Pace(10.0, 5.0, 20.0, 40))
    ended = Ended(
        *("simulate_labeling", file, "--project", "algebra", "--strategy", "gain"),
        *("--budget", 0.3, 1, "--seeds", 1, "--json"),
    )
    said = ended.json
    assert (said["unit"], said["in_seconds"]["unit"]) == ("steps", "seconds")
    assert said["in_seconds"]["total"] > 5 * said["total"]
