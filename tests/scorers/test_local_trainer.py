"""A local scorer taught in two stages, and looked at by what models say of problems that they were not shown."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotator.core.solutions import Step
from annotator.scorers.builtin.fit import Example, NothingToLearn
from annotator.scorers.local import trainer
from annotator.scorers.local.folders import model_folder, write_whole
from annotator.scorers.local.training import Trained
from annotator.scorers.remote import InvalidSettings
from annotator.scorers.trainers import train_local

PEOPLE = [Example(f"p{n}", (Step("a"), Step("b")), (1.0, float(n % 2)), group=f"p{n % 4}") for n in range(8)]
AUTOMATIC = [Example(f"p{n}", (Step("a"),), (1.0,), group=f"p{n}") for n in range(6)]


class Teacher:
    """Stands for the training itself: notes what it is shown, and leaves a folder."""

    def __init__(self) -> None:
        self.shown: dict[Path, tuple[str, set[str]]] = {}
        self.refuses = ""

    def train(
        self, examples: Sequence[Example], config: Mapping[str, Any], folder: Path, **_rest: Any
    ) -> Trained:
        if folder.name == self.refuses:
            raise NothingToLearn("of one kind")
        self.shown[folder] = (config["base"], {one.group for one in examples})
        (folder / "model").mkdir(parents=True)
        return Trained(folder / "model", folder / "curves.jsonl", 1, len(examples), {}, 0.0, {})


@pytest.fixture
def teacher(monkeypatch: pytest.MonkeyPatch) -> Teacher:
    made = Teacher()
    monkeypatch.setattr(trainer, "train", made.train)
    monkeypatch.setattr(
        trainer, "_values", lambda model, examples, *_rest: [[model.parts[-3], one.group] for one in examples]
    )
    return made


def taught(tmp_path: Path, automatic: Sequence[Example] = AUTOMATIC) -> Any:
    (tmp_path / "base").mkdir(exist_ok=True)
    (tmp_path / "base" / "config.json").write_text('{"num_ensemble": 5}')
    config = {"family": "actprm", "base": str(tmp_path / "base"), "out": str(tmp_path / "out")}
    part = [int(one.group in {"p0", "p1"}) for one in PEOPLE]
    lessons = trainer.Lessons(PEOPLE, automatic, part)
    return trainer.taught(lessons, config, seed=0, progress=lambda *_said: None)


def test_each_example_is_looked_at_by_a_model_that_was_not_shown_its_problem(
    teacher: Teacher, tmp_path: Path
) -> None:
    _, values = taught(tmp_path)

    for said, example in zip(values, PEOPLE, strict=True):
        part, group = said
        assert group == example.group
        for stage in ("automatic", "people"):
            assert group not in teacher.shown[tmp_path / "out" / str(part) / stage][1]


def test_people_are_learnt_from_after_what_no_person_said(teacher: Teacher, tmp_path: Path) -> None:
    model, _ = taught(tmp_path)

    out = tmp_path / "out"
    assert teacher.shown[out / "automatic"] == (str(tmp_path / "base"), {f"p{n}" for n in range(6)})
    assert teacher.shown[out / "people"] == (str(out / "automatic" / "model"), {f"p{n}" for n in range(4)})
    assert model == out / "people" / "model"
    assert sorted(path.name for path in out.iterdir()) == ["automatic", "people"]


def test_where_the_first_stage_teaches_nothing_the_second_stands_alone(
    teacher: Teacher, tmp_path: Path
) -> None:
    teacher.refuses = "automatic"

    taught(tmp_path)

    assert teacher.shown[tmp_path / "out" / "people"][0] == str(tmp_path / "base")


def test_a_part_that_is_done_is_not_done_again(
    teacher: Teacher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the last stage: the parts' models are gone, what they said is kept."""
    train = teacher.train

    def killed(examples: Sequence[Example], config: Any, folder: Path, **rest: Any) -> Trained:
        if folder.parent == tmp_path / "out":
            raise KeyboardInterrupt
        return train(examples, config, folder, **rest)

    monkeypatch.setattr(trainer, "train", killed)
    with pytest.raises(KeyboardInterrupt):
        taught(tmp_path)
    before = dict(teacher.shown)
    monkeypatch.setattr(trainer, "train", train)

    taught(tmp_path)

    assert [folder.parent.name for folder in teacher.shown if folder not in before] == ["out", "out"]


def test_a_folders_name_that_the_system_does_not_take_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="no model folder"):
        model_folder("a" * 300, [str(tmp_path)])


def test_a_file_that_was_being_written_when_a_kill_came_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_file: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "values.json", b"[]")
    monkeypatch.undo()
    assert not (tmp_path / "values.json").exists()

    write_whole(tmp_path / "values.json", b"[]")

    assert (tmp_path / "values.json").read_bytes() == b"[]"


def test_one_problem_alone_can_not_be_looked_at_from_outside(tmp_path: Path) -> None:
    one = [Example("p", (Step("a"),), (1.0,), group="p")]

    with pytest.raises(NothingToLearn, match="one problem"):
        train_local(one, [], {"family": "actprm"}, seed=0, progress=lambda *_said: None)
