"""The built-in PRM: equation checks, quantities and wording, weighed by a small ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from annotator.scorers.builtin.model import BuiltinScorer, Weights, from_json, load


@lru_cache(maxsize=1)
def shipped() -> Weights:
    """The weights that come with the package, read once."""
    return load()


def make(config: Mapping[str, Any]) -> BuiltinScorer:
    """A built-in scorer: the shipped weights, or those in ``config["weights"]`` (a dict, or JSON text).

    Raises InvalidWeights where they do not fit.
    """
    weights = config.get("weights")
    if weights is None:
        return BuiltinScorer(shipped())
    if isinstance(weights, Mapping):
        return BuiltinScorer(Weights.from_json(weights))
    return BuiltinScorer(from_json(str(weights).encode()))


__all__ = ["BuiltinScorer", "make", "shipped"]
