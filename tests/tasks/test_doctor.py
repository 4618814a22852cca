"""The command that looks whether everything works."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any
from unittest.mock import MagicMock

import pytest
from django.db import DatabaseError, connection
from django.utils import timezone

from annotator import jobs
from annotator.models import Job, Project, Scorer
from annotator.queries import checkup
from annotator.queries.checkup import State
from tests import factories as make
from tests.tasks.commands import CHECK_FAILED, DONE, Ended

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def well(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any) -> None:
    """All is well, however full this machine's disk is."""
    monkeypatch.setattr(jobs, "queues_served", lambda **_: Counter({"default": 1, "scoring": 2}))
    monkeypatch.setattr(checkup, "LITTLE_SPACE", 0)
    settings.STEPMARK_UPLOADS = tmp_path / "uploads"


@pytest.fixture
def project() -> Project:
    return make.project(slug="maths")


def failing() -> dict[str, str]:
    """Checks that are not ok: name → state; each says what to do."""
    found = [check for check in checkup.checks() if check.state is not State.OK]
    assert all(check.do for check in found)
    return {check.name: check.state.value for check in found if not check.name.startswith("settings")}


def test_all_is_well(project: Project) -> None:
    ended = Ended("doctor", "--json")
    assert (ended.status, ended.json["ok"], ended.json["failed"]) == (DONE, True, [])
    assert {"name", "state", "says", "do"} == set(ended.json["checks"][0])
    assert failing() == {}


def test_a_failed_check_is_exit_status_1_and_says_what_to_do(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "queues_served", lambda **_: None)
    ended = Ended("doctor")
    assert ended.status == CHECK_FAILED
    assert "FAILED broker: " in ended.out
    assert "→ Start Redis" in ended.out


def test_a_queue_that_no_worker_takes_is_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "queues_served", lambda **_: Counter({"default": 1}))
    assert failing() == {"workers: scoring": "failed"}


def test_a_scorer_in_trouble_is_named_with_its_last_error(project: Project) -> None:
    Scorer.objects.update(circuit={"state": "open", "error": "HTTP 500"})
    (found,) = [check for check in checkup.checks() if check.state is State.FAILED]
    assert (found.name, "HTTP 500" in found.says) == ("scorer: maths/builtin", True)


def test_jobs_that_were_given_up_or_are_late_are_told(project: Project) -> None:
    Job.objects.create(kind="k", subject="a", due_at=timezone.now() - timedelta(hours=1))
    assert failing() == {"jobs": "warn"}
    Job.objects.update(state="failed", error="no disk")
    assert failing() == {"jobs": "warn"}


def test_a_full_disk_and_an_upload_folder_that_is_closed_are_told(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkup, "LITTLE_SPACE", 2**70)
    monkeypatch.setattr(checkup, "NO_SPACE", 2**70)
    monkeypatch.setattr("os.access", lambda *_: False)
    assert failing() == {
        "disk: uploads": "failed",
        "disk: temporary files": "failed",
        "upload folder": "failed",
    }


def test_tables_that_are_behind_are_told(project: Project) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'annotator' AND name >= '0010'")
    assert "migrations" in failing()


def test_a_database_that_is_gone_is_told_and_the_rest_looked_at(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> Any:
        raise DatabaseError("connection refused")

    monkeypatch.setattr(connection, "cursor", refuse)
    found = {check.name: check.state for check in checkup.checks()}
    assert found["database"] is State.FAILED
    assert "upload folder" in found
    assert "migrations" not in found


def test_in_production_a_lax_setting_fails(project: Project, settings: Any) -> None:
    settings.PRODUCTION, settings.HTTPS, settings.ALLOWED_HOSTS = True, False, ["*"]
    failed = [check.name for check in checkup.checks() if check.state is State.FAILED]
    assert {"settings: HTTPS", "settings: hosts"} <= set(failed)


def test_workers_that_no_broker_carries_to_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("celery.current_app.connection_for_write", _dead)
        assert jobs.queues_served(timeout=0.1) is None


def test_workers_of_the_same_name_each_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    told = [
        {"celery@here": [{"name": name} for name in names]} for names in (("default", "scoring"), ("lm",))
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("celery.current_app.connection_for_write", MagicMock())
        patch.setattr("celery.current_app.control.broadcast", lambda *_, **__: told)
        assert jobs.queues_served(timeout=0.1) == Counter(default=1, scoring=1, lm=1)


def _dead(*_: Any, **__: Any) -> Any:
    raise OSError("refused")
