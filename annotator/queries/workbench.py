"""What the workbench shows a person: never a gold mark, a score, an id of a solution, or another's label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True)
class StepView:
    """One step. ``number`` counts from 1 for people; ``index`` is 0-based over all steps."""

    index: int
    kind: str
    judged: bool
    text: str
    label: int | None

    @property
    def number(self) -> int:
        return self.index + 1


@dataclass(frozen=True)
class Progress:
    """The person's own pace, and how many solutions still want a label from somebody."""

    mine_today: int
    mine_total: int
    left: int


@dataclass(frozen=True)
class ProjectView:
    """The project's face: ``guidelines`` is Markdown, ``mode`` is first_error or all_steps."""

    slug: str
    name: str
    mode: str
    guidelines: str
    guidelines_version: int | None


@dataclass(frozen=True)
class Bench:
    """One assignment, ready to be judged."""

    project: ProjectView
    assignment_id: str
    problem_text: str
    final_answer: str | None
    steps: Sequence[StepView]
    details: Mapping[str, Any]
    finish_reason: str
    draft_version: int
    active_seconds: float
    progress: Progress

    @property
    def labels_json(self) -> str:
        return orjson.dumps([step.label for step in self.steps]).decode()

    @property
    def details_json(self) -> str:
        return orjson.dumps(self.details).decode()


@dataclass(frozen=True)
class NothingLeft:
    """Why there is nothing to judge now. ``reason``: all_done, waiting, paused."""

    project: ProjectView
    reason: str
    sentence: str
    progress: Progress
