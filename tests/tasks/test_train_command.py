"""train_scorer: asking the workers, waiting for them, and saying what came of it."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from annotator import jobs, tasks
from annotator.management.commands import train_scorer
from annotator.models import Job, Project, Scorer
from annotator.scorers import trainers
from tests import factories as make
from tests.actions.lessons import pool
from tests.brokers import DEAD, broker_at
from tests.tasks.commands import CHECK_FAILED, DONE, UNUSABLE, Ended

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(slug="algebra")


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Does the work while the command sleeps."""

    def works(_seconds: float) -> None:
        job = jobs.claim("training")
        if job is not None:
            tasks.run(job)

    monkeypatch.setattr(trainers, "FOLDS", 2)
    monkeypatch.setattr(train_scorer, "time", SimpleNamespace(sleep=works, monotonic=time.monotonic))


def train(*arguments: object) -> Ended:
    return Ended("train_scorer", "--project", "algebra", *arguments)


def test_it_waits_and_tells_the_version_its_figures_and_the_decision(project: Project, worker: None) -> None:
    pool(project, 30, holdout=2)
    ended = train("--wait", "--json")
    told = ended.json
    assert ended.status == DONE, ended.out
    assert (told["scorer"], told["solutions"], told["sources"]) == ("builtin", 30, {"human": 30})
    assert told["version"] == Scorer.objects.get().versions.get(status="challenger").version
    assert told["processbench_f1"]["value"] > 0.9
    assert told["decision"]["answer"] == "not enough evidence"
    assert told["said"].startswith("There is not enough evidence. The holdout has 2 labelled solutions")
    assert told["threshold_from"] == "out-of-bag values of its training labels"


def test_with_too_few_labels_it_ends_with_status_1_and_says_so(project: Project, worker: None) -> None:
    ended = train("--wait", "--json")
    assert (ended.status, ended.json["state"], ended.json["version"]) == (CHECK_FAILED, "nothing", "")
    assert ended.json["said"].startswith("There are 0 labelled solutions")


def test_it_does_not_wait_unless_told(project: Project) -> None:
    ended = train("--json")
    assert (ended.status, ended.json["state"]) == (DONE, "waiting")
    assert Job.objects.get().kind == "training.run"
    again = train()
    assert (again.status, "on already" in again.err) == (UNUSABLE, True)


def test_without_a_broker_it_ends_soon_and_says_why(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_scorer, "PATIENCE", 1.0)
    with broker_at(DEAD):
        ended = train("--wait")
    assert (ended.status, "No worker answers" in ended.err) == (CHECK_FAILED, True)


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        ({}, ["--scorer", "none"], "no scorer 'none'"),
        ({"kind": "vllm"}, [], "no scorer that can be trained here"),
        ({"kind": "vllm"}, ["--scorer", "builtin"], "not trained here"),
        ({"paused": True}, [], "paused"),
    ],
)
def test_what_cannot_be_trained_ends_with_status_2(
    project: Project, change: dict[str, object], arguments: list[str], says: str
) -> None:
    Scorer.objects.update(**change)
    ended = train(*arguments)
    assert (ended.status, says in ended.err) == (UNUSABLE, True)


def test_one_of_several_must_be_named(project: Project) -> None:
    Scorer.objects.create(project=project, name="second", kind="builtin", ranks=False)
    assert "builtin, second" in train().err
    assert train("--scorer", "second").status == DONE
