"""The built-in PRM: equation checks, quantities and wording, weighed by a small ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from annotator.scorers.builtin.model import BuiltinScorer, Weights, from_json, load
from annotator.scorers.builtin.refined import RefinedScorer, make_refined
from annotator.scorers.remote import InvalidSettings


@lru_cache(maxsize=1)
def shipped() -> Weights:
    """The weights that come with the package, read once."""
    return load()


def make(config: Mapping[str, Any]) -> BuiltinScorer:
    """A built-in scorer: the shipped weights, or those in ``config["weights"]`` (a dict, or JSON text).

    Raises InvalidWeights where they do not fit.
    """
    return BuiltinScorer(_weights(config))


def refine(config: Mapping[str, Any]) -> RefinedScorer:
    """The refined pass over the same weights, with ``config["threshold"]`` where it is set.

    Raises ModelMissing where its language model is not installed, InvalidSettings for a threshold out of range.
    """
    threshold = config.get("threshold")
    if threshold is not None and not (isinstance(threshold, int | float) and 0 < threshold < 1):
        raise InvalidSettings("threshold is a number between 0 and 1")
    return make_refined(_weights(config), None if threshold is None else float(threshold))


def _weights(config: Mapping[str, Any]) -> Weights:
    weights = config.get("weights")
    if weights is None:
        return shipped()
    if isinstance(weights, Mapping):
        return Weights.from_json(weights)
    return from_json(str(weights).encode())


__all__ = ["BuiltinScorer", "RefinedScorer", "make", "refine", "shipped"]
