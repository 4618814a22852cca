"""A fast pass orders at once; a refined one follows, and where its score is there, it orders."""

from __future__ import annotations

import pytest

from annotator import jobs
from annotator.actions import ordering, queueing, scorers, scoring, second_pass
from annotator.actions.access import NotAllowed, operator
from annotator.actions.scorers import NoSuchScorer, Refused
from annotator.core.explaining import sentence
from annotator.models import Job, Project, QueueRow, Role, Score, ScoreFailure, Scorer, ScorerVersion
from tests import factories as make
from tests.actions.test_strategies import in_order, scored

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(error_free_floor=0.0)


@pytest.fixture
def fast(project: Project) -> ScorerVersion:
    return version_of(project.scorers.get(), "fast-1")


@pytest.fixture
def slow(project: Project, fast: ScorerVersion) -> ScorerVersion:
    """A scorer that refines the first, with nothing to do yet."""
    second = Scorer.objects.create(project=project, name="slow", kind="builtin", ranks=False)
    second_pass.refine(actor=operator(project), scorer_id=second.pk, refines_id=fast.scorer_id)
    Job.objects.all().delete()
    second.refresh_from_db()
    return version_of(second, "slow-1")


def version_of(scorer: Scorer, name: str) -> ScorerVersion:
    return ScorerVersion.objects.create(scorer=scorer, version=name, measures="correctness", threshold=0.5)


def by(row: QueueRow) -> str:
    """The version that ordered a row."""
    row.refresh_from_db()
    return str(row.ranked_by)


def test_a_refined_score_orders_its_row_as_soon_as_it_is_there(
    project: Project, fast: ScorerVersion, slow: ScorerVersion
) -> None:
    sure, unsure = (scored(make.work(project), fast, p, p, p) for p in (0.9, 0.6))
    ordering.rank_new(solution_ids=[sure.pk, unsure.pk], version=fast)
    scored(sure, slow, 0.5, 0.5, 0.5)
    ordering.rank_new(solution_ids=[sure.pk], version=slow)

    assert in_order(project) == [sure.pk, unsure.pk]
    assert (by(sure), by(unsure)) == ("slow-1", "fast-1")


def test_a_new_order_takes_the_refined_score_where_it_is_and_the_fast_one_elsewhere(
    project: Project, fast: ScorerVersion, slow: ScorerVersion
) -> None:
    first, second, third = (scored(make.work(project), fast, p, p, p) for p in (0.9, 0.8, 0.7))
    scored(first, slow, 0.5, 0.5, 0.5)
    ordering.reprioritize(version_id=fast.pk)

    assert in_order(project) == [first.pk, third.pk, second.pk]
    assert [by(row) for row in (first, second, third)] == ["slow-1", "fast-1", "fast-1"]


def test_a_fast_score_does_not_push_a_refined_one_aside(
    project: Project, fast: ScorerVersion, slow: ScorerVersion
) -> None:
    row = scored(scored(make.work(project), fast, 0.9, 0.9, 0.9), slow, 0.5, 0.5, 0.5)
    ordering.reprioritize(version_id=fast.pk)
    ordering.rank_new(solution_ids=[row.pk], version=fast)

    assert by(row) == "slow-1"


def test_what_is_told_of_a_claim_names_the_version_that_gave_the_score(
    project: Project, fast: ScorerVersion, slow: ScorerVersion
) -> None:
    scored(scored(make.work(project), fast, 0.9, 0.9, 0.9), slow, 0.5, 0.5, 0.5)
    ordering.reprioritize(version_id=fast.pk)

    kept = queueing.next_assignment(actor=make.actor(project)).selection
    assert kept["scorer_version"] == "slow-1"
    assert "mean entropy 0.693 nats by slow-1" in sentence(kept)


def test_the_second_pass_waits_for_the_first_and_begins_with_what_is_needed_most(
    project: Project, fast: ScorerVersion, slow: ScorerVersion
) -> None:
    rows = [scored(make.work(project), fast, p, p, p) for p in (0.9, 0.6, 0.8)]
    ordering.rank_new(solution_ids=[row.pk for row in rows], version=fast)
    first = Scorer.objects.get(pk=fast.scorer_id)
    scoring.enqueue_scoring(scorer=first, solution_ids=[row.pk for row in rows])
    scoring.start(slow.scorer)
    plan(slow.scorer)
    assert not scoring_jobs(slow.scorer), "the first pass has work left"

    Job.objects.filter(kind=scoring.SCORE).delete()
    scoring.start(slow.scorer)
    plan(slow.scorer)
    assert scoring_jobs(slow.scorer) == [[rows[1].pk, rows[2].pk, rows[0].pk]]


def test_the_last_job_of_the_first_pass_begins_the_second(project: Project, slow: ScorerVersion) -> None:
    row = make.work(project)
    scoring.enqueue_scoring(scorer=project.scorers.get(ranks=True), solution_ids=[row.pk])
    job = jobs.claim(scoring.QUEUE)
    assert job is not None
    scoring.score_batch(job=job)

    assert Job.objects.filter(
        kind=scoring.PLAN, subject__startswith=scoring.subject_of(slow.scorer_id)
    ).exists()


def test_new_solutions_are_not_scored_twice_at_once(project: Project, slow: ScorerVersion) -> None:
    assert scoring.enqueue_scoring(scorer=slow.scorer, solution_ids=[make.work(project).pk]) == 0


def test_a_failure_of_the_second_pass_leaves_the_first_ones_order(
    project: Project, fast: ScorerVersion, slow: ScorerVersion
) -> None:
    row = scored(make.work(project), fast, 0.9, 0.9, 0.9)
    ScoreFailure.objects.create(solution=row.solution, version=slow, message="too long")
    ordering.reprioritize(version_id=fast.pk)
    assert by(row) == "fast-1"


def test_a_second_pass_that_ends_leaves_the_order_to_the_first(
    project: Project, fast: ScorerVersion, slow: ScorerVersion
) -> None:
    row = scored(scored(make.work(project), fast, 0.9, 0.9, 0.9), slow, 0.5, 0.5, 0.5)
    ordering.reprioritize(version_id=fast.pk)
    second_pass.refine(actor=operator(project), scorer_id=slow.scorer_id, refines_id=None)
    ordering.reprioritize(version_id=Job.objects.get(kind=ordering.REORDER).payload["version_id"])
    assert by(row) == "fast-1"


def test_passes_that_make_no_sense_are_refused(
    project: Project, fast: ScorerVersion, slow: ScorerVersion
) -> None:
    third = Scorer.objects.create(project=project, name="third", kind="builtin", ranks=False)
    utility = Scorer.objects.create(project=project, name="utility", kind="monte_carlo", ranks=False)
    first, second = fast.scorer_id, slow.scorer_id
    for one, other in (
        (third.pk, third.pk),
        (first, third.pk),
        (third.pk, second),
        (third.pk, first),
        (utility.pk, first),
    ):
        with pytest.raises(Refused):
            second_pass.refine(actor=operator(project), scorer_id=one, refines_id=other)
    with pytest.raises(Refused, match="second pass"):
        scorers.rank_by(actor=operator(project), scorer_id=second)


def test_only_managers_choose_passes_and_only_among_their_own_scorers(
    project: Project, fast: ScorerVersion
) -> None:
    other = make.project().scorers.get()
    with pytest.raises(NotAllowed):
        second_pass.refine(
            actor=make.actor(project, Role.REVIEWER), scorer_id=fast.scorer_id, refines_id=None
        )
    with pytest.raises(NoSuchScorer):
        second_pass.refine(actor=operator(project), scorer_id=other.pk, refines_id=fast.scorer_id)


def plan(scorer: Scorer) -> None:
    job = Job.objects.get(kind=scoring.PLAN, subject__startswith=scoring.subject_of(scorer.pk))
    claimed = jobs.Claimed(job.pk, job.kind, job.subject, job.project_id, job.payload, 1, None)  # type: ignore[arg-type]
    scoring.plan(job=claimed)
    job.delete()


def scoring_jobs(scorer: Scorer) -> list[list[int]]:
    """The solutions of each job that waits for this scorer."""
    mine = Job.objects.filter(kind=scoring.SCORE, subject__startswith=scoring.subject_of(scorer.pk))
    return [job.payload["solution_ids"] for job in mine.order_by("pk")]


def test_scores_of_both_passes_are_kept(project: Project, fast: ScorerVersion, slow: ScorerVersion) -> None:
    row = scored(scored(make.work(project), fast, 0.9, 0.9, 0.9), slow, 0.5, 0.5, 0.5)
    assert Score.objects.filter(solution=row.solution).count() == 2
