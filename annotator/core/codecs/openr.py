"""OpenR: a question, a process with the tag ``ки`` after each step, and a list of labels, 1 or 0.

The list is called ``label`` in its documentation and ``labels`` in its own sample: both are read, ``label`` is
written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.core.codecs import tagged
from annotator.core.codecs.base import ExportRow, InvalidRow, ReadOptions, Written
from annotator.core.codecs.fields import Fields, check_cut
from annotator.core.codecs.flat import LabelledPrefix, binary_prefix, lost_context
from annotator.core.codecs.policies import Policies
from annotator.core.codecs.tagged import TAG
from annotator.core.solutions import ProblemText, SolutionRecord

_SPELLINGS = ("label", "labels")
_KEYS = ("question", "process", *_SPELLINGS)


class OpenR(LabelledPrefix):
    """Writes labelled prefixes; reads 1 and + as correct, 0, -1 and - as incorrect.

    Text after the last tag is a step that is not judged. Further fields are kept under the solution's ``meta``.
    """

    name = "openr"
    told_by = "question, process, and label or labels as a list"
    label_semantics = "1: correct (or neutral, by the exporter's policy); 0: incorrect"
    lost_fields = (*LabelledPrefix.lost_fields, "white space around steps")
    sample: Mapping[str, Any] = {
        "question": "What is $2 \\cdot 3 + 4$?",
        "process": "First, $2 \\cdot 3 = 6$. ки\nThen $6 + 4 = 11$. ки",
        "label": [1, 0],
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return {"question", "process"} <= row.keys() and bool(row.keys() & set(_SPELLINGS))

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields, caps = Fields(row), options.caps
        fields.require("question", "process")
        found = tagged.cut("process", fields.text("process", caps.line_bytes), with_problem=False)
        check_cut("process", found.texts, caps)
        spelling = _spelling(fields)
        by_tag = tagged.read_labels(spelling, row[spelling], found.n_tags)
        problem = ProblemText(fields.text("question", caps.problem_chars))
        return (found.record(problem, by_tag, fields.rest(_KEYS)),)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        record = row.record
        written = binary_prefix(record, policies, self.name)
        tagged.check_untagged(record.problem.text, *(text for text, _ in written))
        value = {
            "question": record.problem.text,
            "process": "\n".join(f"{text} {TAG}" for text, _ in written),
            "label": [int(correct) for _, correct in written],
        }
        return Written((value,), lost_context(record))


def _spelling(fields: Fields) -> str:
    there = [key for key in _SPELLINGS if fields.values.get(key) is not None]
    if len(there) == 2 and fields.values["label"] != fields.values["labels"]:
        raise InvalidRow("labels", "expected it to be the same as label; got another list")
    if not there:
        fields.fail("label", "a list of labels")
    return there[0]
