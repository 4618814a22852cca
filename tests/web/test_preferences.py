"""How a person wants the pages: saved as JSON, on <html> before the first paint."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from annotator.core.preferences import DEFAULT_KEYS
from annotator.models import Preferences
from annotator.web.context import COMMANDS
from tests import factories as make
from tests.web.conftest import People, browser

pytestmark = pytest.mark.django_db
URL = "/preferences"


def save(client: Client, changes: Any) -> Any:
    return client.post(URL, json.dumps(changes), content_type="application/json")


def test_what_is_saved_is_merged_into_what_was_there(people: People) -> None:
    save(people.annotator, {"theme": "dark"})
    reply = save(people.annotator, {"size": "large"})
    assert reply.json() == {"theme": "dark", "size": "large"}


def test_the_next_page_carries_it_for_the_first_paint(people: People) -> None:
    save(people.annotator, {"theme": "dark", "contrast": "high", "size": "larger", "key_hints": False})
    page = people.annotator.get("/").content.decode()
    first_line = page[: page.index("<head>")]
    for name in ('data-theme="dark"', 'data-contrast="high"', 'data-size="larger"', 'data-key-hints="off"'):
        assert name in first_line
    assert page.index("theme.js") < page.index("app.css")


def test_the_keys_in_use_stand_on_the_page_as_json(people: People) -> None:
    save(people.annotator, {"keys": {"skip": "w"}})
    row = next(
        row for row in people.annotator.get("/").context["preferences"]["key_rows"] if row.command == "skip"
    )
    assert (row.key, row.default) == ("w", "s")
    assert "&quot;skip&quot;:&quot;w&quot;" in people.annotator.get("/").content.decode()


def test_a_key_for_two_commands_is_refused_in_a_sentence_and_nothing_changes(people: People) -> None:
    save(people.annotator, {"keys": {"skip": "w"}})
    reply = save(people.annotator, {"keys": {"give_up": "1"}})
    assert (reply.status_code, reply.json()["error"]) == (422, "'1' would mean both correct and give up.")
    assert Preferences.objects.get().data == {"keys": {"skip": "w"}}


@pytest.mark.parametrize("body", ["{", "[]", "7", "null", '{"theme": "pink"}', '{"keys": {"skip": "F5"}}'])
def test_what_no_page_would_send_is_refused_in_words(people: People, body: str) -> None:
    reply = people.annotator.post(URL, body, content_type="application/json")
    assert (reply.status_code, bool(reply.json()["error"])) == (422, True)


def test_they_are_a_persons_own(people: People) -> None:
    save(people.annotator, {"theme": "dark"})
    assert 'data-theme="dark"' not in people.manager.get("/").content.decode()


def test_a_signed_out_script_gets_401_and_a_signed_out_page_has_no_panel(people: People) -> None:
    reply = people.nobody.post(
        URL, "{}", content_type="application/json", headers={"X-Requested-With": "fetch"}
    )
    assert reply.status_code == 401
    assert 'id="preferences"' not in people.nobody.get("/sign-in/").content.decode()


def test_without_the_csrf_token_nothing_is_saved() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user(), backend="django.contrib.auth.backends.ModelBackend")
    assert save(client, {"theme": "dark"}).status_code == 403
    assert not Preferences.objects.exists()


@pytest.mark.parametrize("path", ["/", "/help/", "/p/maths/mine/", "/p/maths/practice/", "/p/maths/label/"])
def test_the_panel_is_on_every_page(people: People, path: str) -> None:
    page = people.annotator.get(path).content.decode()
    assert page.count('id="preferences"') == 1
    assert all(f'data-key-for="{command}"' in page for command in DEFAULT_KEYS)


def test_every_command_has_words() -> None:
    assert set(COMMANDS) == set(DEFAULT_KEYS)


def test_a_broken_page_still_knows_how_one_wants_it() -> None:
    user = make.user()
    client = browser(user)
    save(client, {"theme": "dark"})
    reply = client.get("/p/nowhere/label/")
    assert reply.status_code == 404
    assert 'data-theme="dark"' in reply.content.decode()
