"""TRL's stepwise supervision: ``prompt``, ``completions`` and one boolean a completion.

TRL casts labels with ``int()``: null raises there and 0.7 would become 0. So only booleans are written, and a
row ends before the first step without a label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.core.codecs.base import ExportRow, InvalidRow, ReadOptions, Written
from annotator.core.codecs.fields import Fields, describe
from annotator.core.codecs.flat import LabelledPrefix, binary_prefix, implied_mode, lost_context
from annotator.core.codecs.policies import Policies
from annotator.core.labels import Label, stop
from annotator.core.solutions import ProblemText, SolutionRecord, Step, judged_mask

_KEYS = ("prompt", "completions", "labels")


class Trl(LabelledPrefix):
    """Writes labelled prefixes; reads true as correct and false as incorrect.

    Neutrals can't be recovered from a file: what they were written as is what they come back as. Further
    fields are kept under the solution's ``meta``.
    """

    name = "trl"
    told_by = "prompt, completions and labels"
    label_semantics = "true: correct (or neutral, by the exporter's policy); false: incorrect"
    sample: Mapping[str, Any] = {
        "prompt": "What is $2 \\cdot 3 + 4$?",
        "completions": ["First, $2 \\cdot 3 = 6$.", "Then $6 + 4 = 11$."],
        "labels": [True, False],
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return row.keys() >= set(_KEYS)

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields = Fields(row)
        fields.require(*_KEYS)
        problem = ProblemText(fields.text("prompt", options.caps.problem_chars))
        steps = tuple(Step(text) for text in fields.texts("completions", options.caps))
        labels = _labels(fields, len(steps))
        record = SolutionRecord(
            problem=problem,
            steps=steps,
            labels=labels,
            first_error=stop(labels, judged_mask(steps)),
            mode=implied_mode(labels),
            meta=fields.rest(_KEYS),
        )
        return (record,)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        record = row.record
        written = binary_prefix(record, policies, self.name)
        value = {
            "prompt": record.problem.text,
            "completions": [text for text, _ in written],
            "labels": [correct for _, correct in written],
        }
        return Written((value,), lost_context(record))


def _labels(fields: Fields, n_steps: int) -> tuple[int, ...]:
    given = fields.items("labels")
    if given is None or len(given) != n_steps:
        fields.fail("labels", f"a list of {n_steps}, one label for each completion")
    for index, label in enumerate(given):
        if not isinstance(label, bool):
            raise InvalidRow("labels", f"label {index + 1}: expected true or false; got {describe(label)}")
    return tuple(Label.CORRECT.value if label else Label.INCORRECT.value for label in given)
