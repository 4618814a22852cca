"""The one door to every scorer: steps in, probabilities out.

What goes in holds no outcome, reference answer or label, so no scorer can lean on them. What comes out is a
small `Scored`, never a logit or a tensor. One solution's failure is its own: it never fails the batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from annotator.core.solutions import Step

#: What the values of a scorer mean. Utility (Monte-Carlo) is never shown as correctness.
CORRECTNESS = "correctness"
UTILITY = "utility"
MEASURES = frozenset({CORRECTNESS, UTILITY})


@dataclass(frozen=True, slots=True)
class ScoringInput:
    """What a scorer may see of a solution: the problem's text, and all steps, context included.

    ``images`` are the problem's pictures as data URLs, for scorers that say ``wants_images``.
    """

    problem: str
    steps: tuple[Step, ...]
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """One solution's scores.

    ``values`` has one entry per step over all steps: the probability in [0, 1] that it is correct (or what
    ``measures`` says), None where the step takes no label. ``spread`` has the same shape and is a standard
    deviation, zero or more; None where the scorer has none.
    """

    values: tuple[float | None, ...]
    spread: tuple[float | None, ...]
    measures: str = CORRECTNESS
    error_types: tuple[str | None, ...] | None = None
    rationale: str | None = None
    usage: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class ScoreFailure:
    """Why one solution has no scores, in a sentence for people.

    ``temporary``: it is the server's state, not the solution, so a later try may succeed.
    """

    message: str
    temporary: bool = False


class InvalidScores(ValueError):
    """Scores that don't fit their solution; the message says which rule they break."""


class ScoringCancelled(Exception):
    """The caller asked to stop; nothing of the batch counts."""


class Scorer(Protocol):
    """A process reward model.

    ``version`` identifies the numbers that produce the scores: same version, same scores. ``threshold`` is
    the probability below which the scorer calls a step an error.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def measures(self) -> str: ...

    @property
    def threshold(self) -> float: ...

    def score(
        self, batch: Sequence[ScoringInput], *, cancelled: Callable[[], bool]
    ) -> list[Scored | ScoreFailure]:
        """One result per input, in order. Raises ScoringCancelled once ``cancelled()`` is true."""
        ...


@dataclass(frozen=True, slots=True)
class Tally:
    """What continuations of one prefix came to. ``unparsed`` ones, in which no answer was found, count as wrong:
    right + unparsed <= tried. ``usage`` is what they cost: input_tokens, output_tokens, seconds, requests."""

    tried: int = 0
    right: int = 0
    unparsed: int = 0
    usage: Mapping[str, float] = field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        names = {*self.usage, *other.usage}
        usage = {name: self.usage.get(name, 0.0) + other.usage.get(name, 0.0) for name in sorted(names)}
        return Tally(
            self.tried + other.tried, self.right + other.right, self.unparsed + other.unparsed, usage
        )


@dataclass(frozen=True, slots=True)
class AnsweredInput:
    """A solution for those few who need the problem's reference answer, and what was paid for it before: tallies by
    the index of the prefix's last step."""

    given: ScoringInput
    answer: str
    known: Mapping[int, Tally] = field(default_factory=dict)


@runtime_checkable
class NeedsAnswer(Protocol):
    """A scorer that compares outcomes with the reference answer.

    A door of its own: what goes through `Scorer.score` holds no answer, so that no PRM or judge can lean on one. Here
    the answer goes to the *checker* of continuations alone; it never enters a prompt. What comes out measures utility.
    """

    def score_answered(
        self,
        batch: Sequence[AnsweredInput],
        *,
        cancelled: Callable[[], bool],
        paid: Callable[[int, int, Tally], None],
    ) -> list[Scored | ScoreFailure]:
        """As `Scorer.score`. ``paid(place in the batch, step, tally)`` is called in the caller's thread with each
        tally as it comes, before the same solution costs anything more."""
        ...


ScorerFactory = Callable[[Mapping[str, Any]], Scorer]


def checked(scored: Scored, steps: Sequence[Step]) -> Scored:
    """The same scores, once they are known to fit the steps. Raises InvalidScores where they do not.

    A value for each judged step and none for context; values in [0, 1]; spreads finite, zero or more, and
    only beside a value.
    """
    if scored.measures not in MEASURES:
        raise InvalidScores(f"scores measure one of {sorted(MEASURES)}, got {scored.measures!r}")
    for name, row in (
        ("values", scored.values),
        ("spread", scored.spread),
        ("error types", scored.error_types),
    ):
        if row is not None and len(row) != len(steps):
            raise InvalidScores(f"the solution has {len(steps)} steps, but {len(row)} {name} came back")
    for index, (step, value, width) in enumerate(zip(steps, scored.values, scored.spread, strict=True)):
        _check_step(index, step, value, width)
    return scored


def _check_step(index: int, step: Step, value: float | None, width: float | None) -> None:
    place = f"step {index + 1}"
    if step.judged != (value is not None):
        raise InvalidScores(f"{place} {'has no score' if step.judged else 'is context and takes no score'}")
    if value is not None and not 0.0 <= value <= 1.0:
        raise InvalidScores(f"{place}: a score lies between 0 and 1, got {value!r}")
    if width is None:
        return
    if value is None or not (math.isfinite(width) and width >= 0.0):
        raise InvalidScores(f"{place}: a spread is a number, zero or more, beside a score, got {width!r}")


def one_by_one(
    batch: Sequence[ScoringInput],
    score: Callable[[ScoringInput], Scored | ScoreFailure],
    cancelled: Callable[[], bool],
) -> list[Scored | ScoreFailure]:
    """One result per input, in order. Raises ScoringCancelled once ``cancelled()`` is true."""
    results: list[Scored | ScoreFailure] = []
    for item in batch:
        if cancelled():
            raise ScoringCancelled
        results.append(score(item))
    return results
