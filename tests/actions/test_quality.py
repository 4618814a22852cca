"""Keeping the quality report: what makes it stale, and who computes it anew."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from annotator import tasks
from annotator.actions import quality, standing
from annotator.core.screening import Override
from annotator.jobs import claim
from annotator.models import (
    Adjudication,
    Annotation,
    Assignment,
    CalibrationRound,
    Gold,
    GoldResult,
    Job,
    Membership,
    Project,
    QualityReport,
    Role,
    Solution,
)
from annotator.queries.quality.fingerprint import fingerprint
from tests import factories as make
from tests.queries.labels import audited, checked, handed_in

pytestmark = pytest.mark.django_db

SOUND, AT_ONE = (1, 1, 1), (1, -1, None)


@pytest.fixture
def project() -> Project:
    """Two people, a solution of the audit prefix, a started one above it, and a hidden check."""
    made = make.project()
    one, other = make.member(made), make.member(made)
    audited(made, one, other, SOUND, AT_ONE, shuffle=0.2)
    handed_in(make.work(made, shuffle=0.9).solution, one, *SOUND)
    checked(make.gold(made, AT_ONE), one, *SOUND)
    return made


def a_new_label(project: Project) -> None:
    handed_in(make.work(project).solution, make.member(project), *SOUND)


def a_label_that_counts_no_more(project: Project) -> None:
    first = Annotation.objects.filter(solution__project=project).earliest("pk").pk
    Annotation.objects.filter(pk=first).update(counted=False, uncounted_reason="quarantine")


def one_set_aside_and_another_restored(project: Project) -> None:
    """Counts and sums of flags stay the same."""
    first, second = Annotation.objects.filter(solution__project=project).order_by("pk")[:2]
    Annotation.objects.filter(pk=first.pk).update(counted=True, uncounted_reason="")
    Annotation.objects.filter(pk=second.pk).update(counted=False, uncounted_reason="quarantine")


def a_newer_version(project: Project) -> None:
    old = Annotation.objects.filter(solution__project=project).earliest("pk")
    Annotation.objects.filter(pk=old.pk).update(current=False)
    Annotation.objects.create(
        solution=old.solution,
        member=old.member,
        n_steps=3,
        version=2,
        labels=[1, 1, 1],
        finish_reason="solution",
    )


def a_slot_that_is_owed_again(project: Project) -> None:
    first = Assignment.objects.filter(project=project, slot=1).get()
    Assignment.objects.filter(pk=first.pk).update(slot=None)


def an_audit_claim_further_on(project: Project) -> None:
    Assignment.objects.filter(project=project, solution__queue_row__shuffle=0.9).update(
        selection={"route": "audit"}
    )


def a_decision(project: Project) -> None:
    solution = Solution.objects.filter(project=project).earliest("pk")
    reviewer = make.member(project, Role.REVIEWER)
    Adjudication.objects.create(solution=solution, member=reviewer, n_steps=3, labels=[1, 1, 1], stop=-1)


def gold_with_other_labels(project: Project) -> None:
    Gold.objects.filter(project=project).update(accept=[6, 6, 6])


def gold_under_suspicion(project: Project) -> None:
    Gold.objects.filter(project=project).update(suspect=True)


def a_check_scored_anew(project: Project) -> None:
    GoldResult.objects.filter(member__project=project).update(item_right=True)


def a_managers_word(project: Project) -> None:
    member = Membership.objects.filter(project=project).earliest("pk")
    standing.override(
        actor=make.actor(project, Role.MANAGER), member_id=member.pk, word=Override.CLEAR, reason="talked"
    )


def another_name(project: Project) -> None:
    first = Membership.objects.filter(project=project).earliest("pk").pk
    Membership.objects.filter(pk=first).update(pseudonym="otter")


def a_calibration_round(project: Project) -> None:
    CalibrationRound.objects.create(project=project, solution_ids=[1])


def another_rule(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(cusum_p0=0.9)


CHANGES: list[Callable[[Project], None]] = [
    a_new_label,
    a_label_that_counts_no_more,
    a_newer_version,
    a_slot_that_is_owed_again,
    an_audit_claim_further_on,
    a_decision,
    gold_with_other_labels,
    gold_under_suspicion,
    a_check_scored_anew,
    a_managers_word,
    another_name,
    a_calibration_round,
    another_rule,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_the_report_no_longer_holds_after(change: Callable[[Project], None], project: Project) -> None:
    before = fingerprint(project)

    change(project)

    assert fingerprint(project) != before


def test_two_changes_that_cancel_in_every_sum_are_seen(project: Project) -> None:
    a_label_that_counts_no_more(project)
    before = fingerprint(project)

    one_set_aside_and_another_restored(project)

    assert fingerprint(project) != before


def test_a_new_day_has_a_report_of_its_own(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(project)
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr("annotator.queries.quality.fingerprint.timezone.now", lambda: tomorrow)

    assert fingerprint(project) != before


def test_what_happens_in_another_project_changes_nothing(project: Project) -> None:
    before = fingerprint(project)

    a_new_label(make.project())

    assert fingerprint(project) == before


def test_the_kept_report_is_shown_while_nothing_changes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = quality.report(project=project)
    monkeypatch.setattr(quality, "build", lambda _: pytest.fail("computed again"))

    again = quality.report(project=project)

    assert (again.report, again.fresh) == (first.report, True)


def test_a_change_makes_a_new_report(project: Project) -> None:
    before = quality.report(project=project).report.sample.annotations
    other = make.member(project)
    audited(project, make.member(project), other, SOUND, SOUND, shuffle=0.1)

    assert quality.report(project=project).report.sample.annotations == before + 2


def test_within_its_patience_a_page_gets_the_old_report_and_a_worker_makes_the_new_one(
    project: Project,
) -> None:
    first = quality.report(project=project)
    a_new_label(project)

    kept = quality.report(project=project, patience=timedelta(minutes=1))

    assert (kept.fresh, kept.computed_at) == (False, first.computed_at)
    assert Job.objects.filter(kind="quality.report", project=project).count() == 1


def test_an_old_report_is_not_shown_for_longer_than_that(project: Project) -> None:
    quality.report(project=project)
    a_new_label(project)
    QualityReport.objects.update(computed_at=timezone.now() - timedelta(minutes=2))

    assert quality.report(project=project, patience=timedelta(minutes=1)).fresh


def test_the_job_computes_only_what_has_changed(project: Project) -> None:
    assert quality.refresh(project_id=project.pk)
    assert not quality.refresh(project_id=project.pk)

    a_new_label(project)

    assert quality.refresh(project_id=project.pk)


def test_many_submits_ask_for_one_report_and_one_consensus_later(project: Project) -> None:
    for _ in range(3):
        quality.ask_for_all(project_id=project.pk)

    kinds = sorted(Job.objects.values_list("kind", flat=True))
    assert kinds == ["consensus.recompute_all", "quality.report"]
    assert claim("default") is None


def test_a_worker_does_both_jobs(project: Project) -> None:
    quality.ask_for_report(project_id=project.pk, after=timedelta(0))
    quality.ask_for_consensus(project_id=project.pk, after=timedelta(0))

    while (job := claim("default")) is not None:
        tasks.run(job)

    assert sorted(QualityReport.objects.values_list("kind", flat=True)) == ["report", "stop_rates"]
    assert not Job.objects.exists()
