"""Alerts: what a manager should see. One open alert per kind and subject."""

from __future__ import annotations

from django.db import transaction
from django.db.models.functions import Now

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.models import Alert, AuditEvent


def open_alert(*, project_id: int, kind: str, subject: str, sentence: str) -> None:
    """Raise an alert unless the same one is open; call it inside a transaction."""
    Alert.objects.get_or_create(
        project_id=project_id,
        kind=kind,
        subject=subject,
        closed_at=None,
        defaults={"sentence": sentence[:500]},
    )


@transaction.atomic
def close(*, actor: Actor, alert_id: int) -> None:
    """A manager has seen to it. Raises NotAllowed."""
    access.require(actor, Verb.MANAGE)
    rows = Alert.objects.filter(pk=alert_id, project_id=actor.project_id, closed_at=None)
    if rows.update(closed_at=Now()):
        AuditEvent.objects.record(
            "alert:closed",
            f"alert {alert_id}",
            project_id=actor.project_id,
            member_id=actor.member_id,
            data={"before": {"open": True}, "after": {"open": False}},
        )
