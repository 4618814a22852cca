"""Scoring by a model server: what happens when it is slow, wrong, gone, replaced, or no longer wanted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now

from annotator import jobs
from annotator.actions import ordering, scorers, scoring
from annotator.actions.access import operator
from annotator.actions.scorers import Refused
from annotator.jobs import Claimed, LeaseLost
from annotator.models import Job, Project, QueueRow, Score, ScoreFailure, Scorer, ScorerVersion
from annotator.queries.scorers import overview
from annotator.scorers import http
from tests import factories as make
from tests.scorers.stub import Stub

pytestmark = pytest.mark.django_db


@pytest.fixture
def stub(settings: Any) -> Iterator[Stub]:
    server = Stub()
    settings.SCORER_HOSTS = list(server.hosts)
    yield server
    http.forget_all()
    server.kill()


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def scorer(project: Project, stub: Stub) -> Scorer:
    made = scorers.add(
        actor=operator(project),
        name="judge",
        kind="vllm",
        config={"url": stub.url, "attempts": 1, "timeout": 1.0},
    )
    scorers.rank_by(actor=operator(project), scorer_id=made.pk)
    made.refresh_from_db()
    return made


def next_job(kind: str, *, due: bool = True) -> Claimed:
    """A worker takes the next job of the remote queue; with ``due`` False, time passes first."""
    if not due:
        Job.objects.filter(queue=scoring.REMOTE).update(due_at=Now() - timedelta(seconds=1))
    job = jobs.claim(scoring.REMOTE)
    assert job is not None
    assert job.kind == kind
    return job


def run(kind: str, *, due: bool = True) -> None:
    job = next_job(kind, due=due)
    {scoring.PLAN: scoring.plan, scoring.SCORE: scoring.score_batch}[kind](job=job)
    jobs.finish(job)


def circuit(scorer: Scorer) -> str:
    scorer.refresh_from_db()
    return str(scorer.circuit.get("state", ""))


def test_a_new_scorer_plans_then_scores_and_orders_the_queue(project: Project, scorer: Scorer) -> None:
    rows = [make.work(project) for _ in range(3)]
    run(scoring.PLAN)
    run(scoring.SCORE)

    assert list(Score.objects.values_list("values", flat=True)) == [[0.9, 0.8, 0.7]] * len(rows)
    assert not QueueRow.objects.filter(ranked_by=None).exists()
    assert not Job.objects.filter(queue=scoring.QUEUE).exists()


def test_what_is_most_needed_is_scored_first(
    project: Project, scorer: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "JOB_SIZE", 1)
    later, begun, first = (make.work(project, priority=p) for p in (0.1, 0.9, 0.6))
    QueueRow.objects.filter(pk=begun.pk).update(taken=1)
    run(scoring.PLAN)

    queued = Job.objects.filter(kind=scoring.SCORE).order_by("due_at", "pk").values_list("payload", flat=True)
    assert [one["solution_ids"] for one in queued] == [[first.pk], [later.pk], [begun.pk]]


def test_a_dead_server_loses_nothing_and_says_so(project: Project, scorer: Scorer, stub: Stub) -> None:
    make.work(project)
    run(scoring.PLAN)
    stub.kill()
    run(scoring.SCORE)

    assert not ScoreFailure.objects.exists()
    assert Job.objects.get(kind=scoring.SCORE).state == "queued"
    assert circuit(scorer) == "failing"
    (_, shown) = overview(project).scorers
    assert "connection to the server failed" in shown.trouble


def test_a_server_that_recovers_clears_its_trouble(project: Project, scorer: Scorer, stub: Stub) -> None:
    make.work(project)
    run(scoring.PLAN)
    stub.tell("status", status=500)
    run(scoring.SCORE)
    assert circuit(scorer) == "failing"
    stub.tell()
    run(scoring.SCORE, due=False)

    assert circuit(scorer) == ""
    assert Score.objects.count() == 1


def test_an_open_circuit_puts_off_all_of_the_scorers_jobs(
    project: Project, scorer: Scorer, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "JOB_SIZE", 8)
    for _ in range(24):
        make.work(project)
    run(scoring.PLAN)
    stub.tell("status", status=500)
    run(scoring.SCORE)

    assert circuit(scorer) == "open"
    assert jobs.claim(scoring.REMOTE) is None, "all three wait"
    assert Job.objects.filter(kind=scoring.SCORE, state="queued").count() == 3
    assert not ScoreFailure.objects.exists()


def test_a_solution_that_always_times_out_fails_in_the_end_and_holds_up_nobody(
    project: Project, scorer: Scorer, stub: Stub
) -> None:
    good, bad = make.work(project), make.work(project, texts=("poison", "b", "c"))
    run(scoring.PLAN)
    stub.tell("status", status=500, when="poison")
    run(scoring.SCORE)
    for _ in range(scoring.TRIES - 1):
        run(scoring.SCORE, due=False)

    assert list(Score.objects.values_list("solution_id", flat=True)) == [good.pk]
    assert list(ScoreFailure.objects.values_list("solution_id", flat=True)) == [bad.pk]
    assert not Job.objects.filter(kind=scoring.SCORE).exists()


@pytest.mark.parametrize("fault", ["nan", "short", "long", "out_of_range"])
def test_a_wrong_answer_is_the_failure_of_that_solution_alone(
    project: Project, scorer: Scorer, stub: Stub, fault: str
) -> None:
    good, bad = make.work(project), make.work(project, texts=("poison", "b", "c"))
    run(scoring.PLAN)
    stub.tell(fault, when="poison")
    run(scoring.SCORE)

    assert list(Score.objects.values_list("solution_id", flat=True)) == [good.pk]
    assert list(ScoreFailure.objects.values_list("solution_id", flat=True)) == [bad.pk]
    assert circuit(scorer) == ""


def test_another_model_scores_all_anew_while_the_old_order_serves(
    project: Project, scorer: Scorer, stub: Stub
) -> None:
    rows = [make.work(project) for _ in range(2)]
    run(scoring.PLAN)
    run(scoring.SCORE)
    old = scorer.versions.get()
    stub.tell(model="prm", root="org/prm-9b")
    assert scoring.look_at_all() == 1
    run(scoring.PLAN)

    assert scorer.versions.count() == 2
    assert set(QueueRow.objects.values_list("ranked_by", flat=True)) == {old.pk}
    run(scoring.SCORE)
    newest = scorer.versions.order_by("-pk")[0]
    assert Score.objects.filter(version=newest).count() == len(rows)
    ordering.reprioritize(version_id=newest.pk)
    assert set(QueueRow.objects.values_list("ranked_by", flat=True)) == {newest.pk}


def test_a_server_that_returns_to_its_first_model_has_it_in_force_again(
    project: Project, scorer: Scorer, stub: Stub
) -> None:
    run(scoring.PLAN)
    first = scorer.versions.get()
    stub.tell(model="prm", root="org/prm-9b")
    scoring.look_at_all()
    run(scoring.PLAN)
    assert in_force(scorer) != first
    meanwhile = make.solution(project)

    stub.tell(model="prm", root="org/prm-7b")
    scoring.look_at_all()
    run(scoring.PLAN)
    assert in_force(scorer) == first
    assert next_job(scoring.SCORE).payload["solution_ids"] == [meanwhile.pk]


def in_force(scorer: Scorer) -> ScorerVersion:
    found: ScorerVersion = ScorerVersion.objects.filter(scorer=scorer).in_force().get()
    return found


def test_a_look_at_an_unchanged_server_asks_for_nothing(project: Project, scorer: Scorer) -> None:
    make.work(project)
    run(scoring.PLAN)
    run(scoring.SCORE)
    scoring.look_at_all()
    run(scoring.PLAN)
    assert not Job.objects.filter(queue=scoring.REMOTE).exists()


def test_while_paused_nothing_is_scored_and_resuming_scores_all(project: Project, scorer: Scorer) -> None:
    make.work(project)
    run(scoring.PLAN)
    job = next_job(scoring.SCORE)
    scorers.pause(actor=operator(project), scorer_id=scorer.pk)
    assert scoring.score_batch(job=job) == 0
    scorer.refresh_from_db()
    assert scoring.enqueue_scoring(scorer=scorer, solution_ids=[1, 2]) == 0
    with pytest.raises(Refused):
        scorers.score_missing(actor=operator(project), scorer_id=scorer.pk)

    scorers.resume(actor=operator(project), scorer_id=scorer.pk)
    run(scoring.PLAN)
    run(scoring.SCORE)
    assert Score.objects.count() == 1


def test_a_job_that_is_cancelled_while_it_runs_writes_nothing_more(project: Project, scorer: Scorer) -> None:
    make.work(project)
    run(scoring.PLAN)
    job = next_job(scoring.SCORE)
    scorers.cancel(actor=operator(project), scorer_id=scorer.pk)
    with pytest.raises(LeaseLost):
        scoring.score_batch(job=job)
    assert not Score.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_slow_server_is_not_waited_for_once_the_job_is_cancelled(
    project: Project, scorer: Scorer, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "LOOK_SECONDS", 0.1)
    Scorer.objects.filter(pk=scorer.pk).update(config={"url": stub.url, "timeout": 30.0})
    make.work(project)
    run(scoring.PLAN)
    stub.tell("slow", seconds=8)
    job = next_job(scoring.SCORE)

    def cancel() -> None:
        scorers.cancel(actor=operator(project), scorer_id=scorer.pk)
        connection.close()

    timer = threading.Timer(0.5, cancel)
    timer.start()
    with pytest.raises(LeaseLost):
        scoring.score_batch(job=job)
    timer.join()
    assert not Score.objects.exists()


def test_settings_that_are_no_longer_allowed_are_told(
    project: Project, scorer: Scorer, settings: Any
) -> None:
    settings.SCORER_HOSTS = []
    run(scoring.PLAN)
    assert circuit(scorer) == "refused"
    (_, shown) = overview(project).scorers
    assert "STEPMARK_SCORER_HOSTS" in shown.trouble


def test_a_quicker_scorer_orders_what_is_new_until_the_one_that_ranks_has_spoken(
    project: Project, scorer: Scorer
) -> None:
    make.work(project)
    run(scoring.PLAN)
    run(scoring.SCORE)
    row = make.work(project)
    quick = project.scorers.get(name="builtin")
    scoring.enqueue_scoring(scorer=quick, solution_ids=[row.pk])
    job = jobs.claim(scoring.QUEUE)
    assert job is not None
    scoring.score_batch(job=job)
    row.refresh_from_db()
    assert row.ranked_by is not None
    assert row.ranked_by.scorer_id == quick.pk

    scoring.enqueue_scoring(scorer=scorer, solution_ids=[row.pk])
    run(scoring.SCORE)
    row.refresh_from_db()
    assert row.ranked_by.scorer_id == scorer.pk
