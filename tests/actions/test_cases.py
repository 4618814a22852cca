"""Cases for reviewers: when they open, who may decide them, and what a decision does."""

from __future__ import annotations

import pytest
from django.db.models.functions import Now

from annotator.actions import adjudication, consensus, gold
from annotator.actions.access import Actor, NotAllowed
from annotator.actions.adjudication import (
    AlreadyDecided,
    Decision,
    HeldByAnother,
    NoCase,
    NoSuchCase,
    NotTaken,
    OwnWork,
)
from annotator.actions.relabeling import relabel
from annotator.actions.reserving import NothingChosen, Where
from annotator.core.labels import InvalidLabels
from annotator.models import (
    Adjudication,
    AdjudicationCase,
    Annotation,
    Consensus,
    Gold,
    Guidelines,
    Project,
    QueueRow,
    Role,
)
from tests import factories as make
from tests.actions.flow import CHECK, claim, hand_in, label, lapse, nothing

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    made = make.project(gold_rate=0.05)
    Project.objects.filter(pk=made.pk).update(labels_max=2)
    made.refresh_from_db()
    return made


@pytest.fixture
def reviewer(project: Project) -> Actor:
    return make.actor(project, Role.REVIEWER)


def tie(project: Project, *actors: Actor) -> AdjudicationCase:
    """A solution on which two people differ, and no third may be asked."""
    row = make.work(project, wanted=2, priority=9.0)
    first, second = actors or (make.actor(project), make.actor(project))
    label(first, 1, -1, None)
    label(second, 1, 1, 1)
    return AdjudicationCase.objects.get(solution_id=row.pk)


def decision(*labels: int | None, **fields: object) -> Decision:
    return Decision(labels or (1, -1, None), **{"reason": "The sign is lost.", **fields})  # type: ignore[arg-type]


def decided(reviewer: Actor, case: AdjudicationCase, **fields: object) -> adjudication.Decided:
    adjudication.take(actor=reviewer, case_id=case.pk)
    return adjudication.decide(actor=reviewer, case_id=case.pk, decision=decision(**fields))


def test_a_case_opens_once(project: Project) -> None:
    case = tie(project)
    consensus.update(solution_id=case.solution_id)
    assert AdjudicationCase.objects.count() == 1


def test_with_each_dispute_an_agreed_solution_is_drawn_and_goes_blind(project: Project) -> None:
    agreed = make.work(project)
    label(make.actor(project), 1, 1, 1)
    dispute = tie(project)

    drawn = AdjudicationCase.objects.exclude(pk=dispute.pk).get()

    assert (drawn.solution_id, drawn.reason, drawn.blind) == (agreed.pk, "random", True)


def test_a_decision_stands_above_the_consensus_and_closes_the_case(project: Project, reviewer: Actor) -> None:
    case = tie(project)
    made = decided(reviewer, case, note="Check the sign of each term.").adjudication

    case.refresh_from_db()
    assert case.closed_at is not None
    assert (made.labels, made.stop, made.note) == ([1, -1, None], 1, "Check the sign of each term.")
    consensus.update(solution_id=case.solution_id)
    assert Consensus.objects.get().state == "tied"
    assert AdjudicationCase.objects.count() == 1


def test_nobody_decides_on_their_own_labels(project: Project, reviewer: Actor) -> None:
    case = tie(project, reviewer, make.actor(project))

    with pytest.raises(OwnWork):
        adjudication.take(actor=reviewer, case_id=case.pk)
    with pytest.raises(NoCase):
        adjudication.take_next(actor=reviewer)


def test_labels_that_do_not_count_are_ones_own_too(project: Project, reviewer: Actor) -> None:
    case = tie(project, reviewer, make.actor(project))
    Annotation.objects.filter(member_id=reviewer.member_id).update(counted=False, uncounted_reason="late")

    with pytest.raises(OwnWork):
        adjudication.take(actor=reviewer, case_id=case.pk)


def test_two_reviewers_do_not_get_one_case(project: Project, reviewer: Actor) -> None:
    tie(project)
    held = adjudication.take_next(actor=reviewer)
    other = make.actor(project, Role.REVIEWER)

    with pytest.raises(NoCase):
        adjudication.take_next(actor=other)
    with pytest.raises(HeldByAnother):
        adjudication.take(actor=other, case_id=held.pk)
    with pytest.raises(HeldByAnother):
        adjudication.decide(actor=other, case_id=held.pk, decision=decision())


def test_a_case_left_lying_goes_to_somebody_else_and_is_lost_to_the_first(
    project: Project, reviewer: Actor
) -> None:
    case = tie(project)
    adjudication.take(actor=reviewer, case_id=case.pk)
    AdjudicationCase.objects.update(claim_expires_at=Now())
    other = make.actor(project, Role.REVIEWER)

    assert adjudication.take_next(actor=other).pk == case.pk
    with pytest.raises(HeldByAnother):
        adjudication.decide(actor=reviewer, case_id=case.pk, decision=decision())


def test_the_same_reviewer_finds_the_case_they_hold(project: Project, reviewer: Actor) -> None:
    tie(project), tie(project)
    assert adjudication.take_next(actor=reviewer).pk == adjudication.take_next(actor=reviewer).pk


def test_a_case_that_is_put_back_is_free(project: Project, reviewer: Actor) -> None:
    case = tie(project)
    adjudication.take(actor=reviewer, case_id=case.pk)
    adjudication.put_back(actor=reviewer, case_id=case.pk)

    assert adjudication.take_next(actor=make.actor(project, Role.REVIEWER)).pk == case.pk


def test_a_case_is_decided_once_and_only_by_who_took_it(project: Project, reviewer: Actor) -> None:
    case = tie(project)
    with pytest.raises(NotTaken):
        adjudication.decide(actor=reviewer, case_id=case.pk, decision=decision())
    decided(reviewer, case)
    with pytest.raises(AlreadyDecided):
        adjudication.decide(actor=reviewer, case_id=case.pk, decision=decision())


@pytest.mark.parametrize(
    ("labels", "reason"),
    [((1, None, None), "Because."), ((1, -1, 1), "Because."), ((1, 1), "Because."), ((1, 1, 1), "  ")],
)
def test_a_decision_needs_complete_labels_and_a_reason(
    project: Project, reviewer: Actor, labels: tuple[int | None, ...], reason: str
) -> None:
    case = tie(project)
    adjudication.take(actor=reviewer, case_id=case.pk)
    with pytest.raises(InvalidLabels):
        adjudication.decide(actor=reviewer, case_id=case.pk, decision=Decision(labels, reason))
    assert not Adjudication.objects.exists()


def test_annotators_decide_nothing_and_other_projects_have_no_such_case(project: Project) -> None:
    case = tie(project)
    with pytest.raises(NotAllowed):
        adjudication.take(actor=make.actor(project), case_id=case.pk)
    with pytest.raises(NoSuchCase):
        adjudication.take(actor=make.actor(make.project(), Role.REVIEWER), case_id=case.pk)


def test_a_bad_problem_is_taken_out_of_the_queue_by_the_decision(project: Project, reviewer: Actor) -> None:
    row = make.work(project, wanted=2)
    label(make.actor(project), None, None, None, reason="bad_problem", details={"reason": "no question"})
    case = AdjudicationCase.objects.get()
    made = decided(reviewer, case, bad_problem=True).adjudication

    assert (made.labels, made.stop) == ([None, None, None], None)
    assert nothing(make.actor(project)) == "all_done"
    row.refresh_from_db()
    assert row.wanted == row.taken == 1


def too_late(project: Project, *labels: int | None) -> None:
    """Somebody's lease runs out, another fills the slot with "no error", then the first hands in."""
    make.work(project)
    slow = make.actor(project)
    held = claim(slow)
    lapse(held)
    label(make.actor(project), 1, 1, 1)
    assert not hand_in(slow, held, *labels).counted


def test_a_late_label_that_says_otherwise_goes_to_a_reviewer(project: Project) -> None:
    too_late(project, 1, -1, None)
    assert AdjudicationCase.objects.get().reason == "dispute"


def test_a_late_label_that_says_the_same_troubles_nobody(project: Project) -> None:
    too_late(project, 1, 0, 1)
    assert not AdjudicationCase.objects.exists()


# --- gold from decisions ---


def test_a_decision_can_become_gold_that_checks_other_people(project: Project, reviewer: Actor) -> None:
    first, second = make.actor(project), make.actor(project)
    case = tie(project, first, second)
    assert decided(reviewer, case, make_gold=True).gold_refused == ""
    make.work(project), make.work(project)

    item = Gold.objects.get()
    assert (item.accept, item.source, item.use) == ([6, 1, 0], "adjudicated", "hidden")
    newcomer = make.actor(project)
    assert claim(newcomer, CHECK).solution_id == case.solution_id
    assert claim(first, CHECK).purpose == "work"


def test_what_people_merely_agree_on_never_becomes_gold(project: Project, reviewer: Actor) -> None:
    row = make.work(project, wanted=2)
    label(make.actor(project), 1, 1, 1), label(make.actor(project), 1, 1, 1)
    with pytest.raises(gold.CannotBecomeGold):
        gold.make(actor=reviewer, solution_id=row.pk)


def test_a_bad_problem_never_becomes_gold_and_the_decision_stands(project: Project, reviewer: Actor) -> None:
    case = tie(project)
    done = decided(reviewer, case, bad_problem=True, make_gold=True)
    assert "nothing to check" in done.gold_refused
    assert Adjudication.objects.count() == 1


def test_what_somebody_is_judging_now_does_not_become_gold_under_their_hands(
    project: Project, reviewer: Actor
) -> None:
    case = tie(project)
    QueueRow.objects.filter(pk=case.solution_id).update(wanted=3)
    claim(make.actor(project))

    assert "judging this solution now" in decided(reviewer, case, make_gold=True).gold_refused


# --- new guidelines ---


def outdated(project: Project) -> QueueRow:
    Guidelines.objects.create(project=project, version=1, text="old")
    row = make.work(project)
    label(make.actor(project), 1, 1, 1)
    Guidelines.objects.create(project=project, version=2, text="new")
    return row


def everywhere(row: QueueRow) -> Where:
    return Where(batch_id=row.solution.batch_id)


def test_labels_under_old_guidelines_stop_counting_and_their_slots_reopen(project: Project) -> None:
    row = outdated(project)
    done = relabel(actor=make.actor(project, Role.MANAGER), where=everywhere(row))

    assert (done.solutions, done.annotations, done.cases) == (1, 1, 0)
    old = Annotation.objects.get()
    assert (old.counted, old.uncounted_reason, old.current) == (False, "guidelines", True)
    assert claim(make.actor(project)).solution_id == row.pk


def test_relabeling_twice_changes_nothing_more(project: Project) -> None:
    row = outdated(project)
    manager = make.actor(project, Role.MANAGER)
    relabel(actor=manager, where=everywhere(row))
    with pytest.raises(NothingChosen):
        relabel(actor=manager, where=everywhere(row))
    row.refresh_from_db()
    assert (row.wanted, row.taken) == (1, 0)


def test_labels_under_the_new_guidelines_stay(project: Project) -> None:
    row = outdated(project)
    manager = make.actor(project, Role.MANAGER)
    relabel(actor=manager, where=everywhere(row))
    label(make.actor(project), 1, -1, None)

    with pytest.raises(NothingChosen):
        relabel(actor=manager, where=everywhere(row))
    assert Annotation.objects.filter(counted=True).count() == 1


def test_what_a_reviewer_decided_under_old_guidelines_goes_to_a_reviewer_again(
    project: Project, reviewer: Actor
) -> None:
    Guidelines.objects.create(project=project, version=1, text="old")
    case = tie(project)
    decided(reviewer, case)
    Guidelines.objects.create(project=project, version=2, text="new")

    done = relabel(actor=make.actor(project, Role.MANAGER), where=Where(batch_id=case.solution.batch_id))

    assert (done.annotations, done.cases) == (2, 1)
    again = AdjudicationCase.objects.get(closed_at=None)
    assert (again.solution_id, again.reason) == (case.solution_id, "guidelines")
    row = QueueRow.objects.get(pk=case.solution_id)
    assert (row.wanted, row.taken) == (2, 0)


def test_cases_of_another_project_are_not_opened_by_a_draw(project: Project) -> None:
    other = make.work(make.project())
    label(make.actor(other.project), 1, 1, 1)
    tie(project)
    assert set(AdjudicationCase.objects.values_list("project_id", flat=True)) == {project.pk}
