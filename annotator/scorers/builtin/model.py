"""The built-in scorer's model: a mean over logistic regressions, each fitted on a bootstrap over problems.

The probability that a step is correct is the mean over the members, its spread their standard deviation.
Weights are JSON numbers, never a pickle; loading verifies every shape.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from annotator.core.uncertainty import EVEN_ODDS
from annotator.scorers.base import (
    CORRECTNESS,
    InvalidScores,
    Scored,
    ScoreFailure,
    ScoringInput,
    checked,
    one_by_one,
)
from annotator.scorers.builtin.features import FEATURES, HASH_BUCKETS, solution_features

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
FORMAT = 1
#: Standardised features are clipped here, so that a step unlike any in training can't run away.
CLIP = 4.0

Floats = npt.NDArray[np.float64]


class InvalidWeights(ValueError):
    """A weights file that does not fit this code."""


@dataclass(frozen=True, slots=True)
class Weights:
    """``mean`` and ``scale``: shape (features,); ``coefficients``: (members, features); ``intercepts``:
    (members,), all on the logit of "this step is correct"."""

    hashed: bool
    mean: Floats
    scale: Floats
    coefficients: Floats
    intercepts: Floats
    threshold: float = EVEN_ODDS
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """`builtin-` and 12 hex digits that change with any number that decides a score."""
        content = orjson.dumps(self.numbers(), option=orjson.OPT_SORT_KEYS)
        return "builtin-" + hashlib.sha256(content).hexdigest()[:12]

    def numbers(self) -> dict[str, Any]:
        """All that decides a score, as JSON."""
        return {
            "format": FORMAT,
            "hashed_words": HASH_BUCKETS if self.hashed else 0,
            "features": list(FEATURES),
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "coefficients": self.coefficients.tolist(),
            "intercepts": self.intercepts.tolist(),
            "threshold": self.threshold,
        }

    def to_json(self) -> dict[str, Any]:
        """All of it as plain JSON values: what is stored, and what ``config["weights"]`` takes."""
        return {**self.numbers(), "provenance": dict(self.provenance)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Weights:
        """The inverse of `to_json`. Raises InvalidWeights where anything does not fit."""
        return from_json(orjson.dumps(value))

    def member(self, number: int) -> tuple[Floats, float]:
        """Coefficients and intercept of one member, counted round."""
        place = number % len(self.intercepts)
        return self.coefficients[place], float(self.intercepts[place])

    def with_threshold(self, threshold: float) -> Weights:
        """The same numbers with another threshold."""
        return replace(self, threshold=threshold)

    def widened(self, width: int) -> Weights:
        """The same model over ``width`` features: those it does not know yet count for nothing."""
        more = width - len(self.mean)
        if not more:
            return self
        if more < 0:
            raise InvalidWeights(f"the weights know {len(self.mean)} features, not {width}")
        return replace(
            self,
            hashed=width > len(FEATURES),
            mean=np.pad(self.mean, (0, more)),
            scale=np.pad(self.scale, (0, more), constant_values=1.0),
            coefficients=np.pad(self.coefficients, ((0, 0), (0, more))),
        )

    def predict(self, rows: Floats) -> Floats:
        """Probability by each member that a step is correct: (steps, features) in, (members, steps) out.

        Rows may be wider than the weights: named features come first, and what follows is then left out.
        """
        standard = np.clip((rows[:, : len(self.mean)] - self.mean) / self.scale, -CLIP, CLIP)
        logits = self.coefficients @ standard.T + self.intercepts[:, None]
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0))))


def to_json(weights: Weights) -> bytes:
    """The file's content: numbers, then provenance."""
    return orjson.dumps({**weights.numbers(), "provenance": weights.provenance})


def from_json(content: bytes) -> Weights:
    """Weights from a file's content. Raises InvalidWeights where anything does not fit."""
    try:
        value = orjson.loads(content)
        buckets = value["hashed_words"]
        if (
            value["format"] != FORMAT
            or value["features"] != list(FEATURES)
            or buckets not in (0, HASH_BUCKETS)
        ):
            raise InvalidWeights(
                "the weights were fitted for other features; fit them again with `fit_builtin`"
            )
        return replace(
            numbers_from(value, len(FEATURES) + buckets),
            hashed=bool(buckets),
            provenance=value.get("provenance", {}),
        )
    except (KeyError, TypeError, orjson.JSONDecodeError) as error:
        raise InvalidWeights(f"the weights file is damaged: {error}") from error


def numbers_from(value: Mapping[str, Any], width: int) -> Weights:
    """The arrays and the threshold for ``width`` features. Raises InvalidWeights, KeyError or TypeError."""
    members = len(value["intercepts"])
    return Weights(
        hashed=False,
        mean=_array(value["mean"], (width,)),
        scale=_positive(_array(value["scale"], (width,))),
        coefficients=_array(value["coefficients"], (members, width)),
        intercepts=_array(value["intercepts"], (members,)),
        threshold=_probability(value["threshold"]),
    )


def _array(value: object, shape: tuple[int, ...]) -> Floats:
    try:
        array = np.asarray(value, dtype=np.float64)
    except ValueError as error:
        raise InvalidWeights(f"the weights file is damaged: {error}") from error
    if array.shape != shape or array.size == 0 or not bool(np.all(np.isfinite(array))):
        raise InvalidWeights(f"weights of shape {array.shape} do not fit {shape}, or are not finite")
    return array


def _positive(array: Floats) -> Floats:
    if not bool(np.all(array > 0)):
        raise InvalidWeights("a scale is not positive")
    return array


def _probability(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InvalidWeights(f"the threshold is not a probability: {value!r}")
    return float(value)


def load(path: Path = WEIGHTS_FILE) -> Weights:
    """Weights from a file. Raises InvalidWeights where it is missing or does not fit."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise InvalidWeights(f"there is no weights file {path.name}; make it with `fit_builtin`") from error
    return from_json(content)


class Model:
    """Scores features that were computed before, many solutions at once."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def score_features(self, rows: Floats) -> tuple[Floats, Floats]:
        """Probability that each step is correct, and its spread, both (steps,), from rows of `features`."""
        members = self.weights.predict(rows)
        return members.mean(axis=0), members.std(axis=0)


class BuiltinScorer:
    """Reads the steps on the CPU, several thousand a second, with nothing to download."""

    name = "builtin"
    measures = CORRECTNESS

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.version = weights.version
        self.threshold = weights.threshold

    def score(
        self, batch: Sequence[ScoringInput], *, cancelled: Callable[[], bool]
    ) -> list[Scored | ScoreFailure]:
        """One result per input, in order. Raises ScoringCancelled once ``cancelled()`` is true."""
        return one_by_one(batch, self._score_one, cancelled)

    def _score_one(self, item: ScoringInput) -> Scored | ScoreFailure:
        if not item.steps:
            return ScoreFailure("The solution has no steps to score.")
        try:
            rows = solution_features(item.problem, item.steps, hashed=self.weights.hashed)
            members = self.weights.predict(rows)
            return checked(scored(item, members), item.steps)
        except (InvalidScores, ArithmeticError, ValueError, RecursionError) as error:
            return ScoreFailure(f"The built-in scorer could not read this solution: {error}")


def scored(item: ScoringInput, members: Floats) -> Scored:
    """The members' mean and spread over all steps, (members, steps) in; None where a step takes no label."""
    values, spread = members.mean(axis=0), members.std(axis=0)
    judged = [step.judged for step in item.steps]
    return Scored(
        values=tuple(float(v) if takes else None for v, takes in zip(values, judged, strict=True)),
        spread=tuple(float(s) if takes else None for s, takes in zip(spread, judged, strict=True)),
        usage={"characters": float(math.fsum(len(step.text) for step in item.steps))},
    )
