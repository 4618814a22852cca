"""Reads solutions with human first errors and turns them into a table of features and targets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson

from annotator.core.labels import NO_ERROR
from annotator.core.solutions import Step
from annotator.scorers.builtin.features import solution_features

Floats = npt.NDArray[np.float64]


class UnreadableTrainingData(ValueError):
    """The training file is not what it should be; the message names the line."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A solution and its human stop: the 0-based first error, -1 for none. ``answer_correct`` is no feature: it only
    serves to say how much knowing it would tell."""

    problem: str
    steps: tuple[Step, ...]
    stop: int
    answer_correct: bool | None = None


def read_processbench(path: Path) -> list[Labelled]:
    """Solutions of a ProcessBench JSONL file. Raises UnreadableTrainingData naming the first bad line."""
    solutions = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            value = orjson.loads(line)
            steps = tuple(Step(text) for text in value["steps"])
            stop = int(value["label"])
            if (
                not steps
                or not NO_ERROR <= stop < len(steps)
                or not all(isinstance(s.text, str) for s in steps)
            ):
                raise ValueError("the steps and the label do not fit")
            solutions.append(Labelled(str(value["problem"]), steps, stop, value.get("final_answer_correct")))
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableTrainingData(f"{path.name}, line {number}: {error}") from error
    if not solutions:
        raise UnreadableTrainingData(f"{path.name} holds no solutions")
    return solutions


def normalised(problem: str) -> str:
    """A problem's text without case, spacing and punctuation, so that trivial variants count as one.

    >>> normalised("How many  Eggs?") == normalised("how many eggs")
    True
    """
    return " ".join(re.findall(r"\w+", problem.lower()))


def problem_hash(problem: str) -> str:
    """16 hex digits of the SHA-256 of the normalised problem."""
    return hashlib.sha256(normalised(problem).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Table:
    """``rows``: (steps, features) of all steps; ``owner``: (steps,) index of the solution; ``risk``: (steps,)
    whether the step is up to the stop; ``correct``: (steps,); ``group``: (solutions,) the problem."""

    rows: Floats
    owner: npt.NDArray[np.int64]
    risk: npt.NDArray[np.bool_]
    correct: Floats
    group: npt.NDArray[np.int64]
    stops: tuple[int, ...]


def tabulate(solutions: Sequence[Labelled], *, words: bool) -> Table:
    """Features and targets of all steps."""
    names = {
        name: index for index, name in enumerate(dict.fromkeys(normalised(s.problem) for s in solutions))
    }
    blocks, owner, risk, correct = [], [], [], []
    for index, solution in enumerate(solutions):
        blocks.append(solution_features(solution.problem, solution.steps, hashed=words))
        for place in range(len(solution.steps)):
            owner.append(index)
            risk.append(solution.stop == NO_ERROR or place <= solution.stop)
            correct.append(float(place != solution.stop))
    return Table(
        rows=np.vstack(blocks),
        owner=np.array(owner),
        risk=np.array(risk),
        correct=np.array(correct),
        group=np.array([names[normalised(solution.problem)] for solution in solutions]),
        stops=tuple(solution.stop for solution in solutions),
    )
