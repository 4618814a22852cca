"""What webhooks are told arrives, signed; and what happens where the address is slow, dead, broken or elsewhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db.models.functions import Now
from django.utils import timezone

from annotator import jobs, tasks
from annotator.actions import deliveries, hooks
from annotator.core.signing import is_genuine
from annotator.models import Alert, AuditEvent, Job, Project, Role, Webhook, WebhookDelivery
from tests import factories as make
from tests.scorers.stub import Stub

pytestmark = pytest.mark.django_db
DATA = {"annotation": 7, "annotator": "A1"}


@pytest.fixture(scope="module")
def _servers() -> Iterator[list[Stub]]:
    """The one that is running; a test that leaves it busy makes the next start another."""
    running: list[Stub] = []
    yield running
    for server in running:
        server.kill()


@pytest.fixture
def stub(_servers: list[Stub], settings: Any, monkeypatch: pytest.MonkeyPatch) -> Stub:
    """A server of our own that is on the list, and little patience."""
    if _servers and not _servers[0].is_as_new():
        _servers.pop().kill()
    if not _servers:
        _servers.append(Stub())
    settings.WEBHOOK_HOSTS = list(_servers[0].hosts)
    limits = dataclasses.replace(deliveries.LIMITS, seconds=0.5, connect_seconds=0.5)
    monkeypatch.setattr(deliveries, "LIMITS", limits)
    return _servers[0]


@pytest.fixture
def project() -> Project:
    return make.project(slug="maths")


def hook_to(project: Project, url: str) -> Webhook:
    return hooks.add(actor=make.actor(project, Role.MANAGER), url=url, events=list(hooks.Event)).hook


@pytest.fixture
def hook(project: Project, stub: Stub) -> Webhook:
    return hook_to(project, f"{stub.url}/hook")


def announce(hook: Webhook) -> WebhookDelivery:
    hooks.announce(project_id=hook.project_id, event=hooks.Event.SUBMITTED, data=DATA)
    return hook.deliveries.get()


def work(*, due: bool = False) -> int:
    """Run what is due; ``due``: what was put off is due now. Returns how many jobs ran."""
    if due:
        Webhook.objects.update(retry_at=None)
        Job.objects.update(due_at=Now())
    ran = 0
    while (job := jobs.claim("remote")) is not None:
        tasks.run(job)
        ran += 1
    return ran


def test_a_message_arrives_signed_with_its_event_and_its_id(hook: Webhook, stub: Stub) -> None:
    made = announce(hook)
    work()

    (seen,) = stub.seen("/hook")
    headers, body = {name.lower(): value for name, value in seen["headers"].items()}, seen["body"]
    assert body == {
        "id": str(made.pk),
        "event": "annotation:submitted",
        "project": "maths",
        "at": made.created_at.isoformat(timespec="seconds"),
        "data": DATA,
    }
    at = int(headers["stepmark-timestamp"])
    given = headers["stepmark-signature"].removeprefix("sha256=")
    assert is_genuine(hook.secret, at, orjson.dumps(body), given, now=at)
    assert not is_genuine("another", at, orjson.dumps(body), given, now=at)
    assert (headers["stepmark-event"], headers["stepmark-delivery"]) == (made.event, str(made.pk))
    made.refresh_from_db()
    assert (made.state, made.status, made.attempts, made.error) == ("delivered", 200, 1, "")


@pytest.mark.parametrize(
    ("fault", "more", "status", "said"),
    [
        ("status", {"status": 500}, 500, "The server failed (status 500)."),
        ("status", {"status": 403}, 403, "The server refused the message (status 403)."),
        ("redirect", {"to": "http://169.254.169.254/"}, 302, "redirects are not followed"),
        ("slow", {"seconds": 1.5}, None, "There was no answer within 0.5 seconds."),
        ("drop", {}, None, "The connection failed"),
        ("no_http", {}, None, "The server does not answer in HTTP"),
    ],
)
def test_what_is_not_taken_is_told_in_words_and_tried_again(
    hook: Webhook, stub: Stub, fault: str, more: dict[str, Any], status: int | None, said: str
) -> None:
    stub.tell(fault, times=1, **more)
    made = announce(hook)
    work()

    made.refresh_from_db(), hook.refresh_from_db()
    assert (made.state, made.status, made.attempts) == ("queued", status, 1)
    assert said in made.error
    assert (hook.failures, hook.retry_at is None) == (1, False)
    assert work() == 0, "it waits"
    work(due=True)
    made.refresh_from_db(), hook.refresh_from_db()
    assert (made.state, made.attempts, hook.failures, hook.retry_at) == ("delivered", 2, 0, None)
    assert len({each["body"]["id"] for each in stub.seen("/hook")}) == 1


def test_a_dead_address_is_told_in_words(project: Project, stub: Stub, settings: Any) -> None:
    settings.WEBHOOK_HOSTS = ["127.0.0.1:9"]
    made = announce(hook_to(project, "http://127.0.0.1:9/hook"))
    work()
    made.refresh_from_db()
    assert (made.status, made.error) == (None, "The connection failed: connection refused.")


def test_an_answer_that_is_too_long_was_still_an_answer(hook: Webhook, stub: Stub) -> None:
    stub.tell("declared_huge", times=1)
    made = announce(hook)
    work()
    made.refresh_from_db()
    assert made.state == "delivered"


def test_a_name_that_leads_to_a_private_address_is_refused_where_it_is_connected_to(
    project: Project, stub: Stub, settings: Any
) -> None:
    settings.WEBHOOK_HOSTS = [f"*.example:{stub.port}"]
    made = announce(hook_to(project, f"http://hooks.example:{stub.port}/hook"))
    job = jobs.claim("remote")
    assert job is not None
    deliveries.deliver(job=job, resolver=lambda _host, _port: ["127.0.0.1"])
    made.refresh_from_db()
    assert "private address 127.0.0.1" in made.error
    assert "STEPMARK_WEBHOOK_HOSTS" in made.error
    assert stub.seen("/hook") == []


def test_a_host_that_is_no_longer_listed_gets_nothing(hook: Webhook, stub: Stub, settings: Any) -> None:
    settings.WEBHOOK_HOSTS = []
    made = announce(hook)
    work()
    made.refresh_from_db()
    assert "not among the hosts" in made.error
    assert stub.seen("/hook") == []


def test_where_one_message_failed_others_wait_untried(hook: Webhook, stub: Stub) -> None:
    stub.tell("status", status=500)
    for _ in range(5):
        hooks.announce(project_id=hook.project_id, event=hooks.Event.SUBMITTED, data=DATA)
    work()
    assert len(stub.seen("/hook")) == 1
    assert hook.deliveries.filter(state="queued").count() == 5


def test_once_it_answers_again_all_that_waited_is_sent(hook: Webhook, stub: Stub) -> None:
    stub.tell("status", status=500, times=1)
    for _ in range(3):
        hooks.announce(project_id=hook.project_id, event=hooks.Event.SUBMITTED, data=DATA)
    work()
    Webhook.objects.update(retry_at=None)
    Job.objects.filter(pk=Job.objects.order_by("pk").values_list("pk", flat=True)[0]).update(due_at=Now())
    work()
    assert hook.deliveries.filter(state="delivered").count() == 3


def test_a_message_that_is_refused_again_and_again_is_given_up(hook: Webhook, stub: Stub) -> None:
    stub.tell("status", status=422)
    made = announce(hook)
    for _ in range(deliveries.MAX_ATTEMPTS + 2):
        work(due=True)
    made.refresh_from_db(), hook.refresh_from_db()
    assert (made.state, made.attempts, hook.active) == ("failed", deliveries.MAX_ATTEMPTS, True)
    assert not Job.objects.exists()


def test_an_address_that_is_dead_for_days_is_paused_with_an_alert(hook: Webhook, stub: Stub) -> None:
    stub.tell("status", status=500)
    made = announce(hook)
    hooks.announce(project_id=hook.project_id, event=hooks.Event.PAUSED, data={"member": "A1"})
    since = timezone.now() - deliveries.DEAD_AFTER - timedelta(hours=1)
    Webhook.objects.update(failing_since=since, failures=7)
    work()
    hook.refresh_from_db(), made.refresh_from_db()
    assert (hook.active, "has taken nothing since" in hook.paused_because) == (False, True)
    assert set(hook.deliveries.values_list("state", flat=True)) == {"failed"}
    assert "status 500" in made.error
    assert Alert.objects.filter(kind="webhook_paused", closed_at=None).count() == 1
    assert AuditEvent.objects.filter(name="webhook:paused", member_id=None).count() == 1
    assert work(due=True) == 0


def test_an_address_that_is_gone_for_good_is_paused_at_once(hook: Webhook, stub: Stub) -> None:
    stub.tell("status", status=410)
    announce(hook)
    work()
    hook.refresh_from_db()
    assert not hook.active


def test_a_ping_is_tried_once_even_while_paused(hook: Webhook, stub: Stub) -> None:
    actor = make.actor(hook.project, Role.MANAGER)
    hooks.pause(actor=actor, hook_id=hook.pk)
    stub.tell("status", status=500, times=1)
    for state in ("failed", "delivered"):
        made = hooks.ping(actor=actor, hook_id=hook.pk)
        work()
        made.refresh_from_db()
        assert made.state == state
    assert [each["body"]["event"] for each in stub.seen("/hook")] == ["ping", "ping"]


def test_a_worker_that_died_after_sending_sends_again_under_the_same_id(hook: Webhook, stub: Stub) -> None:
    made = announce(hook)
    deliveries.send(made)  # and died before it noted that
    work()
    assert [each["body"]["id"] for each in stub.seen("/hook")] == [str(made.pk)] * 2


def test_what_was_taken_a_month_ago_is_forgotten(hook: Webhook, stub: Stub) -> None:
    old = announce(hook)
    work()
    WebhookDelivery.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=31))
    hook.failures = 1
    hook.save()
    hooks.announce(project_id=hook.project_id, event=hooks.Event.SUBMITTED, data=DATA)
    work()
    assert not WebhookDelivery.objects.filter(pk=old.pk).exists()
