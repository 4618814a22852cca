"""Scoring solutions with a PRM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from annotator import jobs
from annotator.actions import ordering, scoring
from annotator.actions.access import NotAllowed, operator
from annotator.actions.scoring import NoSuchScorer
from annotator.jobs import Claimed, LeaseLost
from annotator.models import Job, Project, QueueRow, Score, ScoreFailure, Scorer, ScorerVersion, Solution
from annotator.scorers.base import Scored, ScoringInput
from annotator.scorers.base import ScoreFailure as Failure
from tests import factories as make

pytestmark = pytest.mark.django_db


def even(given: ScoringInput) -> Scored:
    """One half for each step."""
    return Scored((0.5,) * len(given.steps), (0.125,) * len(given.steps))


@dataclass
class Scripted:
    """A scorer that says what the test wants."""

    says: Callable[[ScoringInput], Scored | Failure] = even
    version: str = "v1"
    name: str = "scripted"
    measures: str = "correctness"
    threshold: float = 0.5

    def score(
        self, batch: Sequence[ScoringInput], *, cancelled: Callable[[], bool]
    ) -> list[Scored | Failure]:
        return [self.says(given) for given in batch]


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def scorer(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Stands in for the built-in scorer."""
    scripted = Scripted()
    monkeypatch.setattr(scoring, "make", lambda kind, config, **allowed: scripted)
    return scripted


def asked(project: Project) -> Claimed:
    """Scoring is asked for, and a worker has taken the one job."""
    scoring.request(actor=operator(project))
    job = jobs.claim(scoring.QUEUE)
    assert job is not None
    return job


def failures() -> dict[int, str]:
    return dict(ScoreFailure.objects.values_list("solution_id", "message"))


def test_a_score_has_values_spread_and_what_the_queue_needs(project: Project, scorer: Scripted) -> None:
    solution = make.solution(project)
    scorer.says = lambda given: Scored((0.75, 0.25, 0.5), (0.0, 0.5, 0.25))

    assert scoring.score_batch(job=asked(project)) == 1

    score = Score.objects.get()
    assert (score.solution, score.version.version) == (solution, "v1")
    assert (score.values, score.spread, score.predicted_stop) == ([0.75, 0.25, 0.5], [0.0, 0.5, 0.25], 1)
    assert (round(score.priority, 4), score.tiebreak) == (0.5623, 0.25)  # entropy of 3/4; mean of 0 and 1/2


def test_a_scorer_sees_the_problem_and_the_steps_and_nothing_else(project: Project, scorer: Scripted) -> None:
    solution = make.solution(project)
    seen: list[ScoringInput] = []
    scorer.says = lambda given: seen.append(given) or even(given)  # type: ignore[func-returns-value]

    scoring.score_batch(job=asked(project))

    assert [(given.problem, [step.text for step in given.steps]) for given in seen] == [
        (solution.problem.text, ["one", "two", "three"])
    ]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        pytest.param(Failure("the step is too long"), "the step is too long", id="it says so"),
        pytest.param(Failure("x" * 600), "x" * 500, id="it says so at length"),
        pytest.param(Scored((0.5, 0.5), (0.1, 0.1)), "3 steps, but 2 values", id="too short"),
        pytest.param(Scored((0.5, 0.5, float("nan")), (0.1, 0.1, 0.1)), "between 0 and 1", id="NaN"),
        pytest.param(Scored((0.5, 0.5, 1.5), (0.1, 0.1, 0.1)), "between 0 and 1", id="no probability"),
        pytest.param(Scored((0.5, 0.5, None), (0.1, 0.1, None)), "step 3 has no score", id="a gap"),
        pytest.param(
            Scored((0.5,) * 3, (0.1, 0.1, float("inf"))), "a spread is a number", id="an endless spread"
        ),
    ],
)
def test_what_goes_wrong_with_one_solution_is_its_own_failure(
    project: Project, scorer: Scripted, result: Scored | Failure, message: str
) -> None:
    good, bad = make.solution(project), make.solution(project)
    scorer.says = lambda given: result if given.problem == bad.problem.text else even(given)

    scoring.score_batch(job=asked(project))

    assert list(Score.objects.values_list("solution_id", flat=True)) == [good.pk]
    assert list(failures()) == [bad.pk]
    assert message in failures()[bad.pk]


def test_a_scorer_that_breaks_fails_its_job_and_keeps_what_was_written(
    project: Project, scorer: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "BATCH_SIZE", 1)
    make.solution(project), make.solution(project)
    said: list[ScoringInput] = []

    def break_at_the_second(given: ScoringInput) -> Scored:
        said.append(given)
        if len(said) == 2:
            raise RuntimeError("out of memory")
        return even(given)

    scorer.says = break_at_the_second
    with pytest.raises(RuntimeError):
        scoring.score_batch(job=asked(project))

    assert Score.objects.count() == 1


def test_what_failed_is_not_tried_again_before_somebody_asks(project: Project, scorer: Scripted) -> None:
    """Else a job with one hopeless solution would look busy each time it is tried."""
    make.solution(project)
    tried: list[ScoringInput] = []
    scorer.says = lambda given: tried.append(given) or Failure("no")  # type: ignore[func-returns-value]
    job = asked(project)
    scoring.score_batch(job=job), scoring.score_batch(job=job)

    assert len(tried) == 1


def test_a_later_success_removes_the_failure(project: Project, scorer: Scripted) -> None:
    make.solution(project)
    scorer.says = lambda given: Failure("out of memory")
    scoring.score_batch(job=asked(project))
    scorer.says = even
    scoring.score_batch(job=asked(project))

    assert (Score.objects.count(), failures()) == (1, {})


def test_a_second_run_of_a_job_writes_nothing_twice(project: Project, scorer: Scripted) -> None:
    make.solution(project)
    job = asked(project)

    assert (scoring.score_batch(job=job), scoring.score_batch(job=job)) == (1, 0)
    assert Score.objects.count() == 1


def test_two_workers_that_score_the_same_write_one_row(project: Project, scorer: Scripted) -> None:
    make.solution(project)
    job = asked(project)

    def other_worker_first(given: ScoringInput) -> Scored:
        scorer.says = even
        scoring.score_batch(job=job)
        return even(given)

    scorer.says = other_worker_first
    scoring.score_batch(job=job)

    assert Score.objects.count() == 1


def test_a_worker_that_lost_its_lease_writes_nothing_more(
    project: Project, scorer: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "BATCH_SIZE", 1)
    for _ in range(3):
        make.solution(project)
    job = asked(project)

    def lose_it_at_the_second(given: ScoringInput) -> Scored:
        if Score.objects.count() == 1:
            Job.objects.filter(pk=job.id).update(lease_expires_at=Now() - timedelta(seconds=1))
            jobs.reconcile()
        return even(given)

    scorer.says = lose_it_at_the_second
    with pytest.raises(LeaseLost):
        scoring.score_batch(job=job)

    assert Score.objects.count() == 1


def test_each_batch_renews_the_lease(project: Project, scorer: Scripted) -> None:
    make.solution(project)
    job = asked(project)
    Job.objects.filter(pk=job.id).update(lease_expires_at=Now() + timedelta(seconds=1))

    scoring.score_batch(job=job)

    left = Job.objects.filter(pk=job.id, lease_expires_at__gt=Now() + timedelta(seconds=20))
    assert left.exists()


def test_a_new_version_scores_again_beside_the_old(project: Project, scorer: Scripted) -> None:
    make.solution(project)
    scoring.score_batch(job=asked(project))
    jobs.reconcile()
    Job.objects.all().delete()
    scorer.version = "v2"

    assert [each.solutions for each in scoring.request(actor=operator(project))] == [1]
    job = jobs.claim(scoring.QUEUE)
    assert job is not None
    scoring.score_batch(job=job)

    assert set(Score.objects.values_list("version__version", flat=True)) == {"v1", "v2"}


def test_what_is_scored_is_not_asked_for_again(project: Project, scorer: Scripted) -> None:
    make.solution(project)
    scoring.score_batch(job=asked(project))
    late = make.solution(project)

    (again,) = scoring.request(actor=operator(project))

    assert again.solutions == 1
    assert Job.objects.get(kind="scoring.score_batch", state="queued").payload["solution_ids"] == [late.pk]


def test_what_failed_is_asked_for_again(project: Project, scorer: Scripted) -> None:
    make.solution(project)
    scorer.says = lambda given: Failure("out of memory")
    scoring.score_batch(job=asked(project))

    (again,) = scoring.request(actor=operator(project))

    assert (again.solutions, failures()) == (1, {})


def test_one_job_holds_a_hundred_solutions_at_most(project: Project, scorer: Scripted) -> None:
    ids = list(range(1, 251))

    assert scoring.enqueue_scoring(scorer=project.scorers.get(), solution_ids=ids) == 3
    assert sorted(len(job.payload["solution_ids"]) for job in Job.objects.all()) == [50, 100, 100]


def test_after_scoring_the_queue_is_put_in_order(project: Project, scorer: Scripted) -> None:
    Project.objects.update(error_free_floor=0.0)
    sure, unsure = make.work(project), make.work(project)
    scorer.says = lambda given: (
        even(given) if given.problem == unsure.solution.problem.text else Scored((1.0,) * 3, (0.0,) * 3)
    )
    scoring.score_batch(job=asked(project))
    order = jobs.claim("default")
    assert order is not None
    ordering.reprioritize(version_id=order.payload["version_id"])

    assert list(QueueRow.objects.by_priority().values_list("pk", flat=True)) == [unsure.pk, sure.pk]
    assert set(QueueRow.objects.values_list("ranked_by__version", flat=True)) == {"v1"}


def test_a_version_is_written_down_once_with_what_it_measures(project: Project, scorer: Scripted) -> None:
    scoring.request(actor=operator(project)), scoring.request(actor=operator(project))

    assert list(ScorerVersion.objects.values_list("version", "measures", "threshold")) == [
        ("v1", "correctness", 0.5)
    ]


def test_a_scorer_that_is_not_there_is_named(project: Project) -> None:
    with pytest.raises(NoSuchScorer, match="'oracle'"):
        scoring.request(actor=operator(project), scorer_name="oracle")


def test_one_of_two_scorers_can_be_asked_alone(project: Project, scorer: Scripted) -> None:
    Scorer.objects.create(project=project, name="second", kind="builtin", ranks=False)

    (only,) = scoring.request(actor=operator(project), scorer_name="second")

    assert only.scorer == "second"


def test_an_annotator_asks_for_no_scores(project: Project) -> None:
    with pytest.raises(NotAllowed):
        scoring.request(actor=make.actor(project))


def test_another_projects_solutions_are_not_scored(project: Project, scorer: Scripted) -> None:
    make.solution(make.project())

    (only,) = scoring.request(actor=operator(project))

    assert only.solutions == 0


def test_the_built_in_scorer_scores_each_judged_step(project: Project) -> None:
    solution: Solution = make.solution(
        project, ["2 + 2 = 4", "4", "2 + 2 = 5"], kinds=["reasoning", "observation", "code"]
    )
    scoring.score_batch(job=asked(project))

    values: list[Any] = Score.objects.get(solution=solution).values
    assert [value is None for value in values] == [False, True, False]
    assert all(0.0 <= value <= 1.0 for value in values if value is not None)
