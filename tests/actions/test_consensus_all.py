"""Deciding every solution with what is known of its people."""

from __future__ import annotations

import pytest

from annotator.actions import consensus
from annotator.core.consensus import Recalibration
from annotator.core.labels import Mode
from annotator.models import (
    Adjudication,
    AdjudicationCase,
    Annotation,
    Consensus,
    Membership,
    Project,
    QualityReport,
    Role,
    Solution,
)
from annotator.queries.quality import opinions
from tests import factories as make
from tests.queries.labels import checked, handed_in

pytestmark = pytest.mark.django_db

SOUND, AT_ONE, AT_TWO = (1, 1, 1), (1, -1, None), (1, 1, -1)


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def trio(project: Project) -> list[Membership]:
    return [make.member(project) for _ in range(3)]


@pytest.fixture
def checked_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a hundred audit items had been decided and confirmed the claims."""
    done = Recalibration(1.0, 0.0, True, 100, 5, 0.95, 0.95)
    monkeypatch.setattr(opinions, "recalibrate", lambda claimed, right: done)


def judged(project: Project, people: list[Membership], *labels: tuple[int | None, ...]) -> Solution:
    solution = make.work(project, wanted=3, holdout=True).solution
    for slot, (member, said) in enumerate(zip(people, labels, strict=False)):
        handed_in(solution, member, *said, slot=slot)
    return solution


def row(solution: Solution) -> Consensus:
    return Consensus.objects.get(solution=solution)


def test_everybody_gets_a_consensus(project: Project, trio: list[Membership]) -> None:
    agreed = judged(project, trio, AT_ONE, (0, -1, None), AT_ONE)
    alone = judged(project, trio, SOUND)

    done = consensus.recompute_all(project_id=project.pk)

    assert (done.solutions, done.changed) == (2, 2)
    assert (row(agreed).labels, row(agreed).stop, row(agreed).n_annotations) == ([1, -1, None], 1, 3)
    assert (row(alone).labels, row(alone).posterior) == ([1, 1, 1], None)


def test_below_three_labels_there_is_no_posterior(project: Project, trio: list[Membership]) -> None:
    solution = judged(project, trio, AT_ONE, AT_ONE)

    consensus.recompute_all(project_id=project.pk)

    assert row(solution).posterior is None


def test_with_gold_behind_each_person_one_label_has_a_posterior(project: Project) -> None:
    measured = make.member(project)
    for minutes in range(10):
        checked(make.gold(project, AT_ONE), measured, *AT_ONE, minutes=minutes)
    solution = judged(project, [measured], AT_ONE)

    consensus.recompute_all(project_id=project.pk)

    assert (row(solution).posterior or 0.0) > 0.8


def test_claims_that_nobody_checked_decide_nothing(project: Project, trio: list[Membership]) -> None:
    solution = judged(project, trio, AT_ONE, AT_ONE, SOUND)

    consensus.recompute_all(project_id=project.pk)

    assert (row(solution).method, row(solution).stop) == ("plurality", 1)
    assert 0.0 < (row(solution).posterior or 0.0) < 1.0


def test_a_tie_stays_a_tie_until_claims_are_checked(project: Project, trio: list[Membership]) -> None:
    solution = judged(project, trio, SOUND, AT_ONE, AT_TWO)

    consensus.recompute_all(project_id=project.pk)

    assert (row(solution).state, row(solution).posterior) == ("tied", None)


@pytest.mark.usefixtures("checked_claims")
def test_checked_claims_choose_the_stop(project: Project, trio: list[Membership]) -> None:
    for _ in range(30):
        judged(project, trio, AT_ONE, AT_ONE, AT_ONE)
    solution = judged(project, trio, AT_ONE, AT_ONE, SOUND)

    consensus.recompute_all(project_id=project.pk)

    assert (row(solution).method, row(solution).labels) == ("latent_stop", [1, -1, None])
    assert (row(solution).posterior or 0.0) > 0.9


@pytest.mark.usefixtures("checked_claims")
def test_a_submit_is_decided_with_the_kept_habits(project: Project, trio: list[Membership]) -> None:
    for _ in range(30):
        judged(project, trio, AT_ONE, AT_ONE, AT_ONE)
    consensus.recompute_all(project_id=project.pk)
    solution = judged(project, trio, AT_TWO, AT_TWO, AT_TWO)

    consensus.update(solution_id=solution.pk)

    assert (row(solution).method, row(solution).stop) == ("latent_stop", 2)
    assert QualityReport.objects.filter(kind="stop_rates", project=project).exists()


@pytest.mark.usefixtures("checked_claims")
def test_both_ways_come_to_the_same(project: Project, trio: list[Membership]) -> None:
    for labels in (AT_ONE, SOUND, AT_TWO):
        for _ in range(8):
            judged(project, trio, labels, labels, labels)
    solution = judged(project, trio, AT_ONE, SOUND, AT_ONE)
    consensus.recompute_all(project_id=project.pk)
    whole = row(solution)

    consensus.update(solution_id=solution.pk)

    one = row(solution)
    assert (one.method, one.stop, one.labels) == (whole.method, whole.stop, whole.labels)
    assert one.posterior == pytest.approx(whole.posterior, abs=1e-6)


def test_a_low_posterior_goes_to_a_reviewer(project: Project, trio: list[Membership]) -> None:
    Project.objects.filter(pk=project.pk).update(low_posterior=1.0)
    solution = judged(project, trio, AT_ONE, AT_ONE, SOUND)

    done = consensus.recompute_all(project_id=project.pk)

    assert done.cases == 1
    assert AdjudicationCase.objects.get(solution=solution).reason == AdjudicationCase.Reason.LOW_POSTERIOR


def test_a_second_run_writes_nothing(project: Project, trio: list[Membership]) -> None:
    judged(project, trio, AT_ONE, AT_ONE, SOUND)
    judged(project, trio, SOUND)
    consensus.recompute_all(project_id=project.pk)

    assert consensus.recompute_all(project_id=project.pk).changed == 0


def test_what_came_meanwhile_is_left_to_its_own_job(
    project: Project, trio: list[Membership], monkeypatch: pytest.MonkeyPatch
) -> None:
    solution = judged(project, trio, AT_ONE, AT_ONE)
    fit = consensus.fit

    def slow(*, project_id: int) -> opinions.Opinions:
        found = fit(project_id=project_id)
        handed_in(solution, trio[2], *SOUND, slot=2)
        return found

    monkeypatch.setattr(consensus, "fit", slow)

    assert consensus.recompute_all(project_id=project.pk).changed == 0


def test_no_recomputation_touches_an_adjudication_or_makes_one_of_gold(
    project: Project, trio: list[Membership]
) -> None:
    solution = judged(project, trio, AT_ONE, AT_ONE, AT_ONE)
    checked(make.gold(project, AT_ONE), trio[0], *AT_ONE)
    Adjudication.objects.create(
        solution=solution, member=make.member(project, Role.REVIEWER), n_steps=3, labels=[1, 1, 1], stop=-1
    )

    consensus.recompute_all(project_id=project.pk)

    assert list(Adjudication.objects.values_list("labels", flat=True)) == [[1, 1, 1]]
    assert list(Consensus.objects.values_list("solution_id", flat=True)) == [solution.pk]


def test_labels_that_do_not_count_and_people_who_gave_up_have_no_say(
    project: Project, trio: list[Membership]
) -> None:
    solution = judged(project, trio, AT_ONE, SOUND, SOUND)
    Annotation.objects.filter(member=trio[1]).update(counted=False, uncounted_reason="late")
    handed_in(solution, make.member(project), 1, None, None, slot=3, finish_reason="give_up", stop=None)

    consensus.recompute_all(project_id=project.pk)

    assert row(solution).n_annotations == 2


@pytest.mark.usefixtures("checked_claims")
def test_in_all_steps_each_step_is_weighed(trio: list[Membership]) -> None:
    project = make.project(mode=Mode.ALL_STEPS)
    people = [make.member(project) for _ in range(3)]
    for _ in range(10):
        judged(project, people, (1, -1, 1), (1, -1, 1), (1, -1, 1))
    solution = judged(project, people, (1, -1, 1), (1, -1, -1), (1, -1, 1))

    consensus.recompute_all(project_id=project.pk)

    assert (row(solution).method, row(solution).labels, row(solution).stop) == ("dawid_skene", [1, -1, 1], 1)
    assert (row(solution).posterior or 0.0) > 0.8
