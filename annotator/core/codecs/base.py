"""What a codec is, and the values that go in and out of one.

A codec translates between one JSON object of a file and solutions. It knows nothing of bytes, lines or files:
`lines` turns a file into objects and `rows` joins the two. To add a format, write one module with one class
and list it in ``codecs/__init__.py``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, Policies
from annotator.core.segmentation import Rule
from annotator.core.solutions import SolutionRecord


@dataclass(frozen=True, slots=True)
class Caps:
    """How much one row may hold. Lengths of texts are in characters."""

    line_bytes: int = 16 * 1024 * 1024
    depth: int = 64
    steps: int = 5_000
    step_chars: int = 200_000
    problem_chars: int = 200_000
    identifier_chars: int = 255
    subject_chars: int = 100
    annotations: int = 1_000
    #: Of everything a compressed source unpacks to; and how many files an archive may hold.
    unpacked_bytes: int = 16 * 1024**3
    parts: int = 1_000


CAPS = Caps()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How texts that are not segmented are cut, and how much is too much."""

    segment_rule: str = Rule.AUTO
    caps: Caps = CAPS


@dataclass(frozen=True, slots=True)
class RowError:
    """A row that was not read. ``line`` is 1-based; ``field`` is "" when it is about the line itself.

    ``part`` names the file within an archive. ``given`` is what stood there, an object or a line's bytes, for
    people who want to mend it.
    """

    line: int
    field: str
    message: str
    part: str = ""
    given: Any = dataclasses.field(default=None, compare=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        plain = {"line": self.line, "field": self.field, "message": self.message}
        return plain | {"file": self.part} if self.part else plain


class InvalidRow(ValueError):
    """A row that can't be read: the field, what was expected of it, and what it is."""

    def __init__(self, field_name: str, message: str) -> None:
        super().__init__(f"{field_name}: {message}" if field_name else message)
        self.field = field_name
        self.message = message


@dataclass(frozen=True, slots=True)
class ImportRow:
    """A solution and the 1-based line it stands on; ``part`` and ``given`` as in RowError."""

    line: int
    record: SolutionRecord
    part: str = ""
    given: Any = dataclasses.field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Consensus:
    """How several people's labels became one; ``posterior`` in whatever shape the method has."""

    method: str
    posterior: Any = None


@dataclass(frozen=True, slots=True)
class ExportScore:
    """One scorer version's values for a solution: one per step, None where a step is not judged.

    ``source`` is judge, monte_carlo or scorer; ``stop`` where it puts the first error, -1 for none.
    """

    scorer: str
    version: str
    measures: str
    values: Sequence[float | None]
    spread: Sequence[float | None] | None = None
    source: str = "scorer"
    stop: int | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Why this solution was handed out when it was."""

    route: str
    strategy: str | None = None
    score: float | None = None
    scorer_version: str | None = None
    rank: int | None = None
    pool: int | None = None
    round: int | None = None


@dataclass(frozen=True, slots=True)
class ExportRow:
    """One solution as it leaves.

    ``record`` carries the labels to write, the annotations and the gold masks (``accept``); ``label_source``
    says where these labels come from. ``flags`` are whatever marks the project keeps, strings or objects. ``key``
    tells solutions apart within one installation; ``soft`` are the labels as probabilities (core.soft), where they
    were asked for.
    """

    record: SolutionRecord
    label_source: str | None = None
    consensus: Consensus | None = None
    scores: tuple[ExportScore, ...] = ()
    selection: Selection | None = None
    flags: tuple[Any, ...] = ()
    split: str | None = None
    weight: float | None = None
    key: int = 0
    soft: tuple[float | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """The objects that one solution became, and how much of what was lost on the way, by kind."""

    objects: tuple[dict[str, Any], ...]
    lost: Mapping[str, int] = field(default_factory=dict)


class LeftOut(Exception):
    """A solution that the format can't hold; ``reason`` is counted in the export's report."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Codec(Protocol):
    """One format, in both directions. Codecs hold no state; their attributes are constants."""

    @property
    def name(self) -> str:
        """The name in commands and pages."""

    @property
    def told_by(self) -> str:
        """The fields that tell this format from the others."""

    @property
    def label_semantics(self) -> str:
        """What a label in such a file claims, for people who mix sources."""

    @property
    def sample(self) -> Mapping[str, Any]:
        """One small row that reads, and that writing gives back."""

    @property
    def lost_fields(self) -> tuple[str, ...]:
        """The native fields that the format can't carry."""

    @property
    def has_neutral(self) -> bool:
        """Whether neutral is a label of its own in the format."""

    @property
    def neutral_policies(self) -> frozenset[NeutralPolicy]:
        """The policies the format can carry out; none where it needs none."""

    @property
    def after_first_error_policies(self) -> frozenset[AfterFirstErrorPolicy]:
        """The policies the format can carry out; none where it needs none."""

    def sniff(self, row: Mapping[str, Any]) -> bool:
        """Whether the row's keys look like this format. A row that is broken in its values still does."""

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        """The solutions of one object. Raises InvalidRow."""

    def write(self, row: ExportRow, policies: Policies) -> Written:
        """The objects for one solution. Raises LeftOut, NeutralPolicyNeeded."""
