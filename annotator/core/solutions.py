"""A solution as plain data: a problem and the ordered steps that try to solve it.

These values carry no database identity. Codecs read files into them, segmentation makes their steps, and
scorers read them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, overload

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
        """The shape that the native format uses."""
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


#: A step's text, kind, judged and sep.
Said = tuple[str, str, bool, str]
_said_by: Callable[[Mapping[str, Any]], Said] = itemgetter("text", "kind", "judged", "sep")


class StoredSteps(Sequence[Step]):
    """Steps as they are stored, each made when somebody looks: what comes and goes in the native format never is.

    As a value it is the tuple of its steps.
    """

    __slots__ = ("_made", "_said", "_stored")

    def __init__(self, stored: Sequence[dict[str, Any]], said: Sequence[Said] | None = None) -> None:
        """``stored`` as `stored_json` gives them: text, kind, judged and sep, and alternatives where there are any.
        ``said`` is what they say, where somebody has it at hand."""
        self._stored = stored
        self._said = said
        self._made: tuple[Step, ...] | None = None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StoredSteps):
            return self._steps() == other._steps()
        return self._steps() == other

    def __hash__(self) -> int:
        return hash(self._steps())

    def __repr__(self) -> str:
        return repr(self._steps())

    def __len__(self) -> int:
        return len(self._stored)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps())

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | Sequence[Step]:
        return self._steps()[index]

    def to_json(self) -> list[dict[str, Any]]:
        """As `Step.to_json` orders the fields; the database keeps them in an order of its own."""
        return [
            {
                "text": each["text"],
                "kind": each["kind"],
                "judged": each["judged"],
                "sep": each["sep"],
                "alternatives": each.get("alternatives", []),
            }
            for each in self._stored
        ]

    @property
    def stored(self) -> Sequence[dict[str, Any]]:
        """What they are made of."""
        return self._stored

    @property
    def said(self) -> Sequence[Said]:
        """What makes steps the same."""
        return [_said_by(each) for each in self._stored] if self._said is None else self._said

    def _steps(self) -> tuple[Step, ...]:
        if self._made is None:
            self._made = tuple(map(Step.from_json, self._stored))
        return self._made


def steps_json(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Steps as the native format has them."""
    return steps.to_json() if isinstance(steps, StoredSteps) else [step.to_json() for step in steps]


def stored_json(steps: Sequence[Step]) -> Sequence[dict[str, Any]]:
    """Steps as the database keeps them: without the alternatives that hardly any has.

    >>> stored_json([Step("It is 3.")])
    [{'text': 'It is 3.', 'kind': 'reasoning', 'judged': True, 'sep': ''}]
    """
    if isinstance(steps, StoredSteps):
        return steps.stored
    return [
        {"text": step.text, "kind": step.kind, "judged": step.judged, "sep": step.sep}
        | ({"alternatives": list(step.alternatives)} if step.alternatives else {})
        for step in steps
    ]


@dataclass(frozen=True, slots=True)
class ProblemImage:
    """A picture that belongs to a problem: in a file a name, once it is kept the hash of its bytes."""

    src: str
    alt: str = ""


@dataclass(frozen=True, slots=True)
class ProblemText:
    """What a problem says and what is known of its answer."""

    text: str
    external_id: str = ""
    answer: str | None = None
    solution: str | None = None
    domain: str = ""
    subject: str = ""
    images: tuple[ProblemImage, ...] = ()

    def content_hash(self) -> bytes:
        """What makes two problems the same: the text and the pictures."""
        return digest([self.text, [image.src for image in self.images]] if self.images else self.text)


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
    steps: Sequence[Step]
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
        """What makes two solutions the same: the problem, and the steps' text, kind and separator."""
        return steps_hash(self.problem, self.steps)


def steps_hash(problem: ProblemText, steps: Sequence[Step]) -> bytes:
    """The content hash of a solution."""
    said = (
        steps.said if isinstance(steps, StoredSteps) else [(s.text, s.kind, s.judged, s.sep) for s in steps]
    )
    if problem.images:
        return digest([problem.text, [image.src for image in problem.images], said])
    return digest([problem.text, said])


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
    if isinstance(steps, StoredSteps):
        return tuple([step["judged"] for step in steps.stored])
    return tuple(step.judged for step in steps)
