"""score_solutions: asking the workers, and knowing when to stop waiting for them."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.db.models.functions import Now

from annotator import jobs
from annotator.actions import scoring
from annotator.actions.access import operator
from annotator.management.commands import score_solutions
from annotator.models import Job, Project, ScoreFailure, Solution
from tests import factories as make
from tests.brokers import DEAD, broker_at
from tests.tasks.commands import CHECK_FAILED, DONE, UNUSABLE, Ended

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(slug="algebra")


def score(*arguments: object) -> Ended:
    return Ended("score_solutions", "--project", "algebra", *arguments)


def test_without_a_worker_score_solutions_ends_soon_and_says_why(project: Project, broker: str) -> None:
    make.solution(project)
    started = time.monotonic()
    ended = score("--wait", "--json")

    assert time.monotonic() - started < 10.0
    assert (ended.status, ended.json["solutions"]) == (CHECK_FAILED, 0)
    assert "No worker answers" in ended.err
    assert Job.objects.filter(queue=scoring.QUEUE, state="queued").exists()


def test_without_a_broker_it_ends_soon_as_well(project: Project) -> None:
    make.solution(project)
    started = time.monotonic()
    with broker_at(DEAD):
        ended = score("--wait", "--json")

    assert time.monotonic() - started < 10.0
    assert (ended.status, "No worker answers" in ended.err) == (CHECK_FAILED, True)


def test_score_solutions_does_not_wait_unless_told(project: Project) -> None:
    make.solution(project)
    ended = score("--json")

    assert (ended.status, ended.json["solutions"]) == (DONE, 0)


@pytest.fixture
def busy_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers answer, but whoever waits for them for long waits for nothing."""
    asked: list[float] = []

    def answer(timeout: float) -> bool:
        asked.append(timeout)
        assert len(asked) < 5, "it would wait for ever"
        return True

    monkeypatch.setattr(score_solutions, "someone_works", answer)
    monkeypatch.setattr(score_solutions, "PATIENCE", 0.1)


def test_score_solutions_gives_up_on_jobs_that_failed_for_good(
    project: Project, monkeypatch: pytest.MonkeyPatch, busy_workers: None
) -> None:
    make.solution(project)
    ask = scoring.request

    def ask_in_vain(**request: Any) -> Any:
        asked = ask(**request)
        Job.objects.filter(kind="queueing.reprioritize").delete()
        Job.objects.update(attempts=jobs.MAX_ATTEMPTS - 1)
        job = jobs.claim(scoring.QUEUE)
        assert job is not None
        jobs.fail(job, "MemoryError: out of memory")
        return asked

    monkeypatch.setattr(scoring, "request", ask_in_vain)
    ended = score("--wait", "--json")

    assert (ended.status, ended.json["solutions"]) == (CHECK_FAILED, 0)
    assert "out of memory" in ended.err


def test_solutions_that_could_not_be_scored_are_a_failed_check(
    project: Project, monkeypatch: pytest.MonkeyPatch, busy_workers: None
) -> None:
    solution = make.solution(project)
    ask = scoring.request

    def ask_and_fail(**request: Any) -> Any:
        (asked,) = ask(**request)
        ScoreFailure.objects.create(solution=solution, version_id=asked.version_id, message="too long")
        Job.objects.all().delete()
        return [asked]

    monkeypatch.setattr(scoring, "request", ask_and_fail)
    ended = score("--wait", "--json")

    assert (ended.status, ended.json["failed"]) == (CHECK_FAILED, 1)


def test_a_solution_that_was_cut_anew_is_not_taken_for_a_scored_one(project: Project) -> None:
    old, _ = make.solution(project), make.solution(project)
    (asked,) = scoring.request(actor=operator(project))
    ScoreFailure.objects.create(solution=old, version_id=asked.version_id, message="too long")
    Solution.objects.filter(pk=old.pk).update(superseded_at=Now())
    Job.objects.all().delete()
    with_one_missing = score_solutions._state(project, asked)

    assert (with_one_missing.failed, with_one_missing.missing) == (0, 1)


def test_a_server_that_does_not_answer_is_told_in_a_sentence(project: Project, settings: Any) -> None:
    settings.SCORER_HOSTS = ["127.0.0.1:9"]
    config = {"url": "http://127.0.0.1:9", "attempts": 1, "timeout": 1.0}
    project.scorers.create(name="judge", kind="vllm", config=config, ranks=False)
    ended = score("--scorer", "judge")

    assert (ended.status, ended.out) == (CHECK_FAILED, "")
    assert ended.err.startswith("The scorer can't be asked now: ")


def test_a_scorer_that_is_not_allowed_is_told_in_a_sentence(project: Project) -> None:
    config = {"url": "http://models.example:8000"}
    project.scorers.create(name="judge", kind="vllm", config=config, ranks=False)
    ended = score("--scorer", "judge")

    assert (ended.status, "Traceback" in ended.err, "models.example" in ended.err) == (UNUSABLE, False, True)


@pytest.mark.parametrize("arguments", [["--scorer", "oracle"], ["--project", "geometry"]])
def test_score_solutions_says_what_it_does_not_know(project: Project, arguments: list[str]) -> None:
    ended = score(*arguments, "--json")

    assert (ended.status, ended.out) == (UNUSABLE, "")


def test_with_several_scorers_one_has_to_be_named(project: Project) -> None:
    project.scorers.create(name="second", kind="builtin", ranks=False)
    ended = score()

    assert (ended.status, "builtin, second" in ended.err) == (UNUSABLE, True)


def test_a_project_without_a_scorer_says_so(project: Project) -> None:
    project.scorers.all().delete()
    ended = score()

    assert (ended.status, "no scorer" in ended.err) == (UNUSABLE, True)
