"""The refined pass: the fast pass's score, corrected by what a small language model finds surprising.

A few hundred tokens a second, so it runs on a queue of its own. The correction is an ensemble of ridge logistic
regressions that starts from the fast logit alone and is held near it: it says no more than its data bear out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from annotator.scorers.base import (
    CORRECTNESS,
    InvalidScores,
    Scored,
    ScoreFailure,
    ScoringInput,
    checked,
    one_by_one,
)
from annotator.scorers.builtin.features import FEATURES, solution_features
from annotator.scorers.builtin.fit import Ensemble, Settings, fit_ensemble
from annotator.scorers.builtin.language_model import file_hash, loaded, model_file
from annotator.scorers.builtin.model import InvalidWeights, Weights, numbers_from, scored
from annotator.scorers.builtin.surprise import SURPRISES, surprises

REFINED_FILE = Path(__file__).with_name("weights_refined.json")
FORMAT = 1
#: What the correction reads, in order: the logit of the fast pass, the features it saw (once more, since what surprises
#: in an equation that was checked is another matter than in one that was not), then what the language model says.
COLUMNS = ("fast_logit", *FEATURES, *SURPRISES)

Floats = npt.NDArray[np.float64]


def refined_rows(fast: Floats, seen: Floats, surprise: Floats) -> Floats:
    """What the correction reads: (steps, len(COLUMNS)), from fast probabilities (steps,), what `solution_features` saw
    (named features first; hashed words are left out) and surprise features."""
    p = np.clip(fast, 1e-6, 1 - 1e-6)
    return np.column_stack([np.log(p / (1 - p)), seen[:, : len(FEATURES)], surprise])


def fit_refined(rows: Floats, targets: Floats, group: npt.NDArray[np.int64], settings: Settings) -> Ensemble:
    """The correction, fitted from and held near the fast logit: ``rows`` of `refined_rows`, the rest (steps,)."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(scale < 1e-6, 1.0, scale)
    unchanged = np.zeros((1, rows.shape[1]))
    unchanged[0, 0] = scale[0]
    start = Weights(True, mean, scale, unchanged, np.array([mean[0]]))
    return fit_ensemble(rows, targets, np.ones(len(rows)), group, settings, start)


def to_json(correction: Weights) -> bytes:
    """The file's content: numbers, then provenance."""
    return orjson.dumps({**_numbers(correction), "provenance": dict(correction.provenance)})


def _numbers(correction: Weights) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "columns": list(COLUMNS),
        **{
            name: correction.numbers()[name]
            for name in ("mean", "scale", "coefficients", "intercepts", "threshold")
        },
    }


def load_refined(path: Path = REFINED_FILE) -> Weights:
    """The correction from a file. Raises InvalidWeights where it is missing or does not fit."""
    try:
        value = orjson.loads(path.read_bytes())
        if value["format"] != FORMAT or value["columns"] != list(COLUMNS):
            raise InvalidWeights("the refined weights were fitted for other features; fit them again")
        return replace(numbers_from(value, len(COLUMNS)), provenance=value.get("provenance", {}))
    except FileNotFoundError as error:
        raise InvalidWeights(f"there is no weights file {path.name}; make it with `fit_builtin`") from error
    except (KeyError, TypeError, orjson.JSONDecodeError) as error:
        raise InvalidWeights(f"the weights file {path.name} is damaged: {error}") from error


class RefinedScorer:
    """Reads the steps with the fast pass and SmolLM2-135M, loaded with the first solution."""

    name = "builtin_refined"
    measures = CORRECTNESS

    def __init__(self, fast: Weights, correction: Weights, model: Path) -> None:
        self.fast = fast
        self.correction = correction
        self.model = model
        self.threshold = correction.threshold

    @cached_property
    def version(self) -> str:
        """`builtin_refined-` and 12 hex digits that change with any number that decides a score, the model's file
        included."""
        content = orjson.dumps(_numbers(self.correction), option=orjson.OPT_SORT_KEYS)
        whole = content + self.fast.version.encode() + file_hash(self.model).encode()
        return "builtin_refined-" + hashlib.sha256(whole).hexdigest()[:12]

    def score(
        self, batch: Sequence[ScoringInput], *, cancelled: Callable[[], bool]
    ) -> list[Scored | ScoreFailure]:
        """One result per input, in order. Raises ScoringCancelled once ``cancelled()`` is true."""
        return one_by_one(batch, self._score_one, cancelled)

    def _score_one(self, item: ScoringInput) -> Scored | ScoreFailure:
        if not item.steps:
            return ScoreFailure("The solution has no steps to score.")
        model, words = loaded()
        try:
            rows = solution_features(item.problem, item.steps, hashed=True)
            fast = self.fast.predict(rows).mean(axis=0)
            found = refined_rows(fast, rows, surprises(model, words, item.problem, item.steps))
            return checked(scored(item, self.correction.predict(found)), item.steps)
        except (InvalidScores, ArithmeticError, ValueError, RecursionError) as error:
            return ScoreFailure(f"The refined built-in scorer could not read this solution: {error}")


def make_refined(fast: Weights, threshold: float | None = None) -> RefinedScorer:
    """A refined scorer over these fast weights, with the fitted threshold or another one.

    Raises ModelMissing where the language model is not installed, InvalidWeights where the numbers do not fit.
    """
    correction = load_refined()
    if threshold is not None:
        correction = correction.with_threshold(threshold)
    return RefinedScorer(fast, correction, model_file())
