"""What a record says in the words of a format, to compare it with what came back from a file of that format."""

from __future__ import annotations

from collections.abc import Iterator

from annotator.core.codecs.base import Codec
from annotator.core.codecs.flat import binary_labels, binary_prefix, flatten, with_first_error
from annotator.core.codecs.policies import NeutralPolicy, Policies
from annotator.core.labels import Mode
from annotator.core.solutions import SolutionRecord

NEUTRAL_AS_CORRECT = Policies(neutral=NeutralPolicy.CORRECT)


def said(record: SolutionRecord, codec: Codec) -> Iterator[object]:
    """Problem, steps, and labels or the first error; the whole record where the format loses nothing."""
    if codec.name == "native":
        yield record
        return
    yield record.problem.text.strip()
    if codec.name in ("processbench", "bigbench_mistake", "mr_ben"):
        flat, place = with_first_error(record)
        yield [step.text.rstrip() for step in flat.steps], place
    elif codec.name == "prm800k":
        yield [step.label for step in flatten(record.steps, record.labels).steps if step.label is not None]
    elif codec.name == "agent_messages":
        labelled = zip(record.steps, record.labels or (), strict=True)
        yield [(step.text, label or 1) for step, label in labelled if label is not None]
    elif codec.name in ("math_shepherd", "openrlhf"):
        steps = flatten(record.steps, record.labels).steps
        known = binary_labels(
            (step.label for step in steps),
            NEUTRAL_AS_CORRECT,
            format_name=codec.name,
            all_steps=record.mode == Mode.ALL_STEPS,
        )
        pairs = zip(steps, known, strict=False)
        yield [(numbered(step.text, number).strip(), ok) for number, (step, ok) in enumerate(pairs, start=1)]
    else:
        yield [(text.strip(), ok) for text, ok in binary_prefix(record, NEUTRAL_AS_CORRECT, codec.name)]


def numbered(text: str, number: int) -> str:
    return text if text.lower().startswith(f"step {number}:") else f"Step {number}: {text}"
