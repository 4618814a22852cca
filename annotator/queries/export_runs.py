"""The history of exports, the recipes that are kept, and what changed between two exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.utils import timezone

from annotator.core.export_diff import Change, Counts, compare, entries
from annotator.models import ExportRecipe, ExportRun, Job

SHOWN = 30
CHANGES_SHOWN = 200
#: A download that runs for longer than this has lost its process.
LONGEST = timedelta(hours=12)


@dataclass(frozen=True)
class Run:
    """One export. ``left`` is what was left out, by reason; ``choices`` what was asked beyond the format."""

    id: int
    at: datetime
    who: str
    recipe: str
    format: str
    choices: Sequence[tuple[str, str]]
    state: str
    written: int
    size: int
    sha256: str
    error: str
    comparable: bool
    row: ExportRun


@dataclass(frozen=True)
class Recipe:
    """Choices under a name."""

    id: int
    name: str
    options: Mapping[str, Any]
    choices: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class History:
    """Runs, the newest first, and where the next page begins; ``busy``: a worker makes one of them."""

    runs: Sequence[Run]
    next: int | None
    busy: bool


@dataclass(frozen=True)
class Difference:
    """What changed from one export to the other; ``shown`` are the first changes."""

    before: Run
    after: Run
    counts: Counts
    shown: Sequence[Change]

    @property
    def total(self) -> int:
        """All changes, of steps and of whole rows."""
        return sum(self.counts.steps.values()) + sum(self.counts.rows.values())


class NotComparable(LookupError):
    """There is no such export here, or it kept no labels because it was never finished."""


def history(project_id: int, *, before: int | None = None) -> History:
    """A page of runs; two queries."""
    rows = (
        ExportRun.objects.filter(project_id=project_id).select_related("member", "recipe").defer("snapshot")
    )
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.order_by("-pk")[: SHOWN + 1])
    runs = [_run(row) for row in found[:SHOWN]]
    working = Job.objects.filter(
        project_id=project_id, kind="exports.run", state__in=[Job.State.QUEUED, Job.State.CLAIMED]
    )
    return History(runs, found[SHOWN - 1].pk if len(found) > SHOWN else None, working.exists())


def run_in(project_id: int, run_id: int) -> ExportRun | None:
    """One export of the project, without its labels."""
    return ExportRun.objects.filter(project_id=project_id, pk=run_id).defer("snapshot").first()


def recipes(project_id: int) -> list[Recipe]:
    """All kept choices by name; one query."""
    rows = ExportRecipe.objects.filter(project_id=project_id).order_by("name")
    return [Recipe(row.pk, row.name, row.options, told(row.options)) for row in rows]


def changes(*, project_id: int, before: int, after: int, counts: Counts | None = None) -> Iterator[Change]:
    """Every change between two exports, in the order of the solutions. Raises NotComparable at once."""
    return compare(entries(_snapshot(project_id, before)), entries(_snapshot(project_id, after)), counts)


def difference(*, project_id: int, before: int, after: int) -> Difference:
    """All changes counted, the first CHANGES_SHOWN shown. Raises NotComparable."""
    counts = Counts()
    found = changes(project_id=project_id, before=before, after=after, counts=counts)
    shown = list(islice(found, CHANGES_SHOWN))
    for _change in found:
        pass
    rows = {row.pk: _run(row) for row in _done(project_id).filter(pk__in=[before, after])}
    return Difference(rows[before], rows[after], counts, shown)


def comparable(project_id: int) -> list[Run]:
    """The last finished exports, to choose two of them."""
    return [_run(row) for row in _done(project_id).order_by("-pk")[:100]]


def told(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Choices as words, those left open and the format left out."""
    usual = {"format", "labels", "include_gold"}
    named = {name: value for name, value in options.items() if name not in usual}
    if options.get("labels", "consensus") != "consensus":
        named = {"labels": options["labels"], **named}
    if options.get("include_gold"):
        named["include_gold"] = "yes"
    return [(name.replace("_", " "), _words(value)) for name, value in named.items()]


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _done(project_id: int) -> Any:
    rows = ExportRun.objects.filter(project_id=project_id, state=ExportRun.State.DONE)
    return rows.select_related("member", "recipe").defer("snapshot")


def _snapshot(project_id: int, run_id: int) -> bytes:
    rows = ExportRun.objects.filter(project_id=project_id, pk=run_id, state=ExportRun.State.DONE)
    kept = rows.values_list("snapshot", flat=True).first()
    if kept is None:
        raise NotComparable(f"There is no finished export {run_id} in this project.")
    return bytes(kept)


def _run(row: ExportRun) -> Run:
    lost = row.state == ExportRun.State.RUNNING and row.created_at < timezone.now() - LONGEST
    return Run(
        id=row.pk,
        at=row.created_at,
        who=row.member.pseudonym if row.member else "",
        recipe=row.recipe.name if row.recipe else "",
        format=row.format,
        choices=told(row.options),
        state="failed" if lost else row.state,
        written=row.written,
        size=row.size,
        sha256=row.sha256,
        error=row.error,
        comparable=row.state == ExportRun.State.DONE,
        row=row,
    )
