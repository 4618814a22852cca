"""OpenRLHF's process reward data: a text with a placeholder token after each judged step, and a list of labels.

The trainer's fields are options; these are the ones of its own example: ``input``, ``value`` and ``ки``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotator.core.codecs import tagged
from annotator.core.codecs.base import ExportRow, ReadOptions, Written
from annotator.core.codecs.fields import Fields, check_cut, check_length
from annotator.core.codecs.flat import flatten, lost_context
from annotator.core.codecs.policies import Policies
from annotator.core.codecs.tagged import TAG
from annotator.core.labels import Label
from annotator.core.solutions import ProblemText, SolutionRecord

_KEYS = ("input", "value")


class OpenRlhf(tagged.WithProblem):
    """Reads and writes ``input, value``. A step without a placeholder is not judged.

    Labels may be signs or the numbers 1, 0 and -1; signs are written. Soft labels are refused: they are no
    labels. Further fields are kept under the solution's ``meta``.
    """

    name = "openrlhf"
    carries_soft = True
    told_by = "input, and value as a list of labels"
    label_semantics = "+ or 1: correct (or neutral, by the exporter's policy); -, 0 or -1: incorrect"
    sample: Mapping[str, Any] = {
        "input": "What is $2 \\cdot 3 + 4$? Step 1: First, $2 \\cdot 3 = 6$. ки\nStep 2: Then $6 + 4 = 11$. ки",
        "value": ["+", "-"],
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return row.keys() >= set(_KEYS)

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields, caps = Fields(row), options.caps
        fields.require(*_KEYS)
        found = tagged.cut("input", fields.text("input", caps.line_bytes), with_problem=True)
        check_cut("input", found.texts, caps)
        check_length("input", "the problem: ", found.problem, caps.problem_chars)
        by_tag = tagged.read_labels("value", row["value"], found.n_tags)
        return (found.record(ProblemText(found.problem), by_tag, fields.rest(_KEYS)),)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        record = row.record
        steps = tagged.judged_texts(record, policies, self.name)
        value = {
            "input": tagged.join(record.problem.text, steps, {True: TAG, False: TAG}),
            "value": _values(row, [correct for _, correct in steps]),
        }
        return Written((value,), lost_context(record))


def _values(row: ExportRow, known: Sequence[bool | None]) -> list[str | float]:
    """Signs; or the steps' own probabilities where they were asked for, 1 or 0 where a policy speaks."""
    if row.soft is None:
        return ["+" if correct else "-" for correct in known if correct is not None]
    flat = flatten(row.record.steps, row.record.labels).steps
    values: list[str | float] = []
    for step, correct in zip(flat, known, strict=False):
        soft = row.soft[step.index]
        if correct is not None:
            own = soft is not None and correct == (step.label != Label.INCORRECT)
            values.append(float(soft) if own and soft is not None else float(correct))
    return values
