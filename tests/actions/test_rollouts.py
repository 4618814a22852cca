"""Monte-Carlo in a worker: tallies are kept as they come, the answer stays with the checker, nothing is ordered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from annotator import jobs
from annotator.actions import rollouts, scorers, scoring
from annotator.actions.access import operator
from annotator.actions.scorers import Refused
from annotator.jobs import LeaseLost
from annotator.models import (
    Problem,
    Project,
    QueueRow,
    Rollouts,
    Score,
    ScoreDetail,
    ScoreFailure,
    Scorer,
    ScorerVersion,
    Solution,
)
from annotator.queries.pool import _others
from annotator.queries.scorer_report import comparison
from annotator.scorers import http
from annotator.scorers.base import Tally
from tests import factories as make
from tests.scorers.stub import Stub

pytestmark = pytest.mark.django_db
RIGHT, WRONG = "So \\boxed{4}.", "So \\boxed{5}."


@pytest.fixture
def stub(settings: Any) -> Iterator[Stub]:
    server = Stub()
    settings.SCORER_HOSTS = list(server.hosts)
    server.tell(endings={"one": [RIGHT], "two": [RIGHT, WRONG], "three": [WRONG]})
    yield server
    http.forget_all()
    server.kill()


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def scorer(project: Project, stub: Stub) -> Scorer:
    config = {"url": stub.url, "attempts": 1, "timeout": 5.0, "rollouts": 4}
    return scorers.add(actor=operator(project), name="rolling", kind="monte_carlo", config=config)


def answered(project: Project, answer: str | None = "4") -> Solution:
    solution: Solution = make.work(project).solution
    Problem.objects.filter(pk=solution.problem_id).update(answer=answer)
    return solution


def run(kind: str) -> None:
    job = jobs.claim(scoring.REMOTE)
    assert job is not None
    assert job.kind == kind
    {scoring.PLAN: scoring.plan, scoring.SCORE: scoring.score_batch}[kind](job=job)
    jobs.finish(job)


def test_a_solution_is_estimated_and_its_tallies_are_kept(
    project: Project, scorer: Scorer, stub: Stub
) -> None:
    answered(project)
    run(scoring.PLAN)
    run(scoring.SCORE)

    score = Score.objects.get()
    assert (score.values, score.predicted_stop) == ([1.0, 0.5, 0.0], 2)
    assert score.version.measures == "utility"
    assert list(Rollouts.objects.order_by("step").values_list("tried", "right")) == [(4, 4), (4, 2), (4, 0)]
    assert ScoreDetail.objects.get().usage["rollouts"] == 12
    assert sum(row.usage["output_tokens"] for row in Rollouts.objects.all()) == 60


def test_a_problem_without_an_answer_says_so_and_costs_nothing(
    project: Project, scorer: Scorer, stub: Stub
) -> None:
    answered(project, None)
    answered(project, "4")
    run(scoring.PLAN)
    run(scoring.SCORE)

    assert ScoreFailure.objects.get().message == rollouts.NO_ANSWER
    assert Score.objects.count() == 1
    assert len(stub.seen("/v1/completions")) == 3


def test_the_answer_reaches_no_server(project: Project, scorer: Scorer, stub: Stub) -> None:
    answered(project, "87654321")
    run(scoring.PLAN)
    run(scoring.SCORE)

    assert Score.objects.exists()
    assert not any("87654321" in str(one["body"]) for one in stub.seen())


def test_a_killed_run_goes_on_where_it_was(
    project: Project, scorer: Scorer, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first run paid for, the second knows: three prefixes are asked for once each, in both together."""
    answered(project)
    run(scoring.PLAN)
    kept = rollouts.add

    def killed_after_two(**what: Any) -> None:
        kept(**what)
        if Rollouts.objects.count() == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(rollouts, "add", killed_after_two)
    job = jobs.claim(scoring.REMOTE)
    assert job is not None
    with pytest.raises(KeyboardInterrupt):
        scoring.score_batch(job=job)
    assert not Score.objects.exists()
    monkeypatch.setattr(rollouts, "add", kept)
    scoring.score_batch(job=job)

    assert Score.objects.get().values == [1.0, 0.5, 0.0]
    asked = [one["body"]["prompt"].split()[-1] for one in stub.seen("/v1/completions")]
    assert sorted(asked) == ["one", "three", "two"]
    assert ScoreDetail.objects.get().usage["rollouts"] == 12


def test_a_dropped_job_stops_and_keeps_what_was_paid(
    project: Project, scorer: Scorer, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(project)
    run(scoring.PLAN)
    monkeypatch.setattr(scoring, "LOOK_SECONDS", 0.0)
    job = jobs.claim(scoring.REMOTE)
    assert job is not None
    kept = rollouts.add

    def dropped_after_one(**what: Any) -> None:
        kept(**what)
        scorers.cancel(actor=operator(project), scorer_id=scorer.pk)

    monkeypatch.setattr(rollouts, "add", dropped_after_one)
    with pytest.raises(LeaseLost):
        scoring.score_batch(job=job)
    assert Rollouts.objects.filter(tried=4).exists()
    assert not Score.objects.exists()


def test_tallies_add_up(project: Project, scorer: Scorer) -> None:
    solution = answered(project)
    version = ScorerVersion.objects.create(scorer=scorer, version="v", measures="utility", threshold=0.1)
    for tally in (Tally(3, 1, 1, {"seconds": 1.0}), Tally(1, 1, 0, {"seconds": 0.5, "requests": 1.0})):
        rollouts.add(solution_id=solution.pk, version_id=version.pk, step=0, tally=tally)

    row = Rollouts.objects.get()
    assert (row.tried, row.right, row.unparsed) == (4, 2, 1)
    assert row.usage == {"seconds": 1.5, "requests": 1.0}


def test_utility_orders_nothing_and_is_compared_with_nobody(
    project: Project, scorer: Scorer, stub: Stub
) -> None:
    answered(project)
    run(scoring.PLAN)
    run(scoring.SCORE)

    with pytest.raises(Refused, match="ends well"):
        scorers.rank_by(actor=operator(project), scorer_id=scorer.pk)
    assert QueueRow.objects.get().ranked_by is None
    project.strategies = {"disagreement": 1.0}
    ranking = ScorerVersion.objects.create(
        scorer=project.scorers.first(), version="v", measures="correctness", threshold=0.5
    )
    assert _others(project, [ranking]) == []
    assert "rolling" not in [one.scorer for one in comparison(project).scorers]
