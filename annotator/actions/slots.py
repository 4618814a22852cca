"""Slots and leases: how many labels of a solution are taken, and for how long somebody holds one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import F
from django.db.models.functions import Greatest, Now

from annotator.models import Assignment, Project, QueueRow


def lease(project: Project) -> Any:
    """When a lease taken now runs out, by the database's clock."""
    return Now() + timedelta(seconds=project.lease_seconds)


def take_slot(row: QueueRow, project: Project) -> int:
    """Count one label as taken and return the lowest free slot. The row must be locked and not full."""
    used = set(
        Assignment.objects.filter(
            solution_id=row.solution_id, state__in=[Assignment.State.LIVE, Assignment.State.SUBMITTED]
        )
        .exclude(slot=None)
        .values_list("slot", flat=True)
    )
    slot = next(number for number in range(len(used) + 1) if number not in used)
    row.taken += 1
    row.audit_owed = 0 if row.holdout else max(0, project.labels_audit - row.taken)
    row.save(update_fields=["taken", "wanted", "audit_owed"])
    return slot


def release_slot(assignment: Assignment) -> None:
    """Owe this label to somebody again. Locks the queue row; the assignment must be locked already.

    The caller sets the assignment's slot to None and saves it.
    """
    if assignment.slot is None:
        return
    labels_audit = assignment.project.labels_audit
    rows = QueueRow.objects.filter(pk=assignment.solution_id, taken__gt=0)
    rows.update(taken=F("taken") - 1, audit_owed=Greatest(0, labels_audit - F("taken") + 1))
    QueueRow.objects.filter(pk=assignment.solution_id, holdout=True).update(audit_owed=0)
