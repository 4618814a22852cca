"""What production refuses: another's key, the demo's passwords, people whom nobody invited."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from annotator.config import settings as module
from tests.tasks.commands import UNUSABLE, Ended


@pytest.mark.parametrize(("key", "said"), [("", "Set SECRET_KEY"), ("a" * 31, "too short to be safe")])
def test_production_does_not_start_without_a_key_of_its_own(
    monkeypatch: pytest.MonkeyPatch, key: str, said: str
) -> None:
    monkeypatch.setenv("STEPMARK_ENV", "production")
    monkeypatch.setenv("SECRET_KEY", key)
    with pytest.raises(ImproperlyConfigured, match=said):
        runpy.run_path(str(Path(module.__file__)))


def test_every_thread_of_a_web_process_can_send_an_export_and_read_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STEPMARK_DB_POOL", "1")
    guide = (Path(__file__).parents[2] / "docs" / "operators.md").read_text()
    threads = max(map(int, re.findall(r"--threads (\d+)", guide)))

    pool = runpy.run_path(str(Path(module.__file__)))["DATABASES"]["default"]["OPTIONS"]["pool"]
    assert pool["max_size"] >= 2 * threads


def test_the_demo_with_its_known_passwords_is_refused_in_production(settings: Any) -> None:
    settings.PRODUCTION = True
    ended = Ended("seed_demo")
    assert (ended.status, "known passwords" in ended.err) == (UNUSABLE, True)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["signup/", "accounts/signup/", "register/", "api/v1/users", "join/", "join/x/"]
)
def test_nobody_makes_an_account_without_an_invitation(path: str) -> None:
    sent = {"username": "mallory", "password": "correct horse battery", "name": "mallory"}
    assert Client().post(f"/{path}", sent).status_code in (404, 410)
    assert not User.objects.exists()
