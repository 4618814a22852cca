"""BIG-Bench-Mistake: a chain of thought and the 0-based place of its first mistake, null for none.

Tyen et al. 2024, "LLMs cannot find reasoning errors, but can correct them given the error location".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.core.codecs.base import ExportRow, ReadOptions, Written
from annotator.core.codecs.fields import Fields, is_whole
from annotator.core.codecs.flat import LABEL_DETAILS, STEP_DETAILS, FirstErrorOnly, with_first_error
from annotator.core.codecs.policies import Policies
from annotator.core.labels import NO_ERROR, Mode, from_first_error
from annotator.core.solutions import ProblemText, SolutionRecord, Step, judged_mask

_KEYS = ("input", "steps", "target", "answer", "mistake_index")


class BigBenchMistake(FirstErrorOnly):
    """Reads and writes ``input, steps, target, answer, mistake_index``.

    ``target`` is the problem's answer and ``answer`` the solution's; whether they mean the same the file doesn't
    say. Further fields are kept under the solution's ``meta``.
    """

    name = "bigbench_mistake"
    told_by = "input, steps and mistake_index"
    label_semantics = (
        "mistake_index is the first mistake's 0-based index or null; steps before it are not mistakes"
    )
    lost_fields = (
        "id",
        "problem.id, problem.solution, problem.domain, problem.subject",
        "generator",
        STEP_DETAILS,
        "answer_correct",
        "labels other than the first error",
        LABEL_DETAILS,
    )
    sample: Mapping[str, Any] = {
        "input": "(2 * 3) + 4 =",
        "steps": ["First, 2 * 3 = 6.", "Then 6 + 4 = 11.", "So the answer is 11."],
        "target": "10",
        "answer": "11",
        "mistake_index": 1,
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return {"input", "steps", "mistake_index"} <= row.keys()

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields, caps = Fields(row), options.caps
        fields.require(*_KEYS)
        steps = tuple(Step(text) for text in fields.texts("steps", caps))
        mistake = row["mistake_index"]
        if mistake is not None and not (is_whole(mistake) and 0 <= mistake < len(steps)):
            fields.fail("mistake_index", f"null or an integer from 0 to {len(steps) - 1}")
        first_error = NO_ERROR if mistake is None else mistake
        record = SolutionRecord(
            problem=ProblemText(
                fields.text("input", caps.problem_chars),
                answer=fields.optional_text("target", caps.problem_chars),
            ),
            steps=steps,
            final_answer=fields.optional_text("answer", caps.step_chars),
            labels=from_first_error(first_error, judged_mask(steps)),
            first_error=first_error,
            mode=Mode.FIRST_ERROR.value,
            meta=fields.rest(_KEYS),
        )
        return (record,)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        """One object. Neutral steps are no mistakes, so no policy changes anything."""
        record = row.record
        flat, place = with_first_error(record)
        value = {
            "input": record.problem.text,
            "steps": [step.text for step in flat.steps],
            "target": record.problem.answer,
            "answer": record.final_answer,
            "mistake_index": None if place == NO_ERROR else place,
        }
        return Written((value,), flat.lost)
