"""What peers' users complain of when work is handed out, and what reviewers must not meet as work."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db.models import F

from annotator.actions import adjudication, cases, labeling, queueing, standing
from annotator.actions.access import Actor
from annotator.models import AdjudicationCase, Assignment, Project, QueueRow, Role
from annotator.queries import workbench
from tests import factories as make
from tests.actions.flow import CHECK, claim, hand_in, label, lapse, later, nothing, run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def people(project: Project, n: int) -> list[Actor]:
    return [make.actor(project) for _ in range(n)]


# --- the peers' complaints about assignment ---


def test_label_studio_795_two_people_get_one_task(project: Project) -> None:
    for _ in range(4):
        make.work(project)
    got = [claim(actor).solution_id for actor in people(project, 4)]
    assert len(set(got)) == 4


def test_label_studio_4190_tasks_that_others_hold_are_not_called_complete(project: Project) -> None:
    make.work(project)
    holder, other = people(project, 2)
    held = claim(holder)
    assert nothing(other) == "waiting"
    lapse(held)
    assert claim(other).purpose == "work"


def test_label_studio_5172_later_annotators_do_not_see_earlier_labels(project: Project) -> None:
    make.work(project, wanted=2)
    first, second = people(project, 2)
    label(first, 1, -1, None, details={"comments": {"1": "a slip here"}})

    bench = workbench.bench(claim(second).pk)

    assert [step.label for step in bench.steps] == [None, None, None]
    assert "a slip here" not in repr(bench)


def test_doccano_933_random_order_gives_each_person_everything_once(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(audit_rate=0.5)
    rows = {make.work(project, wanted=2).pk for _ in range(8)}
    for actor in people(project, 2):
        got = [label(actor).solution_id for _ in range(8)]
        assert sorted(got) == sorted(rows)


def test_potato_155_abandoned_work_is_reclaimed(project: Project) -> None:
    row = make.work(project)
    abandoned = claim(make.actor(project))
    later(days=1)

    assert claim(make.actor(project)).solution_id == row.pk
    abandoned.refresh_from_db()
    assert abandoned.state == "expired"


def test_potato_140_after_the_last_item_one_is_told_and_a_new_one_comes(project: Project) -> None:
    make.work(project)
    actor = make.actor(project)
    label(actor)
    assert nothing(actor) == "all_done"

    new = make.work(project)
    assert claim(actor).solution_id == new.pk


def test_potato_136_a_check_that_was_opened_again_counts_once() -> None:
    project = make.project(gold_rate=0.05)
    make.gold(project, (1, -1, None))
    make.work(project)
    member = make.member(project)
    actor = make.as_actor(member)
    check = label(actor, 1, 1, 1, chance=CHECK)
    labeling.reopen(actor=actor, assignment_id=check.pk)
    hand_in(actor, check, 1, -1, None)

    assert [event.outcome for event in standing.events_of(member.pk)] == [True]


# --- nobody meets as work what they have seen as a reviewer ---


def test_who_opened_a_case_is_never_handed_its_solution(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(labels_max=2)
    row = make.work(project, wanted=2)
    label(make.actor(project), 1, -1, None)
    label(make.actor(project), 1, 1, 1)
    reviewer = make.actor(project, Role.REVIEWER)
    adjudication.take_next(actor=reviewer)
    QueueRow.objects.filter(pk=row.pk).update(wanted=3)

    assert nothing(reviewer) == "waiting"
    assert claim(make.actor(project)).solution_id == row.pk


def test_a_reviewer_who_let_the_solution_lie_does_not_get_it_back(project: Project) -> None:
    row = make.work(project, wanted=1)
    reviewer = make.actor(project, Role.REVIEWER)
    held = claim(reviewer)
    case = cases.open_case(solution=row.solution, reason=AdjudicationCase.Reason.RANDOM)
    assert case is not None
    adjudication.take(actor=reviewer, case_id=case.pk)

    held.refresh_from_db()
    assert (held.state, held.slot) == ("skipped", None)
    assert nothing(reviewer) == "waiting"


def test_reading_cases_moves_nothing_in_a_reviewers_own_work(project: Project) -> None:
    case_row = make.work(project, wanted=1, priority=0.9)
    QueueRow.objects.filter(pk=case_row.pk).update(taken=1)
    make.work(project, priority=0.1, problem=case_row.solution.problem)
    best = make.work(project, priority=0.5)
    reviewer = make.actor(project, Role.REVIEWER)
    case = cases.open_case(solution=case_row.solution, reason=AdjudicationCase.Reason.RANDOM)
    assert case is not None
    adjudication.take(actor=reviewer, case_id=case.pk)

    got = claim(reviewer)

    assert (got.solution_id, got.position) == (best.pk, 1)


def test_slots_are_never_taken_over_what_is_wanted(project: Project) -> None:
    for _ in range(3):
        make.work(project, wanted=2)
    for actor in people(project, 4):
        for _ in range(3):
            try:
                label(actor)
            except queueing.NothingForYou:
                break
    run_jobs()
    assert not QueueRow.objects.filter(taken__gt=F("wanted")).exists()
    assert set(
        Counter(Assignment.objects.exclude(slot=None).values_list("solution_id", flat=True)).values()
    ) == {2}
