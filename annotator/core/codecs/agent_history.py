"""Who&When: what several agents said, who made the decisive mistake, and in which message (0-based, as text).

Roles say little there: half of the mistakes stand in messages of role ``user``. So a message is judged if an
agent said it, by name; what a terminal, a tool or a person said is context.
Zhang et al. 2025, "Which Agent Causes Task Failures and When? On Automated Failure Attribution of LLM Multi-Agent
Systems".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.core.codecs.agent_turns import MESSAGES, messages, text_of
from annotator.core.codecs.base import Caps, InvalidRow, LeftOut
from annotator.core.codecs.fields import Fields, describe
from annotator.core.labels import NO_ERROR, Mode, from_first_error, stop
from annotator.core.solutions import ProblemText, SolutionRecord, Step, judged_mask

MISTAKE_AGENT = "mistake_agent"
_STEP, _REASON = "mistake_step", "mistake_reason"
_READ = frozenset({"question", "question_ID", "ground_truth", "history", "is_correct", _STEP})
#: Who is no agent, in lower case, and what their messages are.
_CONTEXT = {"computer_terminal": "tool", "tool": "tool", "system": "system", "human": "user", "user": "user"}


def read(fields: Fields, caps: Caps) -> SolutionRecord:
    """The record of one row. Raises InvalidRow, also where the named agent did not say the named message."""
    fields.require("question", "history", MISTAKE_AGENT, _STEP)
    entries = messages(fields, "history", caps)
    steps = tuple(_step(index, entry, caps) for index, entry in enumerate(entries))
    first_error = _mistake(fields, entries, steps)
    meta = fields.rest(_READ)
    # The whole messages: an agent's name and role are what this shape is about.
    meta[MESSAGES] = [{key: value for key, value in each.items() if key != "content"} for each in entries]
    return SolutionRecord(
        problem=ProblemText(
            fields.text("question", caps.problem_chars),
            external_id=fields.identifier("question_ID", caps.identifier_chars),
            answer=fields.optional_text("ground_truth", caps.problem_chars),
        ),
        steps=steps,
        answer_correct=fields.flag("is_correct"),
        labels=from_first_error(first_error, judged_mask(steps)),
        first_error=first_error,
        mode=Mode.FIRST_ERROR.value,
        meta=meta,
    )


def write(record: SolutionRecord) -> dict[str, Any]:
    """The row of a record that came in this shape. Raises LeftOut where no mistake is known."""
    first_error = record.first_error
    if first_error is None and record.labels is not None:
        first_error = stop(record.labels, judged_mask(record.steps))
    if first_error is None or first_error == NO_ERROR:
        raise LeftOut("no mistake to name")
    known = record.meta.get(MESSAGES)
    if not isinstance(known, list) or len(known) != len(record.steps):
        raise LeftOut("its agents' names are not known")
    turns = [
        {"content": step.text} | (each if isinstance(each, dict) else {})
        for step, each in zip(record.steps, known, strict=True)
    ]
    same = {key: value for key, value in record.meta.items() if key not in (MESSAGES, _REASON)}
    agent = _agent(turns[first_error])
    said_before = record.meta[MISTAKE_AGENT]
    unchanged = _is_by(agent, said_before)
    return {
        "is_correct": record.answer_correct,
        "question": record.problem.text,
        "question_ID": record.problem.external_id,
        "ground_truth": record.problem.answer,
        "history": turns,
        **same,
        MISTAKE_AGENT: said_before if unchanged else agent,
        _STEP: str(first_error),
        _REASON: record.meta.get(_REASON) if unchanged else None,
    }


def _agent(message: Mapping[str, Any]) -> str:
    """Who said it: the name, or in logs without names the role."""
    name = message.get("name") or message.get("role")
    return name if isinstance(name, str) else ""


def _step(index: int, message: Mapping[str, Any], caps: Caps) -> Step:
    agent = _agent(message)
    if not agent:
        raise InvalidRow("history", f'message {index}: expected a "name" or a "role" that says whose it is')
    text = text_of("history", index, {"content": message.get("content")}, caps)
    kind = _CONTEXT.get(agent.lower(), "message")
    return Step(text, kind, judged=kind == "message")


def _mistake(fields: Fields, entries: list[dict[str, Any]], steps: tuple[Step, ...]) -> int:
    given = fields.values[_STEP]
    digits = str(given) if isinstance(given, int) and not isinstance(given, bool) else given
    if not isinstance(digits, str) or not digits.isascii() or not digits.isdigit() or len(digits) > 6:
        fields.fail(_STEP, "the 0-based index of a message, as a text")
    index = int(digits)
    if index >= len(steps) or not steps[index].judged:
        fields.fail(_STEP, f"the 0-based index of one of {len(steps)} messages, said by an agent")
    agent = fields.values[MISTAKE_AGENT]
    if not _is_by(_agent(entries[index]), agent):
        raise InvalidRow(
            MISTAKE_AGENT,
            f"expected the agent of message {index}, {describe(_agent(entries[index]))}; got {describe(agent)}",
        )
    return index


def _is_by(agent: str, named: object) -> bool:
    """Logs say ``Orchestrator (thought)`` where the mistake is the ``Orchestrator``'s."""
    return isinstance(named, str) and bool(named) and (agent == named or agent.startswith(f"{named} ("))
