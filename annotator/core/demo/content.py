"""The demo project's content: hand-written and generated solutions, some of them gold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import resources
from itertools import groupby
from typing import Any

import orjson

from annotator.core.demo.generator import generate
from annotator.core.labels import NO_ERROR, accept_masks
from annotator.core.solutions import ProblemText, SolutionRecord, Step

GENERATED_PROBLEMS = 40
GOLD_SOLUTIONS = 24
#: Hand-written problems whose errors leave no room for a second opinion.
GOLD_PROBLEMS = frozenset(
    f"demo-hand-{name}" for name in ("log-integral", "two-triangles", "default-list", "tunnel")
)


@dataclass(frozen=True, slots=True)
class DemoItem:
    """A solution of the demo project. The record of a gold one carries its acceptable labels in ``accept``."""

    record: SolutionRecord
    gold: bool


def handwritten() -> Iterator[SolutionRecord]:
    """The hand-written solutions, in the order of their file; solutions of one problem are neighbours."""
    text = resources.files("annotator.core.demo").joinpath("handwritten.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        yield _record(orjson.loads(line))


def demo_set(seed: int = 2026) -> list[DemoItem]:
    """All solutions of the demo project, the same ones for the same seed.

    Each problem is either gold or ordinary work, never both.
    """
    ours, made = list(handwritten()), list(generate(GENERATED_PROBLEMS, seed))
    gold = set(GOLD_PROBLEMS)
    count = sum(record.problem.external_id in gold for record in ours)
    for problem, records in _by_problem(made):
        if count >= GOLD_SOLUTIONS:
            break
        if len(records) <= 3 and {record.first_error == NO_ERROR for record in records} == {True, False}:
            gold.add(problem)
            count += len(records)
    return [_item(record, record.problem.external_id in gold) for record in (*ours, *made)]


def _item(record: SolutionRecord, gold: bool) -> DemoItem:
    if gold and record.labels is not None:
        record = replace(record, accept=accept_masks(record.labels))
    return DemoItem(record, gold)


def _by_problem(records: Iterable[SolutionRecord]) -> Iterator[tuple[str, list[SolutionRecord]]]:
    for problem, group in groupby(records, key=lambda record: record.problem.external_id):
        yield problem, list(group)


def _record(line: dict[str, Any]) -> SolutionRecord:
    problem = line["problem"]
    return SolutionRecord(
        problem=ProblemText(
            text=problem["text"],
            external_id=problem["id"],
            answer=problem["answer"],
            solution=problem["solution"],
            domain=problem["domain"],
            subject=problem["subject"],
        ),
        steps=tuple(Step.from_json(step) for step in line["steps"]),
        external_id=line["id"],
        generator=line["generator"],
        final_answer=line["final_answer"],
        answer_correct=line["answer_correct"],
        labels=tuple(line["labels"]),
        first_error=line["first_error"],
        mode=line["mode"],
        meta=line["meta"],
    )
