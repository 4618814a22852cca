"""The page of one's own tokens."""

from __future__ import annotations

import pytest
from django.test import Client

from annotator.actions import tokens
from annotator.models import ApiToken
from tests import factories as make
from tests.web.conftest import People, browser

pytestmark = pytest.mark.django_db
PAGE = "/tokens/"
NEW = {"name": "nightly", "scopes": ["read", "export"], "days": "30"}


def test_it_is_for_whoever_is_signed_in(people: People) -> None:
    assert people.stranger.get(PAGE).status_code == 200
    assert people.nobody.get(PAGE).status_code == 302


def test_a_new_token_is_shown_once_and_works(people: People) -> None:
    secret = people.annotator.post(PAGE, NEW).context["made"].secret
    assert tokens.authenticate(secret).scopes == ["read", "export"]
    assert secret not in people.annotator.get(PAGE).content.decode()


@pytest.mark.parametrize("wrong", [{"name": ""}, {"scopes": []}, {"days": "soon"}, {"days": "0"}])
def test_what_is_missing_is_said_and_what_was_typed_stays(people: People, wrong: dict[str, object]) -> None:
    reply = people.annotator.post(PAGE, {**NEW, "name": "keep me", **wrong})
    assert reply.status_code == 422
    assert reply.context["error"]
    assert reply.context["name"] == wrong.get("name", "keep me")
    assert not ApiToken.objects.exists()


def test_only_ones_own_are_listed_and_revoked() -> None:
    me, other = make.user(), make.user()
    mine = tokens.make(user_id=me.pk, name="mine", scopes=["read"]).token
    theirs = tokens.make(user_id=other.pk, name="theirs", scopes=["read"]).token
    client: Client = browser(me)
    assert [row.name for row in client.get(PAGE).context["tokens"]] == ["mine"]
    for token in (mine, theirs):
        client.post(f"{PAGE}{token.pk}/revoke")
    mine.refresh_from_db(), theirs.refresh_from_db()
    assert (mine.revoked_at is None, theirs.revoked_at is None) == (False, True)
