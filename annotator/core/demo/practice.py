"""Which demo solutions are practice, and what a person is told after each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotator.core.demo.writer import ErrorKind
from annotator.core.labels import NO_ERROR, Label, stop

#: All solutions of one problem, so that nothing hidden shares its problem with them: a sound one, one with a neutral
#: step and an error, and one that takes its error back.
PRACTICE = ("demo-hand-tunnel-a", "demo-hand-tunnel-b", "demo-hand-tunnel-c")

_IN_WORDS: Mapping[ErrorKind, str] = {
    ErrorKind.CALCULATION: "it calculates wrongly",
    ErrorKind.FORMULA: "it uses a formula or theorem that doesn't hold here",
    ErrorKind.CONDITION: "it uses a result without checking that its condition holds",
    ErrorKind.MISREAD: "it misreads the problem",
    ErrorKind.MISSING_CASE: "it leaves out a case",
    ErrorKind.UNJUSTIFIED: "it jumps to something that does not follow",
    ErrorKind.CONTRADICTION: "it contradicts an earlier step",
    ErrorKind.CIRCULAR: "it assumes what it has to show",
    ErrorKind.NOTATION: "it mixes up a notation or a unit",
    ErrorKind.INVENTED: "it states a fact that is not one",
    ErrorKind.CODE: "the code does not do what the text says",
}


def practice_note(labels: Sequence[int | None], error_kind: str | None, *, taken_back: bool = False) -> str:
    """Why the labels are what they are, in two or three sentences.

    >>> practice_note([1, -1, None], "calculation")
    'The first error is in step 2: it calculates wrongly. What follows is not judged.'
    >>> practice_note([0, 1], None)
    'No step is incorrect. Step 1 is neutral: valid, but it adds nothing.'
    """
    first = stop(labels, [True] * len(labels))
    neutral = [index + 1 for index, label in enumerate(labels) if label == Label.NEUTRAL]
    sentences = []
    if first is None or first == NO_ERROR:
        sentences.append("No step is incorrect.")
    else:
        why = _IN_WORDS.get(ErrorKind(error_kind)) if error_kind else None
        sentences.append(f"The first error is in step {first + 1}{f': {why}' if why else ''}.")
        sentences.append(
            "The solution takes it back later, but a step that was wrong stays incorrect."
            if taken_back
            else "What follows is not judged."
        )
    sentences += [f"Step {step} is neutral: valid, but it adds nothing." for step in neutral]
    return " ".join(sentences)
