"""Another segmentation: what goes over, what comes back as a draft, what stays with the old steps."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from annotator.actions import labeling, ordering, queueing, recutting, resegmenting
from annotator.actions.access import Actor, NotAllowed
from annotator.actions.resegmenting import CannotResegment, NoSuchSolution
from annotator.actions.reserving import Where
from annotator.core.codecs.base import ExportRow
from annotator.core.segmentation import changes
from annotator.core.solutions import Step
from annotator.models import (
    Annotation,
    Assignment,
    Consensus,
    Job,
    Project,
    QueueRow,
    ReferenceLabels,
    Role,
    Score,
    ScorerVersion,
    Solution,
)
from annotator.queries.exports import Choice, LabelsFrom, rows
from annotator.queries.scorers import overview
from tests import factories as make
from tests.actions.flow import claim, hand_in, label, nothing, run_jobs

pytestmark = pytest.mark.django_db
TEXTS = ("one", "two", "three. And more.", "four")


@pytest.fixture
def project() -> Project:
    return make.project(labels_per_solution=2)


@pytest.fixture
def manager(project: Project) -> Actor:
    return make.actor(project, Role.MANAGER)


@pytest.fixture
def old(project: Project) -> Solution:
    return make.work(project, wanted=2, texts=TEXTS, shuffle=0.25).solution


def steps_of(solution: Solution) -> list[Step]:
    return [Step.from_json(step) for step in solution.steps]


def split_third(manager: Actor, old: Solution) -> Solution:
    """Steps 1 and 2 stay; step 3 becomes two."""
    after = changes.split(steps_of(old), 2, len("three. "))
    made = resegmenting.resegment(actor=manager, solution_id=old.pk, steps=after)
    return Solution.objects.get(pk=made.solution_id)


def exported(project: Project, source: LabelsFrom = LabelsFrom.CONSENSUS) -> list[list[int | None]]:
    run_jobs()
    found = rows(project_id=project.pk, choice=Choice(labels=source))
    return [list(row.record.labels or ()) for row in found if isinstance(row, ExportRow)]


def test_the_new_solution_has_the_same_text_and_says_where_it_comes_from(
    manager: Actor, old: Solution
) -> None:
    new = split_third(manager, old)
    assert [step["text"] for step in new.steps] == ["one", "two", "three.", "And more.", "four"]
    assert set(new.steps[0]) == {"text", "kind", "judged", "sep"}  # as an import stores it
    assert (new.derived_from_id, new.derived_reason) == (old.pk, "by hand")
    old.refresh_from_db()
    assert old.superseded_at is not None


def test_labels_whose_stop_lies_before_the_change_go_over(
    project: Project, manager: Actor, old: Solution
) -> None:
    person = make.actor(project)
    label(person, 1, -1, None, None)
    new = split_third(manager, old)
    carried = Annotation.objects.get(solution=new)
    assert (carried.labels, carried.source, carried.counted) == ([1, -1, None, None, None], "inherited", True)
    assert (carried.stop, carried.active_seconds, carried.member_id) == (1, None, person.member)
    assert exported(project) == [[1, -1, None, None, None]]


def test_other_labels_come_back_to_their_person_as_a_draft(
    project: Project, manager: Actor, old: Solution
) -> None:
    person = make.actor(project)
    label(person, 1, 0, 1, -1)
    new = split_third(manager, old)
    again = claim(person)
    assert (again.solution_id, again.draft["labels"]) == (new.pk, [1, 0, None, None, None])
    hand_in(person, again, 1, 0, 1, -1, None)
    assert Annotation.objects.get(solution=new).counted


def test_unfinished_work_comes_back_too(project: Project, manager: Actor, old: Solution) -> None:
    person = make.actor(project)
    held = claim(person)
    work = labeling.Work([1, 1, None, None], {"comments": {"0": "fine", "2": "hm"}}, "", 3.0)
    labeling.save_draft(actor=person, assignment_id=held.pk, work=work, version=0)
    split_third(manager, old)
    draft = claim(person).draft
    assert (draft["labels"], draft["details"]) == ([1, 1, None, None, None], {"comments": {"0": "fine"}})


def test_who_hands_in_the_old_steps_afterwards_loses_nothing_but_it_does_not_count(
    project: Project, manager: Actor, old: Solution
) -> None:
    person = make.actor(project)
    held = claim(person)
    split_third(manager, old)
    done = hand_in(person, held, 1, 1, 1, 1)
    assert not done.counted
    assert Annotation.objects.get(solution=old).uncounted_reason == "resegmented"


def test_the_old_labels_stay_but_no_longer_count(project: Project, manager: Actor, old: Solution) -> None:
    label(make.actor(project), 1, 1, 1, 1)
    split_third(manager, old)
    run_jobs()
    kept = Annotation.objects.get(solution=old)
    assert (kept.labels, kept.counted, kept.uncounted_reason) == ([1, 1, 1, 1], False, "resegmented")
    assert not Consensus.objects.filter(solution=old).exists()
    assert exported(project) == []


def test_the_queue_holds_the_new_one_in_the_place_of_the_old(
    project: Project, manager: Actor, old: Solution
) -> None:
    label(make.actor(project), 1, -1, None, None)
    new = split_third(manager, old)
    row = QueueRow.objects.get(project=project)
    assert (row.solution_id, row.shuffle, row.wanted, row.taken) == (new.pk, 0.25, 2, 1)
    assert claim(make.actor(project)).solution_id == new.pk


def test_nobody_who_has_judged_it_gets_the_new_one_as_a_stranger(
    project: Project, manager: Actor, old: Solution
) -> None:
    person = make.actor(project)
    label(person, 1, -1, None, None)
    split_third(manager, old)
    assert nothing(person) == "waiting"


def test_the_new_solution_is_scored(manager: Actor, old: Solution) -> None:
    new = split_third(manager, old)
    job = Job.objects.get(kind="scoring.score_batch")
    assert job.payload["solution_ids"] == [new.pk]


def test_reference_labels_go_over_where_their_error_lies_before_the_change(
    project: Project, manager: Actor, old: Solution
) -> None:
    ReferenceLabels.objects.create(solution=old, n_steps=4, labels=[1, -1, None, None], first_error=1)
    new = split_third(manager, old)
    assert (new.reference.labels, new.reference.first_error) == ([1, -1, None, None, None], 1)
    assert exported(project, LabelsFrom.REFERENCE) == [[1, -1, None, None, None]]


def test_reference_labels_of_changed_steps_stay_with_the_old(manager: Actor, old: Solution) -> None:
    ReferenceLabels.objects.create(solution=old, n_steps=4, labels=[1, 1, -1, None], first_error=2)
    new = split_third(manager, old)
    assert not ReferenceLabels.objects.filter(solution=new).exists()


def test_undo_brings_labels_and_queue_row_back(project: Project, manager: Actor, old: Solution) -> None:
    label(make.actor(project), 1, -1, None, None)
    new = split_third(manager, old)
    assert resegmenting.undo(actor=manager, solution_id=new.pk) == old.pk
    row = QueueRow.objects.get(project=project)
    assert (row.solution_id, row.shuffle, row.taken) == (old.pk, 0.25, 1)
    assert exported(project) == [[1, -1, None, None]]


def test_who_holds_the_new_one_while_it_is_undone_loses_nothing_but_it_does_not_count(
    project: Project, manager: Actor, old: Solution
) -> None:
    new = split_third(manager, old)
    person = make.actor(project)
    held = claim(person)
    resegmenting.undo(actor=manager, solution_id=new.pk)
    assert not hand_in(person, held, 1, 1, 1, 1, 1).counted
    assert Annotation.objects.get(solution=new).uncounted_reason == "resegmented"


def test_what_is_brought_back_finds_its_place_by_the_scores_it_has(
    project: Project, manager: Actor, old: Solution
) -> None:
    scorer = project.scorers.get()
    version = ScorerVersion.objects.create(
        scorer=scorer, version="one", measures="correctness", threshold=0.5
    )
    QueueRow.objects.filter(pk=make.work(project).solution_id).update(ranked_by=version)
    new = split_third(manager, old)
    Job.objects.all().delete()
    resegmenting.undo(actor=manager, solution_id=new.pk)
    assert Job.objects.filter(kind=ordering.REORDER).exists()


def test_assignments_are_locked_before_the_queues_row_as_in_a_submit(
    project: Project, manager: Actor, old: Solution
) -> None:
    label(make.actor(project), 1, -1, None, None)
    with CaptureQueriesContext(connection) as asked:
        new = split_third(manager, old)
    assert locks(asked) == ["annotator_solution", "annotator_assignment", "annotator_queuerow"]
    with CaptureQueriesContext(connection) as asked:
        resegmenting.undo(actor=manager, solution_id=new.pk)
    assert locks(asked)[-2:] == ["annotator_assignment", "annotator_queuerow"]


def locks(asked: CaptureQueriesContext) -> list[str]:
    """The tables whose rows were locked or changed, each once, in the order of the first time."""
    of_interest = ("annotator_solution", "annotator_assignment", "annotator_queuerow")
    found = [
        re.findall(r'(?:FROM|UPDATE) "(\w+)"', each["sql"])[0]
        for each in asked.captured_queries
        if " FOR " in each["sql"] or each["sql"].startswith("UPDATE")
    ]
    return list(dict.fromkeys(name for name in found if name in of_interest))


def test_unfinished_work_on_old_steps_does_not_hide_what_was_begun_before(
    project: Project, manager: Actor, old: Solution
) -> None:
    person = make.actor(project)
    first = make.work(project).solution
    begun = lapsed(first, person)
    for _ in range(20):
        held = lapsed(make.solution(project), person)
        Solution.objects.filter(pk=held.solution_id).update(superseded_at=Now())
    QueueRow.objects.filter(pk=old.pk).delete()
    assert claim(person).pk == begun.pk


def lapsed(solution: Solution, person: Actor) -> Assignment:
    return Assignment.objects.create(
        project_id=solution.project_id,
        solution=solution,
        member_id=person.member,
        state="expired",
        lease_expires_at=Now(),
    )


def test_the_scorers_page_counts_scores_of_what_is_in_force(
    project: Project, manager: Actor, old: Solution
) -> None:
    version = ScorerVersion.objects.create(
        scorer=project.scorers.get(), version="one", measures="correctness", threshold=0.5
    )
    Score.objects.create(
        solution=old,
        version=version,
        n_steps=4,
        values=[0.5] * 4,
        spread=[0.0] * 4,
        priority=0.6,
        tiebreak=0.0,
        predicted_stop=0,
    )
    assert overview(project).scorers[0].missing == 0
    split_third(manager, old)
    (shown,) = overview(project).scorers
    assert (shown.scored, shown.missing) == (0, 1)


def test_undo_is_refused_once_somebody_has_judged_the_new_steps(
    project: Project, manager: Actor, old: Solution
) -> None:
    new = split_third(manager, old)
    label(make.actor(project), 1, 1, 1, 1, 1)
    with pytest.raises(CannotResegment, match="Somebody has judged"):
        resegmenting.undo(actor=manager, solution_id=new.pk)


def test_a_text_that_differs_is_refused(manager: Actor, old: Solution) -> None:
    with pytest.raises(CannotResegment, match="the text would not be the same"):
        resegmenting.resegment(actor=manager, solution_id=old.pk, steps=[Step("one")])


def test_gold_keeps_its_steps(project: Project, manager: Actor) -> None:
    gold = make.gold(project)
    after = changes.merged(steps_of(gold.solution), 0)
    with pytest.raises(CannotResegment, match="This is gold"):
        resegmenting.resegment(actor=manager, solution_id=gold.pk, steps=after)


def test_a_superseded_solution_is_not_cut_again(manager: Actor, old: Solution) -> None:
    split_third(manager, old)
    with pytest.raises(NoSuchSolution):
        split_third(manager, old)


def test_the_same_steps_are_not_made_twice(manager: Actor, old: Solution) -> None:
    new = split_third(manager, old)
    resegmenting.undo(actor=manager, solution_id=new.pk)
    with pytest.raises(CannotResegment, match="taken back; they can't be made once more"):
        split_third(manager, old)


def test_steps_that_were_replaced_are_brought_back_by_undoing(manager: Actor, old: Solution) -> None:
    before = split_third(manager, old)
    merged = changes.merged(steps_of(before), 0)
    now = resegmenting.resegment(actor=manager, solution_id=before.pk, steps=merged)
    with pytest.raises(CannotResegment, match="undo that instead"):
        resegmenting.resegment(actor=manager, solution_id=now.solution_id, steps=steps_of(before))


def test_another_projects_solution_is_not_there(old: Solution) -> None:
    stranger = make.actor(make.project(), Role.MANAGER)
    with pytest.raises(NoSuchSolution):
        split_third(stranger, old)


def test_only_managers_cut(project: Project, old: Solution) -> None:
    with pytest.raises(NotAllowed):
        split_third(make.actor(project, Role.REVIEWER), old)


def test_a_rule_cuts_a_part_and_finds_nothing_left_to_do_the_second_time(
    project: Project, manager: Actor, old: Solution
) -> None:
    where = Where(batch_id=old.batch_id)
    before = recutting.preview(actor=manager, where=where, rule="sentence")
    assert (before.changed, before.same, len(before.first)) == (1, 0, 1)
    assert Solution.objects.count() == 1
    assert recutting.recut(actor=manager, where=where, rule="sentence").changed == 1
    again = recutting.recut(actor=manager, where=where, rule="sentence")
    assert (again.changed, again.same) == (0, 1)


def test_who_holds_the_old_one_while_it_is_cut_by_someone_else_can_still_claim(
    project: Project, manager: Actor, old: Solution
) -> None:
    person = make.actor(project)
    claim(person)
    new = split_third(manager, old)
    assert queueing.next_assignment(actor=person).solution_id == new.pk
    assert Assignment.objects.filter(solution=old, state="live").count() == 0
