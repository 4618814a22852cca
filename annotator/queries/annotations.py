"""Annotations as a list: a person's own, or a manager's view of everybody's."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotator.models import Annotation, Assignment
from annotator.queries.handed_out import counts_for_its_author


@dataclass(frozen=True)
class Wanted:
    """Which ones: each filter None for any. ``member_id`` None: everybody's, with who and what they are of."""

    project_id: int
    member_id: int | None
    annotator: str | None = None
    finish_reason: str | None = None
    counted: bool | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Row:
    """One current annotation. ``annotator``, ``solution`` and ``uncounted_reason`` are a manager's alone."""

    annotation: int
    assignment: uuid.UUID | None
    version: int
    labels: Sequence[int | None]
    finish_reason: str
    details: Mapping[str, Any]
    active_seconds: float | None
    submitted_at: datetime
    counted: bool
    annotator: str | None = None
    solution: str | None = None
    uncounted_reason: str | None = None


@dataclass(frozen=True)
class Page:
    """``after`` is the last row's number where more follow."""

    rows: Sequence[Row]
    after: int | None


def page(wanted: Wanted, *, after: int | None, limit: int) -> Page:
    """The newest first, from below ``after``; one query."""
    rows = (
        Annotation.objects.filter(member__project_id=wanted.project_id, current=True)
        .exclude(assignment__purpose=Assignment.Purpose.PRACTICE)
        .select_related("member", "solution")
        .defer("solution__steps", "solution__meta")
        .order_by("-pk")
    )
    if wanted.member_id is not None:
        rows = rows.filter(member_id=wanted.member_id)
    if wanted.annotator is not None:
        rows = rows.filter(member__pseudonym=wanted.annotator)
    if wanted.finish_reason is not None:
        rows = rows.filter(finish_reason=wanted.finish_reason)
    if wanted.counted is not None:
        # For its author a repeat counts like any other, else the filter would tell which ones are.
        hidden = [] if wanted.member_id is None else ["repeat"]
        told = rows.filter(counted=True) | rows.filter(uncounted_reason__in=hidden)
        rows = told if wanted.counted else rows.filter(counted=False).exclude(uncounted_reason__in=hidden)
    if wanted.since is not None:
        rows = rows.filter(submitted_at__gte=wanted.since)
    if wanted.until is not None:
        rows = rows.filter(submitted_at__lt=wanted.until)
    if after is not None:
        rows = rows.filter(pk__lt=after)
    found = list(rows[: limit + 1])
    shown = found[:limit]
    return Page(
        rows=[_row(each, for_its_author=wanted.member_id is not None) for each in shown],
        after=shown[-1].pk if len(found) > limit else None,
    )


def _row(found: Annotation, *, for_its_author: bool) -> Row:
    counted = found.counted
    if for_its_author:
        counted = counts_for_its_author(found.counted, found.uncounted_reason)
    return Row(
        annotation=found.pk,
        assignment=found.assignment_id,
        version=found.version,
        labels=found.labels,
        finish_reason=found.finish_reason,
        details=found.details,
        active_seconds=found.active_seconds,
        submitted_at=found.submitted_at,
        counted=counted,
        annotator=None if for_its_author else found.member.pseudonym,
        solution=None if for_its_author else found.solution.external_id or str(found.solution_id),
        uncounted_reason=None if for_its_author else found.uncounted_reason,
    )
