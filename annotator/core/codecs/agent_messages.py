"""Agents' trajectories as messages, in two shapes.

**AgentProcessBench**: ``messages``, ``step_labels`` by the message's 0-based index (as text), ``final_label``. A
judged step is one assistant message; tool results, the user and the system are context. There 0 says that the
annotators were *uncertain*, which is no label here: such steps are not judged, and are listed in ``meta`` under
``uncertain``. Redundancy is -1 there, and a step built on a wrong premise is -1 until somebody corrects it.

**Who&When**: ``history`` with ``mistake_agent`` and ``mistake_step`` (see `agent_history`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.core.codecs import agent_history as history
from annotator.core.codecs.agent_turns import MESSAGES, question_of, read_turns, write_turns
from annotator.core.codecs.base import Caps, ExportRow, InvalidRow, LeftOut, ReadOptions, Written
from annotator.core.codecs.fields import Fields, describe, is_whole
from annotator.core.codecs.flat import LABEL_DETAILS, binary_labels, kept
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, Policies
from annotator.core.labels import Label, Mode, stop
from annotator.core.solutions import ProblemText, SolutionRecord, Step, judged_mask

_KEYS = ("question", "messages", "step_labels", "final_label")
#: In ``meta``: the 0-based indices of steps whose label was 0.
UNCERTAIN = "uncertain"
_FINAL = "final_label"


class AgentMessages:
    """Reads both shapes; a step's index is its message's. Writes each record in the shape it came in, others in
    the first.

    Without a ``question`` the problem is the first user message, which stays among the steps as context.
    Further fields are kept under the solution's ``meta``.
    """

    name = "agent_messages"
    told_by = "messages with step_labels, or history with mistake_step"
    label_semantics = (
        "step_labels: 1 right, -1 wrong, redundant or built on an uncorrected mistake, 0 the annotators were "
        "uncertain (read as not judged); mistake_step: the decisive mistake, and nothing is said of what follows"
    )
    has_neutral = False
    neutral_policies = frozenset(NeutralPolicy)
    after_first_error_policies = frozenset(AfterFirstErrorPolicy)
    lost_fields = (
        "problem.id, problem.answer, problem.solution, problem.domain, problem.subject",
        "generator",
        "steps.kind other than action, message, tool, user and system; steps.sep, steps.alternatives",
        "final_answer",
        "neutral labels",
        LABEL_DETAILS + " other than the format's own fields",
    )
    sample: Mapping[str, Any] = {
        "id": "sample-0",
        "question": "How many files are there?",
        "messages": [
            {"role": "user", "content": "How many files are there?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"function": {"name": "list_files", "arguments": "{}"}}],
            },
            {"role": "tool", "content": "a.txt b.txt"},
            {"role": "assistant", "content": "There are 3."},
        ],
        "step_labels": {"1": 1, "3": -1},
        "final_label": -1,
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        keys = row.keys()
        return {"messages", "step_labels"} <= keys or {"history", "mistake_step"} <= keys

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields = Fields(row)
        if "messages" not in row and "history" in row:
            return (history.read(fields, options.caps),)
        return (_read(fields, options.caps),)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        if history.MISTAKE_AGENT in row.record.meta:
            return Written((history.write(row.record),))
        return Written((_write(row.record, policies, self.name),))


def _read(fields: Fields, caps: Caps) -> SolutionRecord:
    fields.require("messages", "step_labels")
    steps, raw = read_turns(fields, "messages", caps)
    labels, uncertain = _labels(fields, steps)
    meta = fields.rest((*_KEYS, "id"))
    meta.update({MESSAGES: raw} if raw else {})
    meta.update({UNCERTAIN: uncertain} if uncertain else {})
    if _FINAL in fields.values:
        meta[_FINAL] = fields.values[_FINAL]
    question = fields.optional_text("question", caps.problem_chars)
    if question is not None:
        meta["question"] = True
    return SolutionRecord(
        problem=ProblemText(question_of(fields, "question", steps, caps)),
        steps=steps,
        external_id=fields.identifier("id", caps.identifier_chars),
        answer_correct=_answer_correct(fields.values.get(_FINAL)),
        labels=labels,
        first_error=stop(labels, judged_mask(steps)),
        mode=Mode.ALL_STEPS.value,
        meta=meta,
    )


def _labels(fields: Fields, steps: tuple[Step, ...]) -> tuple[tuple[int | None, ...], list[int]]:
    given = fields.mapping("step_labels")
    if given is None:
        fields.fail("step_labels", "an object of labels by message index")
    labels: list[int | None] = [None] * len(steps)
    uncertain: list[int] = []
    for key, label in given.items():
        index = int(key) if key.isascii() and key.isdigit() and len(key) < 7 else len(steps)
        if index >= len(steps) or not steps[index].judged or str(index) != key:
            raise InvalidRow(
                "step_labels", f"expected 0-based indices of assistant messages; got {describe(key)}"
            )
        if not is_whole(label) or label not in (-1, 0, 1):
            raise InvalidRow("step_labels", f"message {key}: expected 1, 0 or -1; got {describe(label)}")
        if label == 0:
            uncertain.append(index)
        else:
            labels[index] = label
    return tuple(labels), sorted(uncertain)


def _answer_correct(final: object) -> bool | None:
    """1 and -1, true and false; 0 says nothing."""
    if isinstance(final, bool):
        return final
    return {1: True, -1: False}.get(final) if is_whole(final) else None  # type: ignore[call-overload]


def _write(record: SolutionRecord, policies: Policies, format_name: str) -> dict[str, Any]:
    if record.labels is None or all(label is None for label in record.labels):
        raise LeftOut("no labels")
    judged = [index for index, step in enumerate(record.steps) if step.judged]
    known = binary_labels(
        (record.labels[index] for index in judged),
        policies,
        format_name=format_name,
        all_steps=record.mode == Mode.ALL_STEPS,
    )
    said = dict(zip(judged, known, strict=False))
    # What follows the last step that may be written is cut off; context after the last of all stays.
    end = len(record.steps) if len(said) == len(judged) else judged[len(said)]
    uncertain = [index for index in kept(record.meta, UNCERTAIN, list[Any]()) if is_whole(index)]
    labels = {
        index: Label.CORRECT.value if correct else Label.INCORRECT.value
        for index, correct in said.items()
        if correct is not None
    }
    labels.update({index: 0 for index in uncertain if index in said and record.labels[index] is None})
    value: dict[str, Any] = {"id": record.external_id} if record.external_id else {}
    if record.meta.get("question") is True or not _is_asked(record, end):
        value["question"] = record.problem.text
    value["messages"] = write_turns(record, end)
    value["step_labels"] = {str(index): labels[index] for index in sorted(labels)}
    final = {True: 1, False: -1, None: None}[record.answer_correct]
    return value | {_FINAL: record.meta.get(_FINAL, final)}


def _is_asked(record: SolutionRecord, end: int) -> bool:
    """Whether the first user message is the problem, and among the steps before ``end``, which are written."""
    asked = next((step.text for step in record.steps[:end] if step.kind == "user"), None)
    return asked == record.problem.text
