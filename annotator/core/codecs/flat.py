"""Steps for formats that know only one text and one label a step.

Context can't stand alone there, so it is joined to the next judged step; context after the last judged step
has nothing to be joined to and is lost, which is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from annotator.core.codecs.base import LeftOut
from annotator.core.codecs.policies import (
    AfterFirstErrorPolicy,
    NeutralPolicy,
    NeutralPolicyNeeded,
    Policies,
)
from annotator.core.labels import NO_ERROR, Label, Mode, stop
from annotator.core.solutions import SolutionRecord, Step, judged_mask

#: Between context and the step it is joined to, where the source kept no separator.
JOINER = "\n\n"
_Kind = TypeVar("_Kind")
LOST_CONTEXT = "context after the last judged step"

# What most formats can't carry, in the words of their `lost_fields`.
PROBLEM_DETAILS = "problem.id, problem.answer, problem.solution, problem.domain, problem.subject"
STEP_DETAILS = "steps.kind, steps.judged, steps.sep, steps.alternatives"
LABEL_DETAILS = (
    "mode, label_source, annotations, consensus, gold, scores, selection, flags, split, weight, meta"
)


class FirstErrorOnly:
    """The policies of formats that hold the place of the first error: there is nothing to choose."""

    has_neutral = False
    neutral_policies: frozenset[NeutralPolicy] = frozenset()
    after_first_error_policies: frozenset[AfterFirstErrorPolicy] = frozenset()


class LabelledPrefix:
    """The policies and losses of formats that hold one yes or no for each step and end where none is known."""

    has_neutral = False
    neutral_policies = frozenset(NeutralPolicy)
    after_first_error_policies = frozenset({AfterFirstErrorPolicy.TRUNCATE, AfterFirstErrorPolicy.INCORRECT})
    lost_fields: tuple[str, ...] = (
        "id",
        PROBLEM_DETAILS,
        "generator",
        STEP_DETAILS,
        "steps after the first one without a label",
        "final_answer, answer_correct",
        "neutral labels",
        LABEL_DETAILS,
    )


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


def kept(meta: Mapping[str, object], key: str, default: _Kind) -> _Kind:
    """What reading kept under that name, if it is of the default's kind: formats share names, not meanings."""
    value = meta.get(key)
    return value if isinstance(value, type(default)) else default


def implied_mode(labels: Sequence[int | None]) -> str | None:
    """``all_steps`` where a label follows the first incorrect one; else the labels don't tell.

    >>> implied_mode([1, -1, 1]), implied_mode([1, -1, None])
    ('all_steps', None)
    """
    if Label.INCORRECT not in labels:
        return None
    after = labels[labels.index(Label.INCORRECT) + 1 :]
    return None if all(label is None for label in after) else Mode.ALL_STEPS.value


def labelled(record: SolutionRecord) -> Flat:
    """The flat steps of a solution with at least one label. Raises LeftOut."""
    if record.labels is None or all(label is None for label in record.labels):
        raise LeftOut("no labels")
    return flatten(record.steps, record.labels)


def with_first_error(record: SolutionRecord) -> tuple[Flat, int]:
    """The flat steps, and the 0-based place among them of the first error, -1 for none.

    Raises LeftOut where the first error is not known, or where all is context.
    """
    first_error = record.first_error
    if first_error is None and record.labels is not None:
        first_error = stop(record.labels, judged_mask(record.steps))
    if first_error is None:
        raise LeftOut("the first error is not known")
    flat = flatten(record.steps, record.labels)
    if not flat.steps:
        raise LeftOut("no judged step")
    places = {step.index: place for place, step in enumerate(flat.steps)}
    return flat, NO_ERROR if first_error == NO_ERROR else places[first_error]


def binary_labels(
    labels: Iterable[int | None], policies: Policies, *, format_name: str, all_steps: bool
) -> Iterator[bool | None]:
    """For each judged step that may be written, "is it correct", None where nothing may be said of it.

    Ends after the first incorrect step under ``truncate`` (see `Policies` for the default). Under ``mask``
    nothing is said of what follows it; under ``incorrect`` all that follows is incorrect, whatever its own
    label. A neutral written as incorrect is not "the first error". Raises NeutralPolicyNeeded when it comes to
    a neutral label and no policy was chosen.

    >>> list(binary_labels([1, None, -1, 1], Policies(), format_name="x", all_steps=False))
    [True, None, False]
    """
    after = policies.after_first_error
    if after is None and not all_steps:
        after = AfterFirstErrorPolicy.TRUNCATE
    erred = False
    for label in labels:
        if erred and after is not None:
            if after is AfterFirstErrorPolicy.TRUNCATE:
                return
            yield None if after is AfterFirstErrorPolicy.MASK else False
            continue
        erred = erred or label == Label.INCORRECT
        yield _binary(label, policies, format_name)


def _binary(label: int | None, policies: Policies, format_name: str) -> bool | None:
    if label is None:
        return None
    if label != Label.NEUTRAL:
        return label == Label.CORRECT
    if policies.neutral is None:
        raise NeutralPolicyNeeded(format_name)
    return None if policies.neutral is NeutralPolicy.DROP else policies.neutral is NeutralPolicy.CORRECT


def binary_prefix(record: SolutionRecord, policies: Policies, format_name: str) -> list[tuple[str, bool]]:
    """Text and "is it correct" of each step up to where nothing more may be said, for formats without masks.

    The prefix ends before the first step without a label and before the first neutral one under ``drop``; for
    the rest see `binary_labels`. Raises LeftOut, NeutralPolicyNeeded.
    """
    flat = labelled(record)
    known = binary_labels(
        (step.label for step in flat.steps),
        policies,
        format_name=format_name,
        all_steps=record.mode == Mode.ALL_STEPS,
    )
    written: list[tuple[str, bool]] = []
    for step, correct in zip(flat.steps, known, strict=False):
        if correct is None:
            break
        written.append((step.text, correct))
    if not written:
        raise LeftOut("no labelled step is left")
    return written


def lost_context(record: SolutionRecord) -> dict[str, int]:
    """How much context at the end has nothing to be joined to, as `Written.lost` counts it."""
    return flatten(record.steps, record.labels).lost
