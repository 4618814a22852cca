"""A solution as plain data: a problem and the ordered steps that try to solve it.

These values carry no database identity. Codecs read files into them, segmentation makes their steps, and
scorers read them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

#: Kinds that take a label unless the source says otherwise.
JUDGED_KINDS = frozenset({"reasoning", "code", "action", "message"})
#: Kinds that are context: never labelled, never scored.
CONTEXT_KINDS = frozenset({"observation", "tool", "user", "system"})
KINDS = JUDGED_KINDS | CONTEXT_KINDS


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``sep`` is the text between it and the next, so that text + sep joined is the original."""

    text: str
    kind: str = "reasoning"
    judged: bool = True
    sep: str = ""
    alternatives: tuple[Any, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The shape that is stored and that the native format uses."""
        return {
            "text": self.text,
            "kind": self.kind,
            "judged": self.judged,
            "sep": self.sep,
            "alternatives": list(self.alternatives),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Step:
        """The inverse of `to_json`; absent keys take their defaults."""
        kind = value.get("kind", "reasoning")
        return cls(
            text=value["text"],
            kind=kind,
            judged=value.get("judged", kind in JUDGED_KINDS),
            sep=value.get("sep", ""),
            alternatives=tuple(value.get("alternatives") or ()),
        )


@dataclass(frozen=True, slots=True)
class ProblemText:
    """What a problem says and what is known of its answer."""

    text: str
    external_id: str = ""
    answer: str | None = None
    solution: str | None = None
    domain: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class ImportedAnnotation:
    """One person's labels as a file brings them; ``details`` holds flags, error types and comments by step."""

    annotator: str
    labels: tuple[int | None, ...]
    finish_reason: str
    details: Mapping[str, Any] = field(default_factory=dict)
    active_seconds: float | None = None
    submitted_at: str | None = None
    counted: bool = True
    guidelines: int | None = None


@dataclass(frozen=True, slots=True)
class SolutionRecord:
    """One solution with all a file may say of it.

    ``labels`` are the file's own labels for all steps (None: not judged or not known), ``accept`` its bitmask of
    acceptable labels per step where it is gold. ``first_error`` is 0-based over all steps, -1 for none, None when
    the file doesn't say.
    """

    problem: ProblemText
    steps: tuple[Step, ...]
    external_id: str = ""
    generator: Mapping[str, Any] = field(default_factory=dict)
    final_answer: str | None = None
    answer_correct: bool | None = None
    labels: tuple[int | None, ...] | None = None
    first_error: int | None = None
    accept: tuple[int, ...] | None = None
    mode: str | None = None
    annotations: tuple[ImportedAnnotation, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    def content_hash(self) -> bytes:
        """What makes two solutions the same: the problem's text and the steps' text, kind and separator."""
        steps = [[s.text, s.kind, s.judged, s.sep] for s in self.steps]
        return digest([self.problem.text, steps])


def digest(value: object) -> bytes:
    """32-byte SHA-256 of a value's canonical JSON.

    Raises TypeError for what JSON can't hold, a lone surrogate included.
    """
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).digest()


def full_text(steps: Sequence[Step]) -> str:
    """The trajectory as it was before it was segmented."""
    return "".join(step.text + step.sep for step in steps)


def judged_mask(steps: Sequence[Step]) -> tuple[bool, ...]:
    """Which steps take a label."""
    return tuple(step.judged for step in steps)
