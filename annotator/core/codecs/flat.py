"""Steps for formats that know only one text and one label a step.

Context can't stand alone there, so it is joined to the next judged step; context after the last judged step
has nothing to be joined to and is lost, which is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.core.codecs.policies import (
    AfterFirstErrorPolicy,
    NeutralPolicy,
    NeutralPolicyNeeded,
    Policies,
)
from annotator.core.labels import Label
from annotator.core.solutions import Step

#: Between context and the step it is joined to, where the source kept no separator.
JOINER = "\n\n"
LOST_CONTEXT = "context after the last judged step"


@dataclass(frozen=True, slots=True)
class FlatStep:
    """One judged step with the context before it; ``index`` is its 0-based place among all steps."""

    text: str
    label: int | None
    index: int


@dataclass(frozen=True, slots=True)
class Flat:
    """The judged steps, and how many context steps at the end were lost."""

    steps: tuple[FlatStep, ...]
    lost_context: int

    @property
    def lost(self) -> dict[str, int]:
        return {LOST_CONTEXT: self.lost_context} if self.lost_context else {}


def flatten(steps: Sequence[Step], labels: Sequence[int | None] | None) -> Flat:
    """Judged steps with their labels; no labels counts as none known.

    >>> from annotator.core.solutions import Step
    >>> flat = flatten([Step("seen", "tool", judged=False), Step("done")], [None, 1])
    >>> flat.steps[0].text, flat.steps[0].index
    ('seen\\n\\ndone', 1)
    """
    known = labels if labels is not None else [None] * len(steps)
    flat: list[FlatStep] = []
    context = ""
    waiting = 0
    for index, (step, label) in enumerate(zip(steps, known, strict=True)):
        if step.judged:
            flat.append(FlatStep(context + step.text, label, index))
            context, waiting = "", 0
        else:
            context += step.text + (step.sep or JOINER)
            waiting += 1
    return Flat(tuple(flat), waiting)


def binary_prefix(
    steps: Sequence[FlatStep], policies: Policies, *, format_name: str, all_steps: bool
) -> list[tuple[str, bool]]:
    """Text and "is it correct" of each step up to where nothing more may be said, for formats without masks.

    The prefix ends before the first step without a label, before the first neutral one under ``drop``, and
    after the first incorrect one under ``truncate`` (see `Policies` for the default). Under ``incorrect`` all
    that follows the first incorrect step is written as incorrect, whatever its own label. A neutral written
    as incorrect is not "the first error". Raises NeutralPolicyNeeded.
    """
    after = policies.after_first_error
    if after is None and not all_steps:
        after = AfterFirstErrorPolicy.TRUNCATE
    written: list[tuple[str, bool]] = []
    erred = False
    for step in steps:
        if erred and after is AfterFirstErrorPolicy.TRUNCATE:
            break
        if erred and after is AfterFirstErrorPolicy.INCORRECT:
            written.append((step.text, False))
            continue
        if step.label is None:
            break
        correct = step.label == Label.CORRECT
        if step.label == Label.NEUTRAL:
            if policies.neutral is None:
                raise NeutralPolicyNeeded(format_name)
            if policies.neutral is NeutralPolicy.DROP:
                break
            correct = policies.neutral is NeutralPolicy.CORRECT
        written.append((step.text, correct))
        erred = erred or step.label == Label.INCORRECT
    return written
