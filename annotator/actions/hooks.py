"""Webhooks: addresses outside that are told of a project's events. Who may have one, and what is announced."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import transaction

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.jobs import drop, enqueue
from annotator.models import AuditEvent, Project, Webhook, WebhookDelivery
from annotator.scorers.endpoint import WEBHOOKS, Endpoint, EndpointRefused, endpoint

JOB = "hooks.deliver"
QUEUE = "remote"
MOST = 20
#: In front of every secret, so that programs that look for leaked ones know it.
PREFIX = "whsec_"
PING = "ping"


class Event(StrEnum):
    """What can be announced."""

    SUBMITTED = "annotation:submitted"
    COMPLETED = "solution:completed"
    PAUSED = "member:paused"
    PROMOTED = "scorer:promoted"


class NoSuchHook(LookupError):
    """This project has no such webhook."""


class Refused(ValueError):
    """A webhook that can't be had like this; the message says why."""


@dataclass(frozen=True)
class NewHook:
    """``secret`` is shown once: it signs every message."""

    hook: Webhook
    secret: str


def announce(*, project_id: int, event: Event, data: Mapping[str, Any]) -> None:
    """Tell every webhook that wants to know; call it inside the transaction that the event belongs to.

    ``data`` holds ids, pseudonyms and counts, never a label, a text or what is gold. Only rows are written here: a
    worker sends, once the transaction stands.
    """
    for hook in Webhook.objects.filter(project_id=project_id, active=True, events__contains=[event.value]):
        _queue(hook, event.value, data)


def is_wanted(*, project_id: int, event: Event) -> bool:
    """Whether anybody wants to know, where finding out what to say costs something."""
    return Webhook.objects.filter(project_id=project_id, active=True, events__contains=[event.value]).exists()


def address(url: str) -> Endpoint:
    """The server that a URL names. Raises EndpointRefused unless the operator's list allows it."""
    return endpoint(url, settings.WEBHOOK_HOSTS, WEBHOOKS)


@transaction.atomic
def add(*, actor: Actor, url: str, events: Collection[str]) -> NewHook:
    """A webhook, told of these events from now on. Raises NotAllowed, Refused."""
    access.require(actor, Verb.MANAGE)
    url = url.strip()
    if len(url) > 500:
        raise Refused("An address has at most 500 characters.")
    if not events or not set(events) <= set(Event):
        raise Refused(f"Choose what it is told of: {', '.join(Event)}.")
    try:
        server = address(url)
    except EndpointRefused as error:
        raise Refused(str(error)) from error
    Project.objects.select_for_update(no_key=True).get(pk=actor.project_id)
    if Webhook.objects.filter(project_id=actor.project_id).count() >= MOST:
        raise Refused(f"A project has at most {MOST} webhooks; delete one that is no longer used.")
    secret = PREFIX + secrets.token_urlsafe(32)
    hook = Webhook.objects.create(
        project_id=actor.project_id,
        member_id=actor.member_id,
        url=url,
        events=[each.value for each in Event if each in events],
        secret=secret,
    )
    # The host alone: paths of such addresses are often secrets themselves, and the log can't be changed.
    data = {"before": None, "after": {"host": server.host, "events": hook.events}}
    _record(actor, "webhook:added", hook, data)
    return NewHook(hook, secret)


@transaction.atomic
def pause(*, actor: Actor, hook_id: int) -> None:
    """Tell it nothing until `resume`; what waits is given up. Raises NotAllowed, NoSuchHook."""
    hook = _locked(actor, hook_id)
    if hook.active:
        stop(hook, "")
        _record(actor, "webhook:paused", hook, {"before": {"active": True}, "after": {"active": False}})


@transaction.atomic
def resume(*, actor: Actor, hook_id: int) -> None:
    """Tell it of what happens from now on. Raises NotAllowed, NoSuchHook."""
    hook = _locked(actor, hook_id)
    if not hook.active:
        hook.active, hook.paused_because, hook.failures = True, "", 0
        hook.failing_since = hook.retry_at = None
        hook.save(update_fields=["active", "paused_because", "failures", "failing_since", "retry_at"])
        _record(actor, "webhook:resumed", hook, {"before": {"active": False}, "after": {"active": True}})


@transaction.atomic
def ping(*, actor: Actor, hook_id: int) -> WebhookDelivery:
    """Send it a message that says nothing, paused or not. Raises NotAllowed, NoSuchHook."""
    hook = _locked(actor, hook_id)
    _record(actor, "webhook:pinged", hook, {})
    return _queue(hook, PING, {})


@transaction.atomic
def delete(*, actor: Actor, hook_id: int) -> None:
    """Forget it, with all that was sent. Raises NotAllowed, NoSuchHook."""
    hook = _locked(actor, hook_id)
    drop(kind=JOB, subject_prefix=subject_of(hook.pk), running=True)
    data = {"before": {"host": host_of(hook.url), "events": hook.events}, "after": None}
    _record(actor, "webhook:deleted", hook, data)
    hook.delete()


def stop(hook: Webhook, because: str) -> None:
    """Pause a locked webhook and give up what waits; ``because`` where the program does it."""
    hook.active, hook.paused_because, hook.retry_at = False, because[:300], None
    hook.save(update_fields=["active", "paused_because", "retry_at"])
    drop(kind=JOB, subject_prefix=subject_of(hook.pk))
    waiting = WebhookDelivery.objects.filter(webhook=hook, state=WebhookDelivery.State.QUEUED)
    waiting.filter(error="").update(error="The webhook was paused before this was sent.")
    waiting.update(state=WebhookDelivery.State.FAILED)


def subject_of(hook_id: int) -> str:
    """What the subjects of its jobs begin with."""
    return f"hook {hook_id} "


def host_of(url: str) -> str:
    """The host and port of an address that was taken once, whatever the list says now."""
    return url.split("/")[2] if url.count("/") >= 2 else ""


def _queue(hook: Webhook, event: str, data: Mapping[str, Any]) -> WebhookDelivery:
    made = WebhookDelivery.objects.create(webhook=hook, event=event, payload=dict(data))
    enqueue(
        kind=JOB,
        subject=f"{subject_of(hook.pk)}delivery {made.pk}",
        queue=QUEUE,
        project_id=hook.project_id,
        payload={"delivery": made.pk},
    )
    return made


def _locked(actor: Actor, hook_id: int) -> Webhook:
    access.require(actor, Verb.MANAGE)
    hook = Webhook.objects.select_for_update().filter(pk=hook_id, project_id=actor.project_id).first()
    if hook is None:
        raise NoSuchHook("There is no such webhook; perhaps somebody deleted it.")
    return hook


def _record(actor: Actor, event: str, hook: Webhook, data: Mapping[str, Any]) -> None:
    AuditEvent.objects.record(
        event, f"webhook {hook.pk}", project_id=actor.project_id, member_id=actor.member_id, data=data
    )
