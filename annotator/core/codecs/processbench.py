"""ProcessBench: a solution and the place of its first error.

``label`` is the 0-based index of the first step with an error, -1 for none. It says nothing of what follows,
and of what precedes only that it is no error: there +1 means "not an error", correct or neutral.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.core.codecs.base import ExportRow, ReadOptions, Written
from annotator.core.codecs.fields import Fields, is_whole
from annotator.core.codecs.flat import (
    LABEL_DETAILS,
    PROBLEM_DETAILS,
    STEP_DETAILS,
    FirstErrorOnly,
    with_first_error,
)
from annotator.core.codecs.policies import Policies
from annotator.core.labels import NO_ERROR, Mode, from_first_error
from annotator.core.solutions import ProblemText, SolutionRecord, Step, judged_mask

_KEYS = ("id", "generator", "problem", "steps", "final_answer_correct", "label")


class ProcessBench(FirstErrorOnly):
    """Reads and writes ``id, generator, problem, steps, final_answer_correct, label``.

    All six fields must be there; ``generator`` and ``final_answer_correct`` may be null. Further fields are
    kept under the solution's ``meta``.
    """

    name = "processbench"
    told_by = "problem as a text, steps and label"
    label_semantics = "label is the first error's 0-based index or -1; steps before it are not errors"
    lost_fields = (
        PROBLEM_DETAILS,
        "generator.prompt, generator.sampling",
        STEP_DETAILS,
        "final_answer",
        "labels other than the first error",
        LABEL_DETAILS,
    )
    sample: Mapping[str, Any] = {
        "id": "sample-0",
        "generator": "a-model",
        "problem": "What is $2 \\cdot 3 + 4$?",
        "steps": ["First, $2 \\cdot 3 = 6$.", "Then $6 + 4 = 11$.", "The answer is 11."],
        "final_answer_correct": False,
        "label": 1,
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return {"problem", "steps", "label"} <= row.keys() and not isinstance(row["problem"], dict)

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields = Fields(row)
        caps = options.caps
        fields.require(*_KEYS)
        generator = fields.optional_text("generator", caps.identifier_chars)
        steps = tuple(Step(text) for text in fields.texts("steps", caps))
        first_error = row["label"]
        if not is_whole(first_error) or not NO_ERROR <= first_error < len(steps):
            allowed = f"an integer from -1 to {len(steps) - 1}, for {len(steps)} steps"
            fields.fail("label", allowed)
        record = SolutionRecord(
            problem=ProblemText(fields.text("problem", caps.problem_chars)),
            steps=steps,
            external_id=fields.identifier("id", caps.identifier_chars),
            generator={"model": generator} if generator else {},
            answer_correct=fields.flag("final_answer_correct"),
            labels=from_first_error(first_error, judged_mask(steps)),
            first_error=first_error,
            mode=Mode.FIRST_ERROR.value,
            meta=fields.rest(_KEYS),
        )
        return (record,)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        """One object. Neutral steps are not errors, so no policy changes anything."""
        record = row.record
        flat, label = with_first_error(record)
        value = {
            "id": record.external_id,
            "generator": record.generator.get("model"),
            "problem": record.problem.text,
            "steps": [step.text for step in flat.steps],
            "final_answer_correct": record.answer_correct,
            "label": label,
        }
        return Written((value,), flat.lost)
