"""What to export: one set of choices, read alike from a form, a command, the API and a saved recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from annotator.core.codecs import UnknownFormat
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, PolicyError
from annotator.core.codecs.writing import Values
from annotator.core.details import is_text
from annotator.core.parts import BadParts, Parts, read_parts
from annotator.queries.export_filters import READERS, BadChoice, LabelsFrom, Only

_Choice = TypeVar("_Choice", bound=StrEnum)
_YES = (True, "1", "true", "True", "on", "yes")
_NO = (False, "0", "false", "False", "off", "no")
MAX_LICENCE = 100
#: What an export can be refused with before its first byte, beside NotAllowed: each says why in a sentence.
REFUSED = (BadChoice, PolicyError, UnknownFormat)
#: Every name that `Recipe.from_json` reads.
CHOICES = (
    "format",
    "labels",
    "neutral",
    "after_first_error",
    "include_gold",
    "holdout",
    "values",
    "split_by_problem",
    "seed",
    "part",
    "licence",
    *READERS,
)


@dataclass(frozen=True)
class Recipe:
    """What to export. ``holdout`` None: with the formats that say which side a solution is on, and not without.

    ``values``: hard labels, with a weight, or soft ones. ``parts``: train, validation and test by problem.
    ``licence`` is for the dataset card.
    """

    format: str = "native"
    labels: LabelsFrom = LabelsFrom.CONSENSUS
    neutral: NeutralPolicy | None = None
    after_first_error: AfterFirstErrorPolicy | None = None
    include_gold: bool = False
    holdout: bool | None = None
    only: Only = field(default_factory=Only)
    values: Values = Values.HARD
    parts: Parts | None = None
    licence: str = ""

    def to_json(self) -> dict[str, Any]:
        """The choices that were made, for a manifest, the log and `from_json`."""
        named: dict[str, Any] = {
            "format": self.format,
            "labels": self.labels.value,
            "neutral": self.neutral.value if self.neutral else None,
            "after_first_error": self.after_first_error.value if self.after_first_error else None,
            "include_gold": self.include_gold,
            "holdout": self.holdout,
            "values": self.values.value if self.values is not Values.HARD else None,
            "licence": self.licence or None,
        }
        if self.parts is not None:
            shares = "/".join(map(str, self.parts.shares))
            named |= {"split_by_problem": shares, "seed": self.parts.seed, "part": self.parts.only or None}
        return {name: value for name, value in named.items() if value is not None} | self.only.to_json()

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Recipe:
        """Choices as words or typed values; what is absent or empty is left open, other names are passed over.

        Raises BadChoice with a sentence that names the choice.
        """
        licence = str(given.get("licence") or "").strip()
        if len(licence) > MAX_LICENCE or not is_text(licence):
            raise BadChoice(f"licence is the name of a licence, at most {MAX_LICENCE} characters.")
        return cls(
            format=str(given.get("format") or "native"),
            labels=_one_of(LabelsFrom, given, "labels") or LabelsFrom.CONSENSUS,
            neutral=_one_of(NeutralPolicy, given, "neutral"),
            after_first_error=_one_of(AfterFirstErrorPolicy, given, "after_first_error"),
            include_gold=_flag(given, "include_gold") or False,
            holdout=_flag(given, "holdout"),
            only=Only.from_json(given),
            values=_one_of(Values, given, "values") or Values.HARD,
            parts=_parts(given),
            licence=licence,
        )


def _one_of(choices: type[_Choice], given: Mapping[str, Any], name: str) -> _Choice | None:
    value = given.get(name)
    if value in (None, ""):
        return None
    try:
        return choices(value)
    except ValueError:
        raise BadChoice(f"{name} is one of: {', '.join(choices)}.") from None


def _flag(given: Mapping[str, Any], name: str) -> bool | None:
    value = given.get(name)
    if value in (None, ""):
        return None
    if value not in (*_YES, *_NO):
        raise BadChoice(f"{name} is 1 or 0.")
    return value in _YES


def _parts(given: Mapping[str, Any]) -> Parts | None:
    shares, only = str(given.get("split_by_problem") or "").strip(), str(given.get("part") or "")
    if not shares:
        if only:
            raise BadChoice("part names a part of split_by_problem, such as 80/10/10.")
        return None
    try:
        return read_parts(shares, seed=given.get("seed"), only=only)
    except BadParts as error:
        raise BadChoice(str(error)) from None
