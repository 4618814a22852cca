"""The page of webhooks: for managers, the secret once, and every failure in words."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.models import Project, Webhook, WebhookDelivery
from annotator.queries.hooks import overview
from tests.web.conftest import People

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/webhooks/"
NEW = {"url": "https://ci.example.org/x", "events": ["member:paused"]}


@pytest.fixture(autouse=True)
def _listed(settings: Any) -> None:
    settings.WEBHOOK_HOSTS = ["ci.example.org"]


@pytest.fixture
def hook(project: Project) -> Webhook:
    return Webhook.objects.create(
        project=project, url=NEW["url"], events=["member:paused"], secret="whsec_hidden"
    )


@pytest.mark.parametrize("path", ["", "live"])
def test_it_is_for_managers(people: People, path: str) -> None:
    asked = [people.manager, people.annotator, people.stranger, people.nobody]
    assert [each.get(PAGE + path).status_code for each in asked] == [200, 403, 404, 302]


def test_a_new_secret_is_shown_once(people: People) -> None:
    secret = people.manager.post(PAGE, NEW).context["made"].secret
    assert secret == Webhook.objects.get().secret
    assert secret not in people.manager.get(PAGE).content.decode()


def test_what_is_refused_says_why_and_keeps_what_was_typed(people: People) -> None:
    reply = people.manager.post(PAGE, {**NEW, "url": "https://elsewhere.example/"})
    assert (reply.status_code, reply.context["url"]) == (422, "https://elsewhere.example/")
    assert "STEPMARK_WEBHOOK_HOSTS" in reply.content.decode()
    assert not Webhook.objects.exists()


def test_without_a_list_the_page_says_whom_to_ask(people: People, settings: Any) -> None:
    settings.WEBHOOK_HOSTS = []
    assert "allows no host yet" in people.manager.get(PAGE).content.decode()


@pytest.mark.parametrize("what", ["ping", "pause", "resume", "delete"])
def test_each_button_is_for_managers(people: People, hook: Webhook, what: str) -> None:
    path = f"{PAGE}{hook.pk}/{what}"
    asked = [people.annotator, people.stranger, people.nobody, people.manager]
    assert [each.post(path).status_code for each in asked] == [403, 404, 302, 302]
    assert people.manager.get(path).status_code == 405


def test_buttons_do_what_they_say(people: People, hook: Webhook) -> None:
    people.manager.post(f"{PAGE}{hook.pk}/pause")
    assert not Webhook.objects.get().active
    people.manager.post(f"{PAGE}{hook.pk}/resume")
    assert Webhook.objects.get().active
    people.manager.post(f"{PAGE}{hook.pk}/ping")
    assert people.manager.get(PAGE).context["overview"].busy
    people.manager.post(f"{PAGE}{hook.pk}/delete")
    assert not Webhook.objects.exists()
    assert people.manager.post(f"{PAGE}{hook.pk}/ping").status_code == 404


def test_a_failure_stands_there_in_words_and_the_secret_does_not(people: People, hook: Webhook) -> None:
    WebhookDelivery.objects.create(
        webhook=hook,
        event="member:paused",
        state="failed",
        attempts=8,
        status=500,
        error="The server failed (status 500).",
    )
    page = people.manager.get(PAGE).content.decode()
    assert "The server failed (status 500)." in page
    assert "whsec_hidden" not in page


def test_many_messages_take_as_many_queries_as_few(
    project: Project,
    hook: Webhook,
    django_assert_num_queries,  # type: ignore[no-untyped-def]
) -> None:
    for _ in range(3):
        Webhook.objects.create(project=project, url=NEW["url"], events=[], secret="s")
    for each in Webhook.objects.all():
        rows = [WebhookDelivery(webhook=each, event="ping") for _ in range(30)]
        WebhookDelivery.objects.bulk_create(rows)
    with django_assert_num_queries(2):
        found = overview(project.pk)
    assert [len(each.deliveries) for each in found.hooks] == [20] * 4
