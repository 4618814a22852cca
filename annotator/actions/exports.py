"""Labels leave: streamed, gold left out, what was left out counted by its reason, each export kept in a history."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import Error, transaction
from django.db.models.functions import Now

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.actions.export_choices import REFUSED, Recipe
from annotator.core.codecs.base import ExportRow
from annotator.core.codecs.policies import NeutralPolicyNeeded, Policies, check_policies
from annotator.core.codecs.rows import ExportTally
from annotator.core.codecs.writing import (
    Beside,
    Format,
    NoSoftLabels,
    Values,
    carries_soft,
    format_named,
    write_rows,
)
from annotator.core.export_diff import Entry, Snapshot, signs
from annotator.models import AuditEvent, ExportRun, Split
from annotator.queries import exports as queries
from annotator.queries.export_filters import BadChoice, unknown_people
from annotator.queries.exports import Choice, LabelsFrom, LeftOut
from annotator.queries.manifest import Left, manifest

__all__ = ["Export", "Recipe", "ask", "manifest_of", "resume", "start"]


@dataclass
class Seen:
    """What the rows of an export were: labels and rows by kind, and the labels themselves."""

    labels: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    snapshot: Snapshot = field(default_factory=Snapshot)
    #: Whether rows are one person's each, so that a solution has several.
    each: bool = False
    #: Signs, source and split of rows that are not counted yet: together, Python does it without a loop.
    _kinds: list[tuple[str, str, str]] = field(default_factory=list)

    def row(self, row: ExportRow) -> None:
        """One row that was written."""
        shown = signs(row.record.labels or [None] * len(row.record.steps))
        self._kinds.append((shown, row.label_source or "none", row.split or "none"))
        if len(self._kinds) == AT_ONCE:
            self.count()
        people = row.record.annotations
        annotator = people[0].annotator if self.each and len(people) == 1 else ""
        self.snapshot.add(Entry(row.key, row.record.external_id or f"#{row.key}", annotator, shown))

    def count(self) -> None:
        """Count what has been seen since."""
        if not self._kinds:
            return
        shown, sources, splits = zip(*self._kinds, strict=True)
        self._kinds.clear()
        signs_seen = Counter("".join(shown))
        self.labels.update({_NAMES[sign]: number for sign, number in signs_seen.items()})
        self.sources.update(sources)
        self.splits.update(splits)


log = logging.getLogger(__name__)
#: Rows that are counted, and bytes that are hashed, at once. Hashing lets other threads run, and to take a turn back
#: costs more than to hash a line.
AT_ONCE, HASHED_AT_ONCE = 1_000, 256 * 1024
#: By the labels' signs (core.export_diff).
_NAMES = {"+": "correct", "0": "neutral", "-": "incorrect", ".": "not judged"}


@dataclass
class Export:
    """Iterate over its lines once; then ``tally``, ``left_out``, ``seen`` and ``sha256`` are complete.

    ``run`` is its row in the history, None for a look at what an export would hold.
    """

    lines: Iterator[bytes]
    codec: Format
    tally: ExportTally
    left_out: Counter[str]
    seen: Seen
    recipe: Recipe
    project_id: int
    run: ExportRun | None = None
    size: int = 0
    #: Called when the last line was taken, before the row says that the export is done.
    at_end: Callable[[], None] = lambda: None
    _digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def __iter__(self) -> Iterator[bytes]:
        held: list[bytes] = []
        to_hash = 0
        try:
            for line in self.lines:
                held.append(line)
                to_hash += len(line)
                if to_hash >= HASHED_AT_ONCE:
                    self._digest.update(b"".join(held))
                    self.size += to_hash
                    held, to_hash = [], 0
                yield line
            self._digest.update(b"".join(held))
            self.size += to_hash
            self.seen.count()
            self.at_end()
        except BaseException as error:
            self._broke_off(_why(error))
            raise
        self._done()

    def blocks(self, size: int = 64 * 1024) -> Iterator[bytes]:
        """Its lines joined to larger writes."""
        block: list[bytes] = []
        held = 0
        for line in self:
            block.append(line)
            held += len(line)
            if held >= size:
                yield b"".join(block)
                block, held = [], 0
        if block:
            yield b"".join(block)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    @property
    def extension(self) -> str:
        return "csv" if self.codec.name == "csv" else "jsonl"

    @property
    def media_type(self) -> str:
        return "text/csv; charset=utf-8" if self.extension == "csv" else "application/jsonl"

    @property
    def all_left_out(self) -> dict[str, int]:
        """Solutions (with ALL in a flat format: annotations) left out, by reason."""
        return dict(sorted((self.left_out + self.tally.left_out).items()))

    def manifest(self) -> dict[str, Any]:
        """What a finished export is."""
        left = Left(
            recipe=self.recipe.to_json(),
            written=self.tally.written,
            left_out=self.all_left_out,
            lost_fields=list(self.codec.lost_fields),
            lost=dict(sorted(self.tally.lost.items())),
            label_semantics=self.codec.label_semantics,
            sha256=self.sha256,
            labels=dict(sorted(self.seen.labels.items())),
            sources=dict(sorted(self.seen.sources.items())),
            splits=dict(sorted(self.seen.splits.items())),
        )
        return manifest(project_id=self.project_id, left=left)

    def _done(self) -> None:
        if self.run is not None:
            ExportRun.objects.filter(pk=self.run.pk).update(
                state=ExportRun.State.DONE,
                written=self.tally.written,
                size=self.size,
                sha256=self.sha256,
                manifest=self.manifest(),
                snapshot=self.seen.snapshot.content(),
                error="",
                finished_at=Now(),
            )

    def _broke_off(self, why: str) -> None:
        if self.run is None:
            return
        try:
            # Not one that another worker has finished since this one lost its lease.
            ExportRun.objects.filter(pk=self.run.pk, state=ExportRun.State.RUNNING).update(
                state=ExportRun.State.FAILED, error=why[:500], finished_at=Now()
            )
        except (Error, RuntimeError):  # a generator may be closed when there is no connection any more
            log.warning("Export %s broke off (%s), and its row could not be told.", self.run.pk, why)


@transaction.atomic
def start(*, actor: Actor, recipe: Recipe, keep: bool = True, recipe_id: int | None = None) -> Export:
    """An export that is ready to be read; ``keep`` False only looks at what it would hold, and leaves no run.

    Raises, before the first line: NotAllowed, UnknownFormat, BadChoice, PolicyNotSupported, NoSoftLabels, and
    NeutralPolicyNeeded when a neutral label would have to be written in a format that has none.
    """
    form, choice = _checked(actor, recipe)
    run = _record(actor, recipe, form, recipe_id) if keep else None
    return _export(actor.project_id, recipe, form, choice, run)


@transaction.atomic
def ask(*, actor: Actor, recipe: Recipe, recipe_id: int | None = None) -> ExportRun:
    """The row of an export that a worker is to make. Raises as `start`."""
    form, _ = _checked(actor, recipe)
    return _record(actor, recipe, form, recipe_id)


def resume(*, run: ExportRun) -> Export:
    """The export that a row asks for, from its beginning. Raises as `start`, but asks no rights."""
    recipe = Recipe.from_json(run.options)
    form = format_named(recipe.format)
    return _export(run.project_id, recipe, form, _choice(recipe, form), run)


def manifest_of(*, actor: Actor, recipe: Recipe, export: Export) -> dict[str, Any]:
    """What a finished export is, for a file beside it; ``card`` is a dataset card in Markdown. Raises NotAllowed."""
    access.require(actor, Verb.EXPORT)
    return replace(export, recipe=recipe).manifest()


def _checked(actor: Actor, recipe: Recipe) -> tuple[Format, Choice]:
    access.require(actor, Verb.EXPORT)
    form = format_named(recipe.format)
    check_policies(form, Policies(recipe.neutral, recipe.after_first_error))
    if recipe.values is Values.SOFT and not carries_soft(form):
        raise NoSoftLabels(form.name)
    strangers = unknown_people(actor.project_id, recipe.only.people)
    if strangers:
        raise BadChoice(f"Nobody here is called {', '.join(strangers)}; the members page lists pseudonyms.")
    choice = _choice(recipe, form)
    mute = not form.has_neutral and form.neutral_policies and recipe.neutral is None
    if mute and queries.has_neutral(project_id=actor.project_id, choice=choice):
        raise NeutralPolicyNeeded(form.name)
    return form, choice


def _choice(recipe: Recipe, form: Format) -> Choice:
    carries_all = form.name == "native"
    return Choice(
        labels=recipe.labels,
        include_gold=recipe.include_gold,
        include_holdout=_with_holdout(recipe, says_split=form.name in ("native", "csv")),
        one_row_each=not carries_all,
        values=recipe.values,
        only=recipe.only,
    )


def _with_holdout(recipe: Recipe, *, says_split: bool) -> bool:
    """Whether the holdout may leave: as asked; asked for by its name; else where the format says which side it is."""
    if recipe.holdout is not None:
        return recipe.holdout
    return says_split or recipe.only.split == Split.HOLDOUT


def _record(actor: Actor, recipe: Recipe, form: Format, recipe_id: int | None) -> ExportRun:
    AuditEvent.objects.record(
        "export:started",
        f"export {form.name}",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data=recipe.to_json(),
    )
    return ExportRun.objects.create(
        project_id=actor.project_id,
        member_id=actor.member_id,
        recipe_id=recipe_id,
        format=form.name,
        options=recipe.to_json(),
    )


def _export(project_id: int, recipe: Recipe, form: Format, choice: Choice, run: ExportRun | None) -> Export:
    left_out: Counter[str] = Counter()
    tally, seen = ExportTally(), Seen(each=choice.one_row_each and choice.labels is LabelsFrom.ALL)
    kept = _kept(queries.rows(project_id=project_id, choice=choice), left_out)
    lines = write_rows(
        _in_parts(kept, recipe) if recipe.parts else kept,
        form,
        Policies(recipe.neutral, recipe.after_first_error),
        tally,
        beside=Beside(
            weight=recipe.values is not Values.HARD, split=recipe.parts is not None and not recipe.parts.only
        ),
        written=seen.row,
    )
    return Export(lines, form, tally, left_out, seen, recipe, project_id, run)


def _why(error: BaseException) -> str:
    """What ended an export early, for its row in the history."""
    if isinstance(error, REFUSED):
        return str(error)
    return f"{type(error).__name__}: {error}" if isinstance(error, Exception) else "It was broken off."


def _kept(rows: Iterator[ExportRow | LeftOut], left_out: Counter[str]) -> Iterator[ExportRow]:
    for row in rows:
        if isinstance(row, LeftOut):
            left_out[row.reason] += 1
        else:
            yield row


def _in_parts(rows: Iterator[ExportRow], recipe: Recipe) -> Iterator[ExportRow]:
    """The rows with their part as their split; of one part alone where it is named."""
    parts = recipe.parts
    assert parts is not None
    for row in rows:
        part = parts.of(row.record.problem.text, holdout=row.split == Split.HOLDOUT)
        if parts.only in ("", part):
            yield replace(row, split=part)
