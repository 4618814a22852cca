"""Labels leave: streamed, gold left out, and what was left out counted by its reason."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.core.codecs import codec_named
from annotator.core.codecs.base import Codec, ExportRow
from annotator.core.codecs.policies import (
    AfterFirstErrorPolicy,
    NeutralPolicy,
    NeutralPolicyNeeded,
    Policies,
    check_policies,
)
from annotator.core.codecs.rows import ExportTally, write_rows
from annotator.models import AuditEvent, Split
from annotator.queries import exports as queries
from annotator.queries.exports import Choice, LabelsFrom, LeftOut, Only
from annotator.queries.manifest import Left, manifest


@dataclass(frozen=True)
class Recipe:
    """What to export. ``holdout`` None: with the formats that say which side a solution is on, and not without."""

    format: str = "native"
    labels: LabelsFrom = LabelsFrom.CONSENSUS
    neutral: NeutralPolicy | None = None
    after_first_error: AfterFirstErrorPolicy | None = None
    include_gold: bool = False
    holdout: bool | None = None
    only: Only = field(default_factory=Only)

    def to_json(self) -> dict[str, Any]:
        """The choices that were made, for a manifest and the log."""
        named = {
            "format": self.format,
            "labels": self.labels.value,
            "neutral": self.neutral.value if self.neutral else None,
            "after_first_error": self.after_first_error.value if self.after_first_error else None,
            "include_gold": self.include_gold,
            "holdout": self.holdout,
        }
        return {name: value for name, value in named.items() if value is not None} | self.only.to_json()


@dataclass
class Export:
    """Iterate over its lines once; then ``tally``, ``left_out`` and ``sha256`` are complete."""

    lines: Iterator[bytes]
    codec: Codec
    tally: ExportTally
    left_out: Counter[str]
    _digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def __iter__(self) -> Iterator[bytes]:
        for line in self.lines:
            self._digest.update(line)
            yield line

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    @property
    def all_left_out(self) -> dict[str, int]:
        """Solutions (with ALL in a flat format: annotations) left out, by reason."""
        return dict(sorted((self.left_out + self.tally.left_out).items()))


def start(*, actor: Actor, recipe: Recipe) -> Export:
    """An export that is ready to be read.

    Raises, before the first line: NotAllowed, UnknownFormat, PolicyNotSupported, and NeutralPolicyNeeded when a
    neutral label would have to be written in a format that has none.
    """
    access.require(actor, Verb.EXPORT)
    codec = codec_named(recipe.format)
    policies = Policies(recipe.neutral, recipe.after_first_error)
    check_policies(codec, policies)
    carries_all = codec.name == "native"
    choice = Choice(
        labels=recipe.labels,
        include_gold=recipe.include_gold,
        include_holdout=_with_holdout(recipe, carries_all),
        one_row_each=not carries_all,
        only=recipe.only,
    )
    if (
        not codec.has_neutral
        and codec.neutral_policies
        and recipe.neutral is None
        and queries.has_neutral(project_id=actor.project_id, choice=choice)
    ):
        raise NeutralPolicyNeeded(codec.name)
    AuditEvent.objects.record(
        "export:started",
        f"export {codec.name}",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data=recipe.to_json(),
    )
    left_out: Counter[str] = Counter()
    tally = ExportTally()
    kept = _kept(queries.rows(project_id=actor.project_id, choice=choice), left_out)
    return Export(write_rows(kept, codec, policies, tally), codec, tally, left_out)


def _with_holdout(recipe: Recipe, carries_all: bool) -> bool:
    """Whether the holdout may leave: as asked; asked for by its name; else where the format says which side it is."""
    if recipe.holdout is not None:
        return recipe.holdout
    return carries_all or recipe.only.split == Split.HOLDOUT


def manifest_of(*, actor: Actor, recipe: Recipe, export: Export) -> dict[str, Any]:
    """What a finished export is, for a file beside it; ``card`` is a dataset card in Markdown. Raises NotAllowed."""
    access.require(actor, Verb.EXPORT)
    left = Left(
        recipe=recipe.to_json(),
        written=export.tally.written,
        left_out=export.all_left_out,
        lost_fields=list(export.codec.lost_fields),
        lost=dict(sorted(export.tally.lost.items())),
        label_semantics=export.codec.label_semantics,
        sha256=export.sha256,
    )
    return manifest(project_id=actor.project_id, left=left)


def _kept(rows: Iterator[ExportRow | LeftOut], left_out: Counter[str]) -> Iterator[ExportRow]:
    for row in rows:
        if isinstance(row, LeftOut):
            left_out[row.reason] += 1
        else:
            yield row
