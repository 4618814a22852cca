"""Math-Shepherd: problem and steps in one text, a tag ``ки`` after each step, and the same text with its labels.

In Math-Shepherd's own files "+" says that some completion from there reached the reference answer: *utility*,
estimated by Monte Carlo, which is not correctness. An old revision kept the tag before the sign: ``ки +``.
Wang et al. 2024, "Math-Shepherd: Verify and Reinforce LLMs Step-by-step without Human Annotations".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from annotator.core.codecs import tagged
from annotator.core.codecs.base import ExportRow, InvalidRow, ReadOptions, Written
from annotator.core.codecs.fields import Fields, check_cut, check_length
from annotator.core.codecs.flat import kept, lost_context
from annotator.core.codecs.policies import Policies
from annotator.core.codecs.tagged import TAG
from annotator.core.labels import Label
from annotator.core.solutions import ProblemText, SolutionRecord

_KEYS = ("input", "label", "task")
_SIGN = re.compile(rf"(?:{TAG} ?)?([+-])")
_TAG_AND_SIGN = re.compile(rf"(?<!\w){TAG} ?([+-])(?!\S)")
_LABELS = {"+": Label.CORRECT.value, "-": Label.INCORRECT.value}


class MathShepherd(tagged.WithProblem):
    """Reads ``input, label, task``, both spellings of the labels, and writes the newer one.

    A step without a tag is not judged. ``task`` is kept under the solution's ``meta``.
    """

    name = "math_shepherd"
    told_by = "input, and label as the same text with signs"
    label_semantics = (
        "+: in its own files, some completion from here reached the answer (utility, not correctness), in ours "
        "correct; -: none did, in ours incorrect"
    )
    sample: Mapping[str, Any] = {
        "input": "What is $2 \\cdot 3 + 4$? Step 1: First, $2 \\cdot 3 = 6$. ки\nStep 2: Then $6 + 4 = 11$. ки",
        "label": "What is $2 \\cdot 3 + 4$? Step 1: First, $2 \\cdot 3 = 6$. +\nStep 2: Then $6 + 4 = 11$. -",
        "task": "GSM8K",
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return {"input", "label"} <= row.keys() and not {"steps", "value"} & row.keys()

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields, caps = Fields(row), options.caps
        fields.require("input", "label")
        text, signs = _signs(fields.text("input", caps.line_bytes), fields.text("label", caps.line_bytes))
        found = tagged.cut("input", text, with_problem=True)
        check_cut("input", found.texts, caps)
        check_length("input", "the problem: ", found.problem, caps.problem_chars)
        task = fields.optional_text("task", caps.subject_chars)
        meta = {**fields.rest(_KEYS), **({"task": task} if task else {})}
        return (found.record(ProblemText(found.problem), [_LABELS[sign] for sign in signs], meta),)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        record = row.record
        steps = tagged.judged_texts(record, policies, self.name)
        value = {
            "input": tagged.join(record.problem.text, steps, {True: TAG, False: TAG}),
            "label": tagged.join(record.problem.text, steps, {True: "+", False: "-"}),
            "task": kept(record.meta, "task", record.problem.subject),
        }
        return Written((value,), lost_context(record))


def _signs(text: str, label: str) -> tuple[str, list[str]]:
    """The text with bare tags, and the sign of each. Raises InvalidRow where label is not the same text."""
    found = _TAG_AND_SIGN.findall(text)
    if found and len(found) == len(tagged.pieces(text)) - 1:
        # The old spelling, in both fields.
        bare = _TAG_AND_SIGN.sub(TAG, text)
        if label == text or _aligned(bare, label) == found:
            return bare, found
        raise InvalidRow("label", "expected the signs that stand after the tags of input; got others")
    return text, _aligned(text, label)


def _aligned(text: str, label: str) -> list[str]:
    signs: list[str] = []
    first, *others = tagged.pieces(text)
    if not others:
        raise InvalidRow("input", f"expected a {TAG} after each step; there is none")
    if not label.startswith(first):
        raise InvalidRow("label", f"expected the text of input before the first {TAG}; got another")
    at = len(first)
    for number, piece in enumerate(others, start=1):
        sign = _SIGN.match(label, at)
        if sign is None:
            got = label[at : at + 10]
            raise InvalidRow("label", f'tag {number}: expected + or - where input has {TAG}; got "{got}"')
        signs.append(sign.group(1))
        at = sign.end()
        if not label.startswith(piece, at):
            raise InvalidRow("label", f"expected the text of input after tag {number}; got another")
        at += len(piece)
    if at != len(label):
        raise InvalidRow("label", "expected it to end where input ends; there is more text")
    return signs
