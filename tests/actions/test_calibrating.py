"""Scorers' values set right by people's labels on the audit prefix, and what follows for the order."""

from __future__ import annotations

import pytest

from annotator.actions import calibrating, ordering, queueing
from annotator.core.calibration import MIN_SOLUTIONS, Calibration, Method
from annotator.core.uncertainty import predicted_stop, priority
from annotator.models import Assignment, Consensus, Job, Project, QueueRow, Score, ScorerVersion
from annotator.queries.scorer_blocks import blocks
from annotator.queries.scorer_report import comparison
from tests import factories as make
from tests.actions.test_strategies import in_order, scored, version_of

pytestmark = pytest.mark.django_db

#: A scorer that says .95 and is right three times in four.
SAID = 0.95


@pytest.fixture
def project() -> Project:
    return make.project(error_free_floor=0.0)


@pytest.fixture
def version(project: Project) -> ScorerVersion:
    return version_of(project)


def judged(project: Project, version: ScorerVersion, number: int, *, holdout: bool = False) -> None:
    """So many solutions that the audit route has brought labels for, every fourth with an error at its first step."""
    member = make.actor(project).member
    for n in range(number):
        row = make.work(project, holdout=holdout, shuffle=n / 1000)
        QueueRow.objects.filter(pk=row.pk).update(taken=1)
        Score.objects.create(
            solution=row.solution,
            version=version,
            n_steps=3,
            values=[SAID] * 3,
            spread=[0.0] * 3,
            priority=0.1,
            tiebreak=0.0,
            predicted_stop=predicted_stop([SAID] * 3),
        )
        stop = 0 if n % 4 == 0 else -1
        Consensus.objects.create(
            solution=row.solution,
            n_steps=3,
            method="plurality",
            state="agreed",
            labels=[-1, None, None] if stop == 0 else [1, 1, 1],
            stop=stop,
            n_annotations=1,
        )
        Assignment.objects.create(
            project=project,
            solution=row.solution,
            member_id=member,
            state="submitted",
            slot=0,
            lease_expires_at="2030-01-01T00:00Z",
            selection={"route": "holdout" if holdout else "audit"},
        )


def kept(version: ScorerVersion) -> object:
    version.refresh_from_db()
    return version.calibration


def test_below_fifty_solutions_nothing_is_fitted_and_the_page_says_so(
    project: Project, version: ScorerVersion
) -> None:
    judged(project, version, MIN_SOLUTIONS - 1)
    assert calibrating.refresh(project_id=project.pk) == 0
    assert kept(version) == {}
    (block,) = [one for one in blocks(comparison(project)) if one.slug.startswith("calibration")]
    assert "49 are there" in block.sentence


def test_the_holdout_sets_nothing_right(project: Project, version: ScorerVersion) -> None:
    judged(project, version, 60, holdout=True)
    assert calibrating.refresh(project_id=project.pk) == 0


def test_from_fifty_on_values_are_set_right_and_a_new_order_is_asked_for(
    project: Project, version: ScorerVersion
) -> None:
    judged(project, version, 60)
    assert calibrating.refresh(project_id=project.pk) == 1
    version.refresh_from_db()
    assert version.calibration["solutions"] == 60
    assert Job.objects.get(kind=ordering.REORDER).payload == {"version_id": version.pk}


def test_a_few_more_labels_don_t_move_the_order(project: Project, version: ScorerVersion) -> None:
    judged(project, version, 60)
    calibrating.refresh(project_id=project.pk)
    judged(project, version, 2)
    assert calibrating.refresh(project_id=project.pk) == 0


def test_the_page_shows_that_a_boastful_scorer_is_off_by_less(
    project: Project, version: ScorerVersion
) -> None:
    judged(project, version, 60)
    calibrating.refresh(project_id=project.pk)
    (one,) = comparison(project).scorers
    assert one.calibrated.ece is not None
    assert one.calibrated.ece.value is not None
    assert one.ece.value is not None
    assert one.calibrated.ece.value < one.ece.value
    (block,) = [each for each in blocks(comparison(project)) if each.slug.startswith("calibration")]
    assert "Set right by 60 labelled solutions" in block.sentence


def test_the_order_and_what_a_claim_keeps_go_by_calibrated_values(
    project: Project, version: ScorerVersion
) -> None:
    version.calibration = Calibration(
        Method.ISOTONIC, (0.0, 0.6, 0.9, 1.0), (0.01, 0.02, 0.5, 0.99), 60, 300
    ).as_json()
    version.save()
    low, high = (scored(make.work(project), version, p, p, p) for p in (0.6, 0.9))
    ordering.reprioritize(version_id=version.pk)
    assert in_order(project) == [high.pk, low.pk]

    kept = queueing.next_assignment(actor=make.actor(project)).selection
    assert kept["score"] == pytest.approx(priority([0.5] * 3, [0.0] * 3).score)


def test_a_fresh_score_finds_its_place_by_its_calibrated_values(
    project: Project, version: ScorerVersion
) -> None:
    version.calibration = Calibration(Method.ISOTONIC, (0.0, 0.9, 1.0), (0.01, 0.5, 0.99), 60, 300).as_json()
    version.save()
    row = scored(make.work(project), version, 0.9, 0.9, 0.9)
    ordering.rank_new(solution_ids=[row.pk], version=version)
    row.refresh_from_db()
    assert row.priority == pytest.approx(priority([0.5] * 3, [0.0] * 3).score, abs=1e-6)
    assert ordering.reprioritize(version_id=version.pk) == 0, "the whole order agrees with each place"


def test_a_version_that_learnt_from_the_labels_is_neither_set_right_nor_judged_by_them(
    project: Project, version: ScorerVersion
) -> None:
    judged(project, version, MIN_SOLUTIONS)
    judged(project, version, 3, holdout=True)
    ScorerVersion.objects.filter(pk=version.pk).update(training={"run": "of these labels"})
    assert calibrating.refresh(project_id=project.pk) == 0
    (one,) = comparison(project).scorers
    assert one.solutions == 3
