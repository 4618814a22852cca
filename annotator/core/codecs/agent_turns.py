"""Chat messages as steps, one for one and in order, and back.

A message without text (a call of a tool, an empty result) shows its calls, or that it is empty. What a message
holds beyond a role and a text is kept by index, so that it is written back as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from annotator.core.codecs.base import Caps, InvalidRow
from annotator.core.codecs.fields import Fields, check_length, describe
from annotator.core.solutions import SolutionRecord, Step

#: In ``meta``: index of the message (as text) → the fields that its step doesn't say.
MESSAGES = "messages"
EMPTY = "(empty message)"
_KINDS = {"assistant": "message", "user": "user", "system": "system", "developer": "system"}
_ROLES = {"tool": "tool", "observation": "tool", "user": "user", "system": "system"}


def messages(fields: Fields, key: str, caps: Caps) -> list[dict[str, Any]]:
    """The messages as they are, each an object. Raises InvalidRow."""
    entries = fields.entries(key, caps)
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise InvalidRow(key, f"message {index}: expected an object; got {describe(entry)}")
    return entries


def text_of(key: str, index: int, message: Mapping[str, Any], caps: Caps) -> str:
    """What the message says: its text, the texts of its parts, its calls, or that it is empty."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n\n".join(_part(part) for part in content)
    if content is not None and not isinstance(content, str):
        raise InvalidRow(key, f'message {index}: expected a "content" of text; got {describe(content)}')
    calls = message.get("tool_calls")
    if not content or not content.strip():
        content = orjson.dumps(calls, option=orjson.OPT_INDENT_2).decode() if calls else EMPTY
    check_length(key, f"message {index}: ", content, caps.step_chars)
    return content


def _part(part: object) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else orjson.dumps(part).decode()


def read_turns(fields: Fields, key: str, caps: Caps) -> tuple[tuple[Step, ...], dict[str, dict[str, Any]]]:
    """Steps, assistant messages judged, and by index what they don't say. Raises InvalidRow."""
    steps: list[Step] = []
    raw: dict[str, dict[str, Any]] = {}
    for index, message in enumerate(messages(fields, key, caps)):
        role = message.get("role")
        if not isinstance(role, str) or not role.strip():
            raise InvalidRow(key, f'message {index}: expected a "role"; got {describe(role)}')
        kind = "action" if role == "assistant" and message.get("tool_calls") else _KINDS.get(role, "tool")
        step = Step(text_of(key, index, message, caps), kind, judged=role == "assistant")
        steps.append(step)
        unsaid = {name: value for name, value in message.items() if message_of(step).get(name, ...) != value}
        if unsaid:
            raw[str(index)] = unsaid
    return tuple(steps), raw


def message_of(step: Step) -> dict[str, Any]:
    """A step as a message of its role."""
    return {"role": "assistant" if step.judged else _ROLES.get(step.kind, "user"), "content": step.text}


def write_turns(record: SolutionRecord, end: int) -> list[dict[str, Any]]:
    """The steps before ``end`` as messages, with what was kept of them."""
    kept = record.meta.get(MESSAGES)
    raw = kept if isinstance(kept, dict) else {}
    turns = []
    for index, step in enumerate(record.steps[:end]):
        unsaid = raw.get(str(index))
        turns.append(message_of(step) | (unsaid if isinstance(unsaid, dict) else {}))
    return turns


def question_of(fields: Fields, key: str, steps: tuple[Step, ...], caps: Caps) -> str:
    """The problem's text: the row's own field, else the first user message. Raises InvalidRow."""
    if fields.values.get(key) is not None:
        return fields.text(key, caps.problem_chars)
    asked = next((step.text for step in steps if step.kind == "user"), None)
    if asked is None:
        fields.fail(key, "the problem, there or in a message of role user")
    check_length(key, "", asked, caps.problem_chars)
    return asked
