"""Texts in which each judged step ends with the tag ``ки``, as Math-Shepherd, OpenR and OpenRLHF keep them.

In a text that begins with the problem, the steps begin at "Step 1:", and a new line with "Step k:" begins a step
even where the one before it has no tag: that one is not judged. A tag that no step's text precedes is stray: it
and its label are passed over and counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotator.core.codecs.base import InvalidRow, LeftOut
from annotator.core.codecs.fields import describe, is_whole
from annotator.core.codecs.flat import (
    LABEL_DETAILS,
    PROBLEM_DETAILS,
    STEP_DETAILS,
    binary_labels,
    implied_mode,
    labelled,
)
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, Policies
from annotator.core.labels import Label, Mode, stop
from annotator.core.solutions import ProblemText, SolutionRecord, Step, judged_mask

TAG = "ки"
#: The tag stands alone: it also ends Russian words.
_TAG = re.compile(rf"(?<!\w){TAG}(?!\w)")
_FIRST_STEP = re.compile(r"\bstep 1:", re.IGNORECASE)
_NEXT_STEP = re.compile(r"\n(?=step \d+:)", re.IGNORECASE)
_TEXTS_OF_LABELS = {"+": Label.CORRECT.value, "-": Label.INCORRECT.value}
#: "How many tags were stray" in a record's ``meta``.
STRAY = "stray_tags"


class WithProblem:
    """The policies and losses of formats whose text begins with the problem and may leave steps untagged."""

    has_neutral = False
    neutral_policies = frozenset(NeutralPolicy)
    after_first_error_policies = frozenset(AfterFirstErrorPolicy)
    lost_fields = (
        "id",
        PROBLEM_DETAILS,
        "generator",
        STEP_DETAILS,
        'steps without "Step k:" get it; white space around texts',
        "final_answer, answer_correct",
        "neutral labels",
        LABEL_DETAILS,
    )


@dataclass(frozen=True, slots=True)
class Tagged:
    """The problem's text ("" where the text has none), the steps, and for each the 0-based place of its tag."""

    problem: str
    texts: tuple[str, ...]
    tags: tuple[int | None, ...]
    n_tags: int

    @property
    def stray(self) -> int:
        return self.n_tags - sum(tag is not None for tag in self.tags)

    def record(
        self, problem: ProblemText, by_tag: Sequence[int], meta: Mapping[str, object]
    ) -> SolutionRecord:
        """The solution, one step on a line, with the labels of its tags and the number of stray ones."""
        last = len(self.texts) - 1
        steps = tuple(Step(text, sep="" if at == last else "\n") for at, text in enumerate(self.texts))
        labels = tuple(None if tag is None else by_tag[tag] for tag in self.tags)
        return SolutionRecord(
            problem=problem,
            steps=steps,
            labels=labels,
            first_error=stop(labels, judged_mask(steps)),
            mode=implied_mode(labels),
            meta={**meta, STRAY: self.stray} if self.stray else dict(meta),
        )


def pieces(text: str) -> list[str]:
    """What stands between the tags, before the first and after the last."""
    return _TAG.split(text)


def cut(field: str, text: str, *, with_problem: bool) -> Tagged:
    """Cut a text at its tags. Raises InvalidRow where no step can be found."""
    found = pieces(text)
    problem, start, rest = _problem(field, found) if with_problem else ("", 0, found[0])
    texts: list[str] = []
    tags: list[int | None] = []
    for place in range(start, len(found)):
        piece = (rest if place == start else found[place]).strip()
        parts = _NEXT_STEP.split(piece) if with_problem else [piece]
        parts = [part.strip() for part in parts if part.strip()]
        texts.extend(parts)
        tags.extend([None] * (len(parts) - 1))
        if parts:
            tags.append(place if place < len(found) - 1 else None)
    if not texts:
        raise InvalidRow(field, "expected at least one step; there is no text but tags")
    return Tagged(problem, tuple(texts), tuple(tags), len(found) - 1)


def _problem(field: str, found: Sequence[str]) -> tuple[str, int, str]:
    """The problem's text, the place of the piece in which the steps begin, and that piece without the problem."""
    before = ""
    for place, piece in enumerate(found):
        marker = _FIRST_STEP.search(piece)
        if marker:
            problem = (before + piece[: marker.start()]).strip()
            if not problem:
                raise InvalidRow(field, 'expected the problem before "Step 1:"; there is no text')
            return problem, place, piece[marker.start() :]
        before += piece
    raise InvalidRow(field, f'expected "Step 1:" where the steps begin; got {describe("".join(found))}')


def read_labels(field: str, given: object, n_tags: int) -> tuple[int, ...]:
    """One label for each tag: "+" or 1 is correct; "-", 0 or -1 is not. Raises InvalidRow."""
    if not isinstance(given, list) or len(given) != n_tags:
        raise InvalidRow(
            field, f"expected a list of {n_tags}, one label for each {TAG}; got {describe(given)}"
        )
    labels = []
    for index, label in enumerate(given):
        if isinstance(label, str) and label in _TEXTS_OF_LABELS:
            labels.append(_TEXTS_OF_LABELS[label])
        elif is_number_label(label):
            labels.append(Label.CORRECT.value if label == 1 else Label.INCORRECT.value)
        else:
            # A soft label is a share of completions that came out right, which is not what a label says here.
            raise InvalidRow(field, f"label {index + 1}: expected +, -, 1, 0 or -1; got {describe(label)}")
    return tuple(labels)


def is_number_label(value: object) -> bool:
    """1, 0 and -1, also as 1.0, as trainers write them."""
    return (is_whole(value) or isinstance(value, float)) and value in (-1, 0, 1)


def judged_texts(
    record: SolutionRecord, policies: Policies, format_name: str
) -> list[tuple[str, bool | None]]:
    """Each step that is written, "Step k:" before it, and "is it correct", None for a step without a tag.

    Raises LeftOut, NeutralPolicyNeeded.
    """
    flat = labelled(record)
    known = list(
        binary_labels(
            (step.label for step in flat.steps),
            policies,
            format_name=format_name,
            all_steps=record.mode == Mode.ALL_STEPS,
        )
    )
    if all(correct is None for correct in known):
        raise LeftOut("no labelled step is left")
    written = []
    for index, (step, correct) in enumerate(zip(flat.steps, known, strict=False)):
        text = _numbered(step.text, index + 1)
        if _NEXT_STEP.search(text):
            raise LeftOut('a line inside a step begins with "Step k:"')
        written.append((text, correct))
    return written


def join(problem: str, steps: Sequence[tuple[str, bool | None]], marks: dict[bool, str]) -> str:
    """Problem and steps as one text, with a mark after each judged step. Raises LeftOut."""
    if _FIRST_STEP.search(problem):
        raise LeftOut('the problem\'s text says "Step 1:", where the steps should begin')
    check_untagged(problem, *(text for text, _ in steps))
    lines = [text if correct is None else f"{text} {marks[correct]}" for text, correct in steps]
    return f"{problem} " + "\n".join(lines)


def check_untagged(*texts: str) -> None:
    """Raise LeftOut where a text has the tag in it, inside a word too: tokenizers cut words as they like."""
    if any(TAG in text for text in texts):
        raise LeftOut(f"a text contains {TAG}, which is the format's tag")


def _numbered(text: str, number: int) -> str:
    begins = re.match(rf"step {number}:", text, re.IGNORECASE)
    return text if begins else f"Step {number}: {text}"
