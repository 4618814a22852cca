"""Every PRM behind one interface. `make` turns a kind and its settings into a scorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.scorers import builtin
from annotator.scorers.base import Scorer, ScorerFactory

#: Kind of scorer → what makes one from its stored settings.
KINDS: Mapping[str, ScorerFactory] = {"builtin": builtin.make}


class UnknownScorer(LookupError):
    """No scorer of that kind is known."""


def make(kind: str, config: Mapping[str, Any] | None = None) -> Scorer:
    """The scorer of that kind. Raises UnknownScorer, or what its factory raises for its settings."""
    try:
        factory = KINDS[kind]
    except KeyError as error:
        raise UnknownScorer(
            f"there is no scorer of kind {kind!r}; known: {', '.join(sorted(KINDS))}"
        ) from error
    return factory(config or {})
