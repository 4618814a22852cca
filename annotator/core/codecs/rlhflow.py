"""RLHFlow: a conversation in which the user says one step and the assistant answers "+" or "-".

The first user turn is the problem and the first step with a joiner between them: a space in RLHFlow's own files,
where the steps begin with "Step 1:", a blank line in others. Both are read; the joiner that can be told apart
again is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from annotator.core.codecs.base import ExportRow, InvalidRow, ReadOptions, Written
from annotator.core.codecs.fields import Fields, check_cut, check_length, describe
from annotator.core.codecs.flat import LabelledPrefix, binary_prefix, implied_mode, lost_context
from annotator.core.codecs.policies import Policies
from annotator.core.labels import Label, stop
from annotator.core.solutions import ProblemText, SolutionRecord, Step, judged_mask

_FIRST_STEP = re.compile(r"\bstep 1:", re.IGNORECASE)
_BLANK_LINE = "\n\n"
_LABELS = {"+": Label.CORRECT.value, "-": Label.INCORRECT.value}
LOST_BORDER = "where the problem ends and the first step begins"


class RlhFlow(LabelledPrefix):
    """Writes labelled prefixes; reads + as correct and - as incorrect.

    A row in which the end of the problem can't be told is refused. Further fields are kept under the solution's
    ``meta``.
    """

    name = "rlhflow"
    told_by = "conversations, without an image"
    label_semantics = "+: correct (or neutral, by the exporter's policy); -: incorrect"
    lost_fields = (
        *LabelledPrefix.lost_fields,
        f"{LOST_BORDER}, unless the step begins with Step 1: or neither has a blank line",
    )
    sample: Mapping[str, Any] = {
        "conversations": [
            {"role": "user", "content": "What is $2 \\cdot 3 + 4$? Step 1: First, $2 \\cdot 3 = 6$."},
            {"role": "assistant", "content": "+"},
            {"role": "user", "content": "Step 2: Then $6 + 4 = 11$."},
            {"role": "assistant", "content": "-"},
        ]
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return "conversations" in row and "image" not in row

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields, caps = Fields(row), options.caps
        turns = _turns(fields)
        problem, first = _border(turns[0])
        texts = [first, *turns[2::2]]
        check_cut("conversations", texts, caps)
        check_length("conversations", "the problem: ", problem, caps.problem_chars)
        steps = tuple(map(Step, texts))
        labels = tuple(_LABELS[answer] for answer in turns[1::2])
        record = SolutionRecord(
            problem=ProblemText(problem),
            steps=steps,
            labels=labels,
            first_error=stop(labels, judged_mask(steps)),
            mode=implied_mode(labels),
            meta=fields.rest({"conversations"}),
        )
        return (record,)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        record = row.record
        written = binary_prefix(record, policies, self.name)
        lost = lost_context(record)
        turns: list[dict[str, str]] = []
        for text, correct in written:
            turns.append({"role": "user", "content": text})
            turns.append({"role": "assistant", "content": "+" if correct else "-"})
        problem, first = record.problem.text, written[0][0]
        turns[0]["content"] = problem + (" " if _FIRST_STEP.match(first) else _BLANK_LINE) + first
        if not _can_be_told(turns[0]["content"], problem, first):
            lost[LOST_BORDER] = 1
        return Written(({"conversations": turns},), lost)


def _turns(fields: Fields) -> list[str]:
    """What user and assistant said, in turns. Raises InvalidRow."""
    entries = fields.items("conversations")
    if not entries or len(entries) % 2:
        fields.fail("conversations", "a list of steps, each with the assistant's answer after it")
    turns = []
    for index, entry in enumerate(entries):
        role = "assistant" if index % 2 else "user"
        content = entry.get("content") if isinstance(entry, dict) else None
        if not isinstance(content, str) or not content.strip() or entry.get("role") != role:
            raise InvalidRow("conversations", f"turn {index + 1}: expected a text of role {role}")
        answer = content.strip()
        if index % 2 and answer not in _LABELS:
            raise InvalidRow("conversations", f"turn {index + 1}: expected + or -; got {describe(answer)}")
        turns.append(answer if index % 2 else content)
    return turns


def _border(content: str) -> tuple[str, str]:
    """The problem and the first step. Raises InvalidRow where it can't be told where the one ends."""
    marker = _FIRST_STEP.search(content)
    if marker:
        problem, first = content[: marker.start()].rstrip(), content[marker.start() :]
    elif content.count(_BLANK_LINE) == 1:
        problem, first = content.split(_BLANK_LINE)
    else:
        blank = content.count(_BLANK_LINE)
        raise InvalidRow(
            "conversations",
            f'turn 1: expected "Step 1:" or one blank line between the problem and the first step; got neither, '
            f"with {blank} blank lines",
        )
    if not problem.strip() or not first.strip():
        raise InvalidRow("conversations", "turn 1: expected the problem and the first step; one is blank")
    return problem, first


def _can_be_told(content: str, problem: str, first: str) -> bool:
    try:
        found_problem, found_first = _border(content)
        return found_problem.strip() == problem.strip() and found_first.strip() == first.strip()
    except InvalidRow:
        return False
