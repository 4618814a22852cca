"""MR-Ben: a model's solution to an exam question, whether it is right, and the first step that is not.

In most subjects the steps are a list of lines and the first error is a step's number, as a text, "N/A" for none.
In the coding subset they are one text, a step is a line, and the first error is *that line's text*.
Zeng et al. 2024, "MR-Ben: A Meta-Reasoning Benchmark for Evaluating System-2 Thinking in LLMs".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.core.codecs import mr_ben_steps as lines
from annotator.core.codecs.base import ExportRow, InvalidRow, ReadOptions, Written
from annotator.core.codecs.fields import Fields, check_cut
from annotator.core.codecs.flat import LABEL_DETAILS, FirstErrorOnly, kept, with_first_error
from annotator.core.codecs.policies import Policies
from annotator.core.labels import NO_ERROR, Mode, from_first_error
from annotator.core.solutions import ProblemText, SolutionRecord, judged_mask

_UUID, _SUBJECT, _QUESTION, _OPTIONS = "Question_UUID", "Subject", "Question", "Options"
_ANSWER, _MODEL, _STEPS = "Ground_Truth_Answer", "Sampled_Model", "Model_Solution_Steps"
_VERDICT, _FIRST_ERROR = "Model_Solution_Correctness", "Model_Solution_First_Error_Step"
_READ = frozenset({_UUID, _SUBJECT, _QUESTION, _ANSWER, _MODEL, _STEPS, _VERDICT, _FIRST_ERROR})
_REASON, _RECTIFIED = "Model_Solution_Error_Reason", "Model_Solution_Rectified_First_Error_Step"
_NONE = "N/A"
_GAP = "\n\n"
_KEPT = ("Ground_Truth_Analysis", "Ground_Truth_Answer_Modified", _REASON, _RECTIFIED)


class MrBen(FirstErrorOnly):
    """Reads and writes both shapes; options stand below the question in the problem's text.

    ``Model_Solution_Correctness`` is about the solution and says no more than whether there is an error; whether
    the final answer is right the file doesn't say. Further fields are kept under the solution's ``meta``.
    """

    name = "mr_ben"
    told_by = "Model_Solution_Steps and Model_Solution_First_Error_Step"
    label_semantics = (
        "the first error's 1-based number, or in code its line's text; steps before it are not errors"
    )
    lost_fields = (
        "id",
        "problem.solution, problem.domain",
        "generator.prompt, generator.sampling",
        "steps.judged, steps.alternatives, steps.kind other than code, steps.sep other than line ends",
        "white space at the end of steps",
        "final_answer, answer_correct",
        "labels other than the first error",
        LABEL_DETAILS + " other than the benchmark's own fields",
    )
    sample: Mapping[str, Any] = {
        _UUID: "sample-0",
        _SUBJECT: "arithmetic",
        _QUESTION: "What is $2 \\cdot 3 + 4$?",
        _OPTIONS: "A: 10 \nB: 11",
        _ANSWER: "A",
        _MODEL: "a-model",
        _STEPS: [
            "Step 1: First, $2 \\cdot 3 = 6$.",
            "",
            "Step 2: Then $6 + 4 = 11$.",
            "",
            "Solution: Choice_B",
        ],
        _VERDICT: "incorrect",
        _FIRST_ERROR: "2",
        _REASON: "The sum is 10.",
        _RECTIFIED: "Step 2: Then $6 + 4 = 10$.",
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return {_STEPS, _FIRST_ERROR} <= row.keys()

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields, caps = Fields(row), options.caps
        fields.require(_QUESTION, _STEPS, _VERDICT, _FIRST_ERROR)
        steps = lines.read_steps(fields, _STEPS, caps)
        check_cut(_STEPS, [step.text for step in steps], caps)
        named = _named(fields)
        first_error = NO_ERROR if named is None else lines.place_of(_FIRST_ERROR, named, steps)
        model = fields.optional_text(_MODEL, caps.identifier_chars)
        question = fields.text(_QUESTION, caps.problem_chars)
        choices = fields.optional_text(_OPTIONS, caps.problem_chars)
        record = SolutionRecord(
            problem=ProblemText(
                question + _GAP + choices if choices else question,
                external_id=fields.identifier(_UUID, caps.identifier_chars),
                answer=fields.optional_text(_ANSWER, caps.problem_chars) or None,
                subject=fields.optional_text(_SUBJECT, caps.subject_chars) or "",
            ),
            steps=steps,
            generator={"model": model} if model else {},
            labels=None if first_error is None else from_first_error(first_error, judged_mask(steps)),
            first_error=first_error,
            mode=Mode.FIRST_ERROR.value,
            meta=fields.rest(_READ),
        )
        return (record,)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        """One object. Neutral steps are not errors, so no policy changes anything."""
        record = row.record
        flat, place = with_first_error(record)
        written, named = lines.write_steps(record, flat, place)
        own = {key: record.meta[key] for key in _KEPT if key in record.meta}
        question, choices = record.problem.text, kept(record.meta, _OPTIONS, "")
        value = {
            _UUID: record.problem.external_id,
            _SUBJECT: record.problem.subject,
            _QUESTION: question.removesuffix(f"{_GAP}{choices}") if choices else question,
            **({_OPTIONS: choices} if choices else {}),
            _ANSWER: record.problem.answer or "",
            _MODEL: record.generator.get("model") or "",
            _STEPS: written,
            _VERDICT: "correct" if named is None else "incorrect",
            _FIRST_ERROR: _NONE if named is None else named,
            _REASON: _NONE,
            _RECTIFIED: _NONE,
            **own,
        }
        return Written((value,), flat.lost)


def _named(fields: Fields) -> str | None:
    """What the first error is called; None where the solution is right. Raises InvalidRow."""
    verdict = fields.choice(_VERDICT, ("correct", "incorrect"))
    named = fields.values[_FIRST_ERROR]
    if not isinstance(named, str):
        fields.fail(_FIRST_ERROR, 'a text: a number, a line of code or "N/A"')
    right = verdict == "correct"
    if verdict is None or right != (named == _NONE):
        raise InvalidRow(_VERDICT, f'expected "correct" with a first error of "{_NONE}", else "incorrect"')
    return None if right else named
