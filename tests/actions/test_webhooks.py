"""Who is told of what: events are announced with the change they belong to, and say no more than they may."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from django.db import transaction

from annotator.actions import adjudication, consensus, hooks, labeling, standing
from annotator.actions.access import Actor, NotAllowed
from annotator.actions.adjudication import Decision
from annotator.actions.hooks import Event, Refused
from annotator.core.screening import Override
from annotator.models import AdjudicationCase, AuditEvent, Job, Project, Role, Webhook, WebhookDelivery
from tests import factories as make
from tests.actions.flow import claim, label, run_jobs

pytestmark = pytest.mark.django_db
URL = "https://ci.example.org/stepmark"


@pytest.fixture
def project() -> Project:
    return make.project(slug="maths")


@pytest.fixture
def manager(project: Project, settings: Any) -> Actor:
    settings.WEBHOOK_HOSTS = ["ci.example.org", "*.hooks.example"]
    return make.actor(project, Role.MANAGER)


@pytest.fixture
def hook(manager: Actor) -> Webhook:
    return hooks.add(actor=manager, url=URL, events=list(Event)).hook


def told(event: Event) -> list[dict[str, Any]]:
    rows = WebhookDelivery.objects.filter(event=event.value).order_by("pk")
    return list(rows.values_list("payload", flat=True))


def test_who_hands_in_labels_is_told_under_a_pseudonym(hook: Webhook, project: Project) -> None:
    row, me = make.work(project), make.member(project)
    label(make.as_actor(me), 1, -1, None, details={"comments": {"1": "zebra"}})
    (said,) = told(Event.SUBMITTED)
    assert said == {
        "annotation": said["annotation"],
        "solution": row.solution.external_id,
        "annotator": me.pseudonym,
        "version": 1,
    }


def test_gold_is_told_like_work_and_never_as_gold(hook: Webhook, project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(gold_rate=1.0, gold_rate_start=1.0)
    make.gold(project), make.work(project)
    me = make.actor(project)
    label(me, 1, -1, None), label(me, 1, -1, None)
    said = told(Event.SUBMITTED)
    assert len(said) == 2
    assert said[0].keys() == said[1].keys()
    for text in map(str, map(orjson.dumps, WebhookDelivery.objects.values_list("payload", flat=True))):
        assert not re.search(r"gold|exam|repeat|purpose|label|stop|right", text)


def test_a_solution_is_told_once_it_has_all_its_labels_and_they_agree(
    hook: Webhook, project: Project
) -> None:
    row = make.work(project, wanted=2)
    label(make.actor(project), 1, -1, None)
    assert told(Event.COMPLETED) == []
    label(make.actor(project), 1, -1, None)
    complete = {"solution": row.solution.external_id, "people": 2, "by": "consensus"}
    assert told(Event.COMPLETED) == [complete]
    run_jobs()
    label_again(row.pk)
    assert told(Event.COMPLETED) == [complete]


def label_again(solution_id: int) -> None:
    """The consensus is computed once more, as after any job that ran twice."""
    consensus.update(solution_id=solution_id)


def test_where_people_differ_a_solution_is_told_once_a_reviewer_has_decided(
    hook: Webhook, project: Project
) -> None:
    row = make.work(project, wanted=2)
    label(make.actor(project), 1, -1, None), label(make.actor(project), 1, 1, 1)
    assert told(Event.COMPLETED) == []
    reviewer = make.actor(project, Role.REVIEWER)
    case = AdjudicationCase.objects.create(solution_id=row.pk, project=project, reason="tie")
    adjudication.take(actor=reviewer, case_id=case.pk)
    adjudication.decide(actor=reviewer, case_id=case.pk, decision=Decision([1, 1, 1], "Because."))
    assert [each["by"] for each in told(Event.COMPLETED)] == ["adjudication"]


def test_a_pause_is_told_under_a_pseudonym(hook: Webhook, manager: Actor, project: Project) -> None:
    other = make.member(project)
    standing.override(actor=manager, member_id=other.pk, word=Override.PAUSE, reason="ill")
    assert told(Event.PAUSED) == [{"member": other.pseudonym, "by": "manager"}]


def test_what_is_rolled_back_is_told_to_nobody(hook: Webhook, project: Project) -> None:
    class Broken(Exception):
        pass

    make.work(project)
    me = make.actor(project)
    assignment = claim(me)

    def submit() -> None:
        with transaction.atomic():
            labeling.submit(actor=me, assignment_id=assignment.pk, work=make.marked(1, 1, 1))
            raise Broken

    with pytest.raises(Broken):
        submit()
    assert not WebhookDelivery.objects.exists()
    assert not Job.objects.filter(kind=hooks.JOB).exists()


def test_only_those_who_asked_for_an_event_are_told(hook: Webhook, manager: Actor, project: Project) -> None:
    hooks.add(actor=manager, url=URL, events=[Event.PAUSED])
    elsewhere = make.project()
    hooks.add(actor=make.actor(elsewhere, Role.MANAGER), url=URL, events=list(Event))
    hooks.announce(project_id=project.pk, event=Event.SUBMITTED, data={})
    assert [each.webhook_id for each in WebhookDelivery.objects.all()] == [hook.pk]


def test_what_waits_for_a_paused_address_is_given_up_and_nothing_new_is_told(
    hook: Webhook, manager: Actor, project: Project
) -> None:
    hooks.announce(project_id=project.pk, event=Event.SUBMITTED, data={})
    hooks.pause(actor=manager, hook_id=hook.pk)
    hooks.announce(project_id=project.pk, event=Event.SUBMITTED, data={})
    (only,) = WebhookDelivery.objects.all()
    assert (only.state, "paused" in only.error) == ("failed", True)
    assert not Job.objects.filter(kind=hooks.JOB).exists()
    hooks.resume(actor=manager, hook_id=hook.pk)
    hooks.announce(project_id=project.pk, event=Event.SUBMITTED, data={})
    assert WebhookDelivery.objects.filter(state="queued").count() == 1


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (
            "https://elsewhere.example/",
            "allows for webhooks. Ask its operator to add it to STEPMARK_WEBHOOK_HOSTS",
        ),
        ("https://ci.example.org:8443/", "not among the hosts"),
        ("ftp://ci.example.org/", "must start with http"),
        ("https://u:p@ci.example.org/", "no password"),
        ("https://ci.example.org/?token=1", "no \\? or #"),
        ("https://ci.example.org/a\nHost: x", "percent-encoded|not a URL|not among"),
        ("https://ci.example.org/a b", "percent-encoded"),
        ("https://169.254.169.254/", "not among the hosts"),
        ("https://ci.example.org/" + "x" * 500, "at most 500"),
    ],
)
def test_an_address_that_may_not_be_is_refused_with_the_reason(manager: Actor, url: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        hooks.add(actor=manager, url=url, events=[Event.PAUSED])


@pytest.mark.parametrize("events", [[], ["annotation:read"]])
def test_a_webhook_is_told_of_something_that_exists(manager: Actor, events: list[str]) -> None:
    with pytest.raises(Refused, match="Choose what"):
        hooks.add(actor=manager, url=URL, events=events)


def test_a_path_is_kept_as_it_is(manager: Actor) -> None:
    assert str(hooks.address("https://ci.example.org/hooks/v1/")) == "https://ci.example.org:443/hooks/v1/"


def test_only_managers_have_webhooks(hook: Webhook, project: Project) -> None:
    for role in (Role.ANNOTATOR, Role.REVIEWER):
        with pytest.raises(NotAllowed):
            hooks.add(actor=make.actor(project, role), url=URL, events=[Event.PAUSED])


def test_a_webhook_of_another_project_can_not_be_touched(hook: Webhook) -> None:
    stranger = make.actor(make.project(), Role.MANAGER)
    for verb in (hooks.ping, hooks.pause, hooks.resume, hooks.delete):
        with pytest.raises(hooks.NoSuchHook):
            verb(actor=stranger, hook_id=hook.pk)


def test_the_log_names_the_host_alone_since_paths_are_often_secrets(hook: Webhook, manager: Actor) -> None:
    hooks.delete(actor=manager, hook_id=hook.pk)
    data = [str(each.data) for each in AuditEvent.objects.filter(name__startswith="webhook:")]
    assert len(data) == 2
    assert not [each for each in data if "/stepmark" in each or hook.secret in each]
