"""PRMBench: a solution that was changed so that it has errors, and the 1-based numbers of all erroneous steps.

**A row is one solution**: ``modified_process``, as an answer to ``modified_question``, which is the pair that the
benchmark scores. ``original_process`` is what it was made from; the row has no labels for it and the same one
stands on several rows, so it is kept under ``meta`` and is no solution of its own.
Song et al. 2025, "PRMBench: A Fine-grained and Challenging Benchmark for Process-Level Reward Models".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotator.core.codecs.base import ExportRow, InvalidRow, ReadOptions, Written
from annotator.core.codecs.fields import Fields, describe, is_whole
from annotator.core.codecs.flat import (
    LABEL_DETAILS,
    PROBLEM_DETAILS,
    STEP_DETAILS,
    LabelledPrefix,
    binary_prefix,
    kept,
    lost_context,
)
from annotator.core.codecs.policies import Policies
from annotator.core.labels import Label, Mode, stop
from annotator.core.solutions import ProblemText, SolutionRecord, Step, judged_mask

_NUMBER = re.compile(r"(Step )?(\d+)\. (?=\s*\S)")
_READ = frozenset({"modified_question", "modified_process", "error_steps", "idx"})
#: Fields that only some classes of the benchmark have.
_SOMETIMES = ("ground_truth", "original_response")
#: In a record's ``meta``: how the steps were numbered in their texts, "k. " or "Step k. ".
NUMBERING = "numbering"


class PrmBench(LabelledPrefix):
    """Reads the modified solution; steps that are all numbered ("1. ") lose their numbers and get them back.

    A row with an error step that does not exist is refused: it can't be told what was meant.
    """

    name = "prmbench"
    told_by = "modified_process and error_steps"
    label_semantics = (
        "a listed step is an error of the row's class, in the class redundency a superfluous step; all others are "
        "no errors. Each step is judged on its own"
    )
    lost_fields = (
        PROBLEM_DETAILS,
        "generator",
        STEP_DETAILS,
        "steps after the first one without a label",
        "final_answer, answer_correct",
        "neutral labels",
        LABEL_DETAILS + " other than the benchmark's own fields",
    )
    sample: Mapping[str, Any] = {
        "original_question": "What is $2 \\cdot 3 + 4$?",
        "modified_question": "What is $2 \\cdot 3 + 4$?",
        "original_process": ["1. First, $2 \\cdot 3 = 6$.", "2. Then $6 + 4 = 10$."],
        "modified_process": ["1. First, $2 \\cdot 3 = 6$.", "2. Then $6 + 4 = 11$.", "3. The answer is 11."],
        "modified_steps": [2, 3],
        "error_steps": [2, 3],
        "reason": "The sum in step 2 is wrong.",
        "idx": "sample-0",
        "question": "What is $2 \\cdot 3 + 4$?",
        "classification": "step_contradiction",
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return {"modified_process", "error_steps"} <= row.keys()

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields, caps = Fields(row), options.caps
        fields.require("modified_question", "modified_process", "error_steps")
        texts, numbering = _without_numbers(fields.texts("modified_process", caps))
        steps = tuple(map(Step, texts))
        labels = _labels(fields, len(steps))
        meta = fields.rest(_READ)
        if numbering is not None:
            meta[NUMBERING] = numbering
        record = SolutionRecord(
            problem=ProblemText(fields.text("modified_question", caps.problem_chars)),
            steps=steps,
            external_id=fields.identifier("idx", caps.identifier_chars),
            labels=labels,
            first_error=stop(labels, judged_mask(steps)),
            mode=Mode.ALL_STEPS.value,
            meta=meta,
        )
        return (record,)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        record = row.record
        written = binary_prefix(record, policies, self.name)
        question, meta = record.problem.text, record.meta
        numbering = meta.get(NUMBERING)
        errors = [number for number, (_, correct) in enumerate(written, start=1) if not correct]
        value = {
            "original_question": kept(meta, "original_question", question),
            "modified_question": question,
            "original_process": kept(meta, "original_process", []),
            "modified_process": [_numbered(text, i + 1, numbering) for i, (text, _) in enumerate(written)],
            "modified_steps": kept(meta, "modified_steps", errors),
            "error_steps": errors,
            "reason": kept(meta, "reason", ""),
            "idx": record.external_id,
            "question": kept(meta, "question", question),
            "classification": kept(meta, "classification", ""),
        }
        value.update({key: meta[key] for key in _SOMETIMES if key in meta})
        return Written((value,), lost_context(record))


def _labels(fields: Fields, n_steps: int) -> tuple[int, ...]:
    errors = fields.items("error_steps")
    if errors is None:
        fields.fail("error_steps", "a list of step numbers, empty for none")
    for number in errors:
        if not is_whole(number) or not 1 <= number <= n_steps:
            raise InvalidRow(
                "error_steps",
                f"expected numbers from 1 to {n_steps}, for {n_steps} steps; got {describe(number)}",
            )
    wrong = set(errors)
    return tuple(
        Label.INCORRECT.value if number in wrong else Label.CORRECT.value for number in range(1, n_steps + 1)
    )


def _without_numbers(texts: Sequence[str]) -> tuple[list[str], str | None]:
    """Texts without their numbers and how they were numbered, where all are numbered in one way from 1."""
    heads = [_NUMBER.match(text) for text in texts]
    words = {head.group(1) or "" for head in heads if head}
    counted = [head.group(2) if head else "" for head in heads]
    if len(words) != 1 or counted != [str(number) for number in range(1, len(texts) + 1)]:
        return list(texts), None
    bare = [text[head.end() :] for text, head in zip(texts, heads, strict=True) if head]
    return bare, f"{words.pop()}k. "


def _numbered(text: str, number: int, numbering: object) -> str:
    heads = {"k. ": f"{number}. ", "Step k. ": f"Step {number}. "}
    return heads.get(numbering, "") + text if isinstance(numbering, str) else text
