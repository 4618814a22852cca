"""A local scorer taught by a project's labels: on what no person said first, then on what people said.

To see what was learnt on problems that were not shown, the same is done once for each part of the problems without
it. Every run lies in a folder of its own and is gone on with after a kill; what a part came to is kept as a file.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from annotator.core.uncertainty import EVEN_ODDS
from annotator.scorers.base import Scored, ScoringInput
from annotator.scorers.builtin.fit import Example, NothingToLearn
from annotator.scorers.local.families import FAMILIES
from annotator.scorers.local.folders import write_whole
from annotator.scorers.local.scorer import LocalScorer, Running
from annotator.scorers.local.training import MODEL, Progress, train
from annotator.scorers.remote import InvalidSettings

#: Each is a whole training of a transformer, so they are few.
PARTS = 2

Values = list[float | None]


@dataclass(frozen=True, slots=True)
class Lessons:
    """A project's labels. ``part``: of each of the people's examples, drawn by problem."""

    people: Sequence[Example]
    automatic: Sequence[Example]
    part: Sequence[int]


def taught(
    lessons: Lessons, config: Mapping[str, Any], *, seed: int, progress: Progress
) -> tuple[Path, list[Values]]:
    """The model's folder, and what models that had not seen its problem say of each of the people's examples.

    ``config`` holds ``base`` and ``out`` (folders, checked by the caller), the scorer's own settings, and in
    ``training`` what `training.settings_of` reads. An example that is too long for the model has even odds. Raises
    InvalidSettings, InvalidModel, NothingToLearn, and what ``progress`` raises.
    """
    if config.get("family") != "actprm":
        raise InvalidSettings("Training makes a model of the family actprm; set the scorer's family to it.")
    out = Path(config["out"])
    settings = {**_begin(Path(config["base"])), **config.get("training", {}), "seed": seed}
    settings |= {name: config[name] for name in ("device", "max_tokens") if name in config}
    values: list[Values] = [[] for _ in lessons.people]
    for part in sorted(set(lessons.part)):
        hidden = [place for place, one in enumerate(lessons.part) if one == part]
        said = _part(lessons, hidden, config, settings, out / f"part-{part}", progress)
        for place, one in zip(hidden, said, strict=True):
            values[place] = one
    model = _stages(lessons.people, lessons.automatic, config["base"], settings, out, progress)
    for part in set(lessons.part):
        shutil.rmtree(out / f"part-{part}", ignore_errors=True)
    return model, values


def _begin(base: Path) -> dict[str, Any]:
    """As many heads as the base has, where it has some."""
    told = json.loads((base / "config.json").read_text(encoding="utf-8"))
    return {"heads": told["num_ensemble"]} if isinstance(told.get("num_ensemble"), int) else {}


def _part(
    lessons: Lessons,
    hidden: Sequence[int],
    config: Mapping[str, Any],
    settings: Mapping[str, Any],
    folder: Path,
    progress: Progress,
) -> list[Values]:
    """What a model that was not shown these problems says of them."""
    kept = folder / "values.json"
    if kept.exists():
        return [list(one) for one in orjson.loads(kept.read_bytes())]
    away = {lessons.people[place].group for place in hidden}
    shown = [one for one in lessons.people if one.group not in away]
    before = [one for one in lessons.automatic if one.group not in away]
    model = _stages(shown, before, config["base"], settings, folder, progress)
    said = _values(model, [lessons.people[place] for place in hidden], config, progress)
    write_whole(kept, orjson.dumps(said))
    for stage in folder.iterdir():
        if stage.is_dir():
            shutil.rmtree(stage)  # a model is large
    return said


def _stages(
    people: Sequence[Example],
    automatic: Sequence[Example],
    base: str,
    settings: Mapping[str, Any],
    folder: Path,
    progress: Progress,
) -> Path:
    """Both stages; where the first teaches nothing, the second alone."""
    start = Path(base)
    if automatic:
        try:
            start = _run(automatic, start, settings, folder / "automatic", progress)
        except NothingToLearn:
            start = Path(base)
    model = _run(people, start, settings, folder / "people", progress)
    if start != Path(base):
        shutil.rmtree(folder / "automatic" / MODEL, ignore_errors=True)
    return model


def _run(
    examples: Sequence[Example], base: Path, settings: Mapping[str, Any], folder: Path, progress: Progress
) -> Path:
    told = {**settings, "base": str(base)}
    return train(examples, told, folder, cancelled=lambda: False, progress=progress).folder


def _values(
    model: Path, examples: Sequence[Example], config: Mapping[str, Any], progress: Progress
) -> list[Values]:
    running = Running(
        FAMILIES["actprm"], model, config.get("device", "auto"), "auto", int(config.get("max_tokens", 8192))
    )
    scorer = LocalScorer(running, threshold=EVEN_ODDS)
    values: list[Values] = []
    for begin in range(0, len(examples), 16):
        progress("out of fold", begin, len(examples))
        some = examples[begin : begin + 16]
        results = scorer.score(
            [ScoringInput(one.problem, one.steps) for one in some], cancelled=lambda: False
        )
        for one, result in zip(some, results, strict=True):
            even = [EVEN_ODDS if step.judged else None for step in one.steps]
            values.append(list(result.values) if isinstance(result, Scored) else even)
    return values
