"""What an import does with the labels a row brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from annotator.actions import import_copy as cells
from annotator.core import labels as rules
from annotator.core.codecs.base import ImportRow, RowError
from annotator.core.labels import FinishReason, InvalidLabels, Mode
from annotator.core.solutions import ImportedAnnotation, SolutionRecord, digest, judged_mask, stored_json
from annotator.models import Annotation, Gold, Membership, Project

#: Under this name go labels of a file that doesn't say whose they are.
UNNAMED = "imported"


class LabelsAs(StrEnum):
    """REFERENCE: kept, never shown, fill no slot. GOLD: hidden checks. ANNOTATIONS: people's, but not counted.

    PRACTICE: shown to a person after their own submit, with ``meta.note`` as the reason.
    """

    REFERENCE = "reference"
    GOLD = "gold"
    PRACTICE = "practice"
    ANNOTATIONS = "annotations"

    @property
    def is_gold(self) -> bool:
        """Whether the labels are acceptable ones to compare with, hidden or for practice."""
        return self in {LabelsAs.GOLD, LabelsAs.PRACTICE}


class Prepared(NamedTuple):
    """A row that can be written: its labels fit what they are imported as."""

    record: SolutionRecord
    content_hash: bytes
    problem_hash: bytes
    #: The solution's row for COPY, but for its keys.
    cells: bytes
    accept: tuple[int, ...] | None = None
    annotations: tuple[ImportedAnnotation, ...] = ()


class Known(NamedTuple):
    """A solution that is in the database, and a row that says something of it."""

    solution_id: int
    row: Prepared
    holdout: bool = False

    @property
    def n_steps(self) -> int:
        return len(self.row.record.steps)


def prepare(row: ImportRow, project: Project, labels_as: LabelsAs) -> Prepared | RowError:
    """Check what a codec can't know: that the labels can serve as what they are imported as, in this project."""
    record = row.record
    if len(record.steps) > SMALLINT:
        return RowError(row.line, "steps", f"expected at most {SMALLINT:,} steps, got {len(record.steps):,}")
    if labels_as is LabelsAs.REFERENCE:
        return _prepared(record)
    if labels_as.is_gold:
        accept = record.accept or (rules.accept_masks(record.labels) if record.labels else None)
        if accept is None or not any(accept):
            return RowError(
                row.line,
                "labels",
                f"expected labels or gold.accept, since the file is imported as {labels_as.value}",
            )
        return _prepared(record, accept=accept)
    return _with_annotations(row, project)


def _prepared(
    record: SolutionRecord,
    accept: tuple[int, ...] | None = None,
    annotations: tuple[ImportedAnnotation, ...] = (),
) -> Prepared:
    content_hash = record.content_hash()
    row = _solution_cells(record, content_hash)
    return Prepared(record, content_hash, record.problem.content_hash(), row, accept, annotations)


def _solution_cells(record: SolutionRecord, content_hash: bytes) -> bytes:
    """All of a solution's row but its keys."""
    return cells.line(
        cells.text(record.external_id),
        cells.json(stored_json(record.steps)),
        cells.number(len(record.steps)),
        cells.raw(content_hash),
        cells.json(record.generator),
        cells.text(record.final_answer),
        cells.flag(record.answer_correct),
        b"",
        cells.json(record.meta),
    )


#: What the columns hold.
SMALLINT = 32_767
PSEUDONYM = 60


def _with_annotations(row: ImportRow, project: Project) -> Prepared | RowError:
    record, mode = row.record, Mode(project.mode)
    annotations = tuple(_in_mode(annotation, record, mode) for annotation in record.annotations)
    if not annotations and record.labels:
        reason = rules.finish_reason(record.labels, mode)
        annotations = (ImportedAnnotation(UNNAMED, record.labels, reason.value),)
    if not annotations:
        return RowError(
            row.line,
            "annotations",
            "expected annotations or labels, since the file is imported as annotations",
        )
    for index, annotation in enumerate(annotations):
        try:
            rules.check(
                annotation.labels, judged_mask(record.steps), mode, FinishReason(annotation.finish_reason)
            )
        except InvalidLabels as error:
            return RowError(row.line, f"annotations[{index}].labels", f"{error} (project mode: {mode.value})")
    return _prepared(record, annotations=annotations)


def _in_mode(annotation: ImportedAnnotation, record: SolutionRecord, mode: Mode) -> ImportedAnnotation:
    """Where a row names no mode, the finish reason was implied as in first_error; here it follows the project's."""
    implied = rules.finish_reason(annotation.labels, Mode.FIRST_ERROR)
    if record.mode is not None or annotation.finish_reason != implied:
        return annotation
    return replace(annotation, finish_reason=rules.finish_reason(annotation.labels, mode).value)


def write_labels(written: Sequence[Known], project: Project, labels_as: LabelsAs) -> None:
    """Store what the rows say, as what they are imported as. Reference labels are kept in every case."""
    write_references(written)
    if labels_as.is_gold:
        practice = labels_as is LabelsAs.PRACTICE
        Gold.objects.bulk_create(
            Gold(
                solution_id=known.solution_id,
                project=project,
                n_steps=known.n_steps,
                accept=list(known.row.accept or ()),
                source=Gold.Source.IMPORT,
                use=Gold.Use.PRACTICE if practice else Gold.Use.HIDDEN,
                note=_note(known.row.record.meta) if practice else "",
            )
            for known in written
        )
    if labels_as is LabelsAs.ANNOTATIONS:
        _write_annotations(written, project)


def write_references(written: Sequence[Known]) -> None:
    """Keep the labels that these rows bring; a solution has them once."""
    lines = [
        b"%d\t%d\t%b\t%b\n"
        % (
            known.solution_id,
            known.n_steps,
            cells.labels(known.row.record.labels),
            cells.number(known.row.record.first_error),
        )
        for known in written
        if known.row.record.labels is not None
    ]
    if lines:
        cells.copy_in("annotator_referencelabels", cells.REFERENCE, lines)


def _note(meta: Mapping[str, object]) -> str:
    note = meta.get("note")
    return note if isinstance(note, str) else ""


def _write_annotations(written: Sequence[Known], project: Project) -> None:
    names = {each.annotator for known in written for each in known.row.annotations}
    members = _imported_members(names, project)
    rows = []
    for known in written:
        judged, seen = judged_mask(known.row.record.steps), dict[str, int]()
        for each in known.row.annotations:
            seen[each.annotator] = seen.get(each.annotator, 0) + 1
        done = dict[str, int]()
        for each in known.row.annotations:
            version = done[each.annotator] = done.get(each.annotator, 0) + 1
            rows.append(
                Annotation(
                    solution_id=known.solution_id,
                    member=members[each.annotator],
                    n_steps=known.n_steps,
                    version=version,
                    current=version == seen[each.annotator],
                    labels=list(each.labels),
                    stop=rules.stop(each.labels, judged),
                    finish_reason=each.finish_reason,
                    details=dict(each.details),
                    active_seconds=each.active_seconds,
                    counted=False,
                    uncounted_reason="imported",
                    source=Annotation.Source.IMPORTED,
                    submitted_at=_moment(each.submitted_at),
                )
            )
    Annotation.objects.bulk_create(rows)


def _imported_members(names: set[str], project: Project) -> dict[str, Membership]:
    """A membership without a user for each annotator of a file, so that their labels stay apart from our people's."""
    pseudonyms = {name: _pseudonym(name) for name in names}
    Membership.objects.bulk_create(
        [Membership(project=project, pseudonym=pseudonym) for pseudonym in set(pseudonyms.values())],
        ignore_conflicts=True,
    )
    rows = Membership.objects.filter(project=project, pseudonym__in=pseudonyms.values(), user=None)
    found = {member.pseudonym: member for member in rows}
    return {name: found[pseudonym] for name, pseudonym in pseudonyms.items()}


def _pseudonym(name: str) -> str:
    """A name that fits its column and that no two annotators of a file share."""
    if name == UNNAMED:
        return UNNAMED
    full = f"{UNNAMED}:{name}"
    return full if len(full) <= PSEUDONYM else f"{full[: PSEUDONYM - 13]}-{digest(name).hex()[:12]}"


def _moment(value: str | None) -> datetime:
    moment = parse_datetime(value) if value else None
    if moment is None:
        return timezone.now()
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)
